/** Checks of folders: they exist, can be written, and are on the right file system with enough room. */
import { constants, type Stats } from "node:fs";
import { access, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { companySettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { folderNames } from "../../exchange/folders/folder-rights.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { isMissing, messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { sizeText } from "../../lib/size-text.ts";
import { type CheckFinding, fine, modeText, problem, warning } from "../watch/check-finding.ts";
import { minFreeBytesOf } from "../daemon/part-options.ts";
import { probeFolder, type ProbeFolder, probesAtOnce, silentText } from "./folder-probe.ts";

/** File systems on which SQLite's locks or its shared memory cannot be trusted, by their statfs type. */
const networkFileSystems: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x01021997, "9P"],
  [0x5346414f, "AFS"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x786f4256, "VirtualBox shared folder"],
]);

/** The kind of network file system on which the folder lies, undefined for a local one. */
async function networkFileSystemOf(folder: string): Promise<string | undefined> {
  const { type } = await statfs(folder);
  // The type is a signed number on some platforms.
  return networkFileSystems.get(type >>> 0);
}

async function statOf(path: string): Promise<Stats | undefined> {
  return await stat(path).catch(unlessMissing);
}

function userText(): string {
  return process.getuid === undefined
    ? "this user"
    : `the user with id ${process.geteuid?.() ?? process.getuid()}`;
}

const allRights = constants.R_OK | constants.W_OK | constants.X_OK;

function unusable(what: string, folder: string, code: string): CheckFinding {
  const remedy = `run this as the user of the daemon; if ${userText()} is that, give it read, write and search permission, and mount the file system writable`;
  return problem(`${what} ${folder} cannot be used (${code})`, remedy);
}

async function checkWritable(folder: string, what: string): Promise<CheckFinding> {
  try {
    await access(folder, allRights);
    return fine(`${what} ${folder} can be written`);
  } catch (error) {
    return unusable(what, folder, systemCodeOf(error) ?? messageOf(error));
  }
}

async function checkNetwork(folder: string): Promise<CheckFinding> {
  const kind = await networkFileSystemOf(folder);
  if (kind === undefined) return fine(`${folder} is on a local file system`);
  const remedy = "put stateDir on a local disk; drop folders may be on a share";
  return problem(
    `${folder} is on a network file system (${kind}), on which database locks cannot be trusted`,
    remedy,
  );
}

async function checkSpace(config: Config, folder: string): Promise<CheckFinding> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const [free, least] = [bavail * bsize, minFreeBytesOf(config)(blocks * bsize)];
  const what = `${sizeText(free)} free on the disk of ${folder}, ${sizeText(least)} must stay free`;
  if (free < least)
    // No reason to keep the service down: what is there can be processed and read.
    return warning(what, "make room, or lower storage.minFree: uploads are refused until then");
  return free < 2 * least ? warning(what, "make room soon") : fine(what);
}

/** The state directory: there, private, writable, local, with room. */
export async function checkStateDir(config: Config): Promise<readonly CheckFinding[]> {
  const { stateDir } = config;
  const stats = await statOf(stateDir);
  // The check of the database says so.
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [problem(`${stateDir} is not a folder`, "correct stateDir")];
  const isOpen = (stats.mode & 0o007) !== 0;
  const mode = isOpen
    ? warning(
        `the state directory ${stateDir} has mode ${modeText(stats.mode)}: everybody can enter it`,
        `chmod 750 ${stateDir}`,
      )
    : fine(`the state directory has mode ${modeText(stats.mode)}`);
  return [
    await checkWritable(stateDir, "the state directory"),
    mode,
    // With the database on a server, the file system is judged for several nodes.
    ...(config.store === undefined ? [await checkNetwork(stateDir)] : []),
    await checkSpace(config, stateDir),
  ];
}

