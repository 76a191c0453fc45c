/**
 * The process that probes folders (folder-probe.ts): the rights and the path of each as arguments; a line of JSON for each,
 * with its place among them, as soon as it has answered. So one that never answers hides no other.
 */
import { access, stat, statfs } from "node:fs/promises";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { isMountPoint } from "../../lib/files/mount-point.ts";
import { portionsOf } from "../../lib/portions.ts";
import type { FolderProbe } from "./folder-probe.ts";

const codeOf = (error: unknown): string => systemCodeOf(error) ?? messageOf(error);

async function refusalOf(path: string, rights: number): Promise<string | undefined> {
  try {
    await access(path, rights);
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
}

async function probe(path: string, rights: number): Promise<FolderProbe> {
  try {
    const stats = await stat(path);
    if (!stats.isDirectory()) return { kind: "notAFolder" };
    const code = await refusalOf(path, rights);
    if (code !== undefined) return { kind: "refused", code };
    const { bavail, bsize } = await statfs(path);
    const isMount = await isMountPoint(path);
    return { kind: "usable", dev: stats.dev, freeBytes: bavail * bsize, isMountPoint: isMount };
  } catch (error) {
    return { kind: "failed", code: codeOf(error) };
  }
}

const folders = [...portionsOf(process.argv.slice(2), 2)];
await Promise.all(
  folders.map(async ([rights, path = ""], place) => {
    const found = await probe(path, Number(rights));
    process.stdout.write(`${JSON.stringify({ place, found })}\n`);
  }),
);
