/** The process that probes one folder (folder-probe.ts): path and rights as arguments, the result on its output. */
import { accessSync, statfsSync, statSync } from "node:fs";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { isMountPoint } from "../../lib/files/mount-point.ts";
import type { FolderProbe } from "./folder-probe.ts";

const codeOf = (error: unknown): string => systemCodeOf(error) ?? messageOf(error);

function refusalOf(path: string, rights: number): string | undefined {
  try {
    accessSync(path, rights);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

async function probe(path: string, rights: number): Promise<FolderProbe> {
  try {
    const stats = statSync(path);
    if (!stats.isDirectory()) return { kind: "notAFolder" };
    const code = refusalOf(path, rights);
    if (code !== undefined) return { kind: "refused", code };
    const { bavail, bsize } = statfsSync(path);
    const isMount = await isMountPoint(path);
    return { kind: "usable", dev: stats.dev, freeBytes: bavail * bsize, isMountPoint: isMount };
  } catch (error) {
    return { kind: "failed", code: codeOf(error) };
  }
}

const [path = "", rights = "0"] = process.argv.slice(2);
process.stdout.write(JSON.stringify(await probe(path, Number(rights))));
