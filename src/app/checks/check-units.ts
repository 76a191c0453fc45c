/** Whether the installed unit lets the service write the folders of the configuration; if not, with which drop-in it does. */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { type CheckFinding, fine, problem, warning } from "./check-finding.ts";
import { findUnits, type InstalledUnit, unitFolders, wordsOf } from "./systemd-unit.ts";
import { accessOf, type UnitAccess } from "./unit-access.ts";

interface WrittenFolder {
  readonly path: string;
  /** What the configuration has it for. */
  readonly what: string;
  /** Whether `check`, and with it the start of the service, fails without it. */
  readonly isNeeded: boolean;
}

/** The folders that the configuration names, and the daemon writes. */
function writtenFolders({ stateDir, companies, backup, retention }: Config): readonly WrittenFolder[] {
  const ofCompanies = Object.entries(companies).flatMap(([code, { folders, outbound }]) => [
    ...folders.map(({ path }) => ({ path, what: `a drop folder of ${code}`, isNeeded: true })),
    ...Object.entries(outbound.targets).flatMap(([name, target]) =>
      target.type === "folder" && target.path !== undefined
        ? [{ path: target.path, what: `the target ${name} of ${code}`, isNeeded: false }]
        : [],
    ),
  ]);
  const ofSite = [
    { path: backup.folder, what: "the folder of backups", isNeeded: false },
    { path: retention.moveTo, what: "the folder that old files are moved to", isNeeded: false },
  ];
  return [
    { path: stateDir, what: "the state directory", isNeeded: true },
    ...ofCompanies,
    ...ofSite.flatMap(({ path, ...rest }) => (path === undefined ? [] : [{ path, ...rest }])),
  ];
}

const usualConfig = "/etc/dropgate/dropgate.yaml";

/** The configuration that the unit runs with. */
function configFileOf(unit: InstalledUnit): string {
  const start = unit.values("ExecStart").at(-1) ?? "";
  const option = /--config[= ](\S+)/.exec(start)?.[1];
  const variable = unit
    .values("Environment")
    .flatMap(wordsOf)
    .findLast((word) => word.startsWith("DROPGATE_CONFIG="));
  return option ?? variable?.slice("DROPGATE_CONFIG=".length) ?? usualConfig;
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  // One that this user cannot look at is not the one that was read.
  return (await realpath(one).catch(() => undefined)) === (await realpath(other));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A path as a word of a setting. A folder that is missing at the start must not keep the service down. */
function unitWord(path: string): string {
  const word = `-${path.replaceAll("%", "%%")}`;
  return /[\s"']/.test(word) ? `"${word.replaceAll('"', '\\"')}"` : word;
}

/** What is written to the drop-in; undefined when no drop-in can give the folder back. */
function dropInLines(access: UnitAccess, path: string): readonly string[] | undefined {
  if (access.kind === "readOnly") return ["[Service]", `ReadWritePaths=${unitWord(path)}`];
  if (access.kind === "replaced") return ["[Service]", `BindPaths=${unitWord(path)}`];
  const isHome = access.kind === "hidden" && access.by.startsWith("ProtectHome");
  return isHome ? ["[Service]", "ProtectHome=tmpfs", `BindPaths=${unitWord(path)}`] : undefined;
}

function remedyOf({ name }: InstalledUnit, access: UnitAccess, path: string): string {
  const lines = dropInLines(access, path);
  if (lines === undefined) return `take the folder out of its InaccessiblePaths, or name another one`;
  const folder = join("/etc/systemd/system", `${name}.d`);
  const write = `printf '%s\\n' ${lines.map(quoted).join(" ")} >> ${folder}/folders.conf`;
  return `as root: mkdir -p ${folder} && ${write} && systemctl daemon-reload && systemctl restart ${name}`;
}

async function checkFolder(unit: InstalledUnit, folder: WrittenFolder): Promise<CheckFinding | undefined> {
  const access = await accessOf(unit, folder.path);
  if (access.kind === "writable") return undefined;
  const title = `the unit ${unit.name} (${unit.file})`;
  const ways = {
    readOnly: "does not let the service write",
    hidden: "hides from the service",
    replaced: "has a folder of its own in the place of",
  } as const;
  const what = `${title} ${ways[access.kind]} ${folder.path}, ${folder.what} (${access.by})`;
  return (folder.isNeeded ? problem : warning)(what, remedyOf(unit, access, folder.path));
}

async function checkUnit(unit: InstalledUnit, config: Config): Promise<readonly CheckFinding[]> {
  const found: CheckFinding[] = [];
  for (const folder of writtenFolders(config)) {
    const finding = await checkFolder(unit, folder);
    if (finding !== undefined) found.push(finding);
  }
  if (found.length > 0) return found;
  return [fine(`the unit ${unit.name} lets the service write all folders of the configuration`)];
}

/** The units that run with this configuration; on a machine without one there is nothing to say. */
export async function checkUnits(
  config: Config,
  configFile: string,
  folders = unitFolders(process.env),
): Promise<readonly CheckFinding[]> {
  try {
    const found: CheckFinding[] = [];
    for (const unit of await findUnits(folders))
      if (await isSameFile(configFileOf(unit), configFile)) found.push(...(await checkUnit(unit, config)));
    return found;
  } catch (error) {
    // What cannot be read here, systemd reads all the same: no reason to keep the service down.
    if (systemCodeOf(error) === undefined) throw error;
    return [warning(`the unit of the service cannot be read: ${messageOf(error)}`, "run this as root")];
  }
}