async function checkTree(config: Config, code: string): Promise<readonly CheckFinding[]> {
  const company = createLocations(config.stateDir).companyDirectory(code);
  if ((await statOf(company)) === undefined)
    return [warning(`the folders of company ${code} are not there`, "the next start makes them")];
  const findings: CheckFinding[] = [];
  const devices = new Set<number>();
  for (const name of folderNames) {
    const folder = join(company, name);
    const stats = await statOf(folder);
    if (stats === undefined) {
      findings.push(warning(`${folder} is not there`, "the next start makes it"));
      continue;
    }
    devices.add(stats.dev);
    const finding = await checkWritable(folder, "the folder");
    if (finding.status !== "ok") findings.push(finding);
  }
  if (devices.size > 1) {
    const remedy = "put them on one file system: moves between them are copies, which are slower";
    findings.push(warning(`the folders of company ${code} are on ${devices.size} file systems`, remedy));
  }
  return findings.length > 0
    ? findings
    : [fine(`the folders of company ${code} can be written and are on one file system`)];
}

interface DropFolder {
  readonly code: string;
  readonly path: string;
}

async function checkDropFolder(
  config: Config,
  folder: DropFolder,
  probe: ProbeFolder,
): Promise<CheckFinding> {
  const { code, path } = folder;
  const what = `the drop folder ${path} of company ${code}`;
  const found = await probe({ path, rights: allRights });
  // A share may come later, and everything else works without it: no reason to keep the service down.
  const remedy = "make it, or mount the share; its files are taken as soon as it is there";
  switch (found.kind) {
    case "silent":
      return warning(silentText(what), "check that the server of the share runs, or mount it again");
    case "failed":
      if (isMissing(found)) return warning(`${what} is not there`, remedy);
      return warning(`${what} cannot be examined (${found.code})`, remedy);
    case "notAFolder":
      return problem(`${what} is not a folder`, "correct companies.*.folders");
    case "refused":
      return unusable(`the drop folder of company ${code}`, path, found.code);
    case "usable": {
      const state = await statOf(config.stateDir);
      if (state !== undefined && state.dev !== found.dev)
        return fine(`${what} is on another file system: files are copied from it`);
      return fine(`${what} can be written`);
    }
  }
}

/** What is found of the further folders of each company, by its code. */
async function checkDropFolders(
  config: Config,
  codes: readonly string[],
  probe: ProbeFolder,
): Promise<ReadonlyMap<string, readonly CheckFinding[]>> {
  const all = codes.flatMap((code) =>
    companySettingsOf(config, code).folders.map(({ path }) => ({ code, path })),
  );
  const found = await mapConcurrently(all, probesAtOnce, async (folder) => ({
    code: folder.code,
    finding: await checkDropFolder(config, folder, probe),
  }));
  const ofCode = (code: string) => found.filter((one) => one.code === code).map(({ finding }) => finding);
  return new Map(codes.map((code) => [code, ofCode(code)]));
}

/**
 * The trees of the companies, and the further folders of those in the configuration. Of companies that are not known
 * (`codes` undefined) only the latter: nothing can be said of who is registered.
 */
export async function checkCompanyFolders(
  config: Config,
  codes: readonly string[] | undefined,
  probe: ProbeFolder = probeFolder,
): Promise<readonly CheckFinding[]> {
  const configured = Object.keys(config.companies);
  const dropFolders = await checkDropFolders(config, codes ?? configured, probe);
  if (codes === undefined) return [...dropFolders.values()].flat();
  const findings: CheckFinding[] = [];
  for (const code of codes)
    findings.push(...(await checkTree(config, code)), ...(dropFolders.get(code) ?? []));
  const known = new Set(codes.map((code) => code.toLowerCase()));
  const unknown = configured.filter((code) => !known.has(code.toLowerCase()));
  for (const code of unknown) {
    const remedy = `\`dropgate company add ${code}\`, or take it out of the configuration`;
    findings.push(warning(`company ${code} stands in the configuration and is not registered`, remedy));
  }
  return findings;
}
