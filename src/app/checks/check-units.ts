/**
 * Whether the installed unit lets the service write the folders of the configuration; if not, with which drop-in it does.
 * Warnings alone: systemd may understand a unit otherwise than it is read here, and the unit runs this check before it starts.
 */
import { join } from "node:path";
import type { Config } from "../../config/schema.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { type CheckFinding, fine, warning } from "../watch/check-finding.ts";
import { type ResolvedPaths, type ResolvePaths, resolvePaths } from "./resolved-paths.ts";
import { findUnits, type InstalledUnit, unitFolders, wordsOf } from "./systemd-unit.ts";
import { accessOf, pathsNamedIn, type UnitAccess } from "./unit-access.ts";

interface WrittenFolder {
  readonly path: string;
  /** What the configuration has it for. */
  readonly what: string;
}

/** The folders that the configuration names, and the daemon writes. */
function writtenFolders({
  stateDir,
  companies,
  backup,
  retention,
  cluster,
}: Config): readonly WrittenFolder[] {
  const ofCompanies = Object.entries(companies).flatMap(([code, { folders, outbound }]) => [
    ...folders.map(({ path }) => ({ path, what: `a drop folder of ${code}` })),
    ...Object.entries(outbound.targets).flatMap(([name, target]) =>
      target.type === "folder" && target.path !== undefined
        ? [{ path: target.path, what: `the target ${name} of ${code}` }]
        : [],
    ),
  ]);
  const ofSite = [
    { path: backup.folder, what: "the folder of backups" },
    { path: retention.moveTo, what: "the folder that old files are moved to" },
    { path: cluster.nodeDir, what: "the folder of this node" },
  ];
  return [
    { path: stateDir, what: "the state directory" },
    ...ofCompanies,
    ...ofSite.flatMap(({ path, ...rest }) => (path === undefined ? [] : [{ path, ...rest }])),
  ];
}

const usualConfig = "/etc/dropgate/dropgate.yaml";

/** Whether it runs the daemon, and not another command, as one that verifies the ledger every night. */
function isService(unit: InstalledUnit): boolean {
  return unit.values("ExecStart").flatMap(wordsOf).includes("serve");
}

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

function checkFolder(
  unit: InstalledUnit,
  folder: WrittenFolder,
  access: UnitAccess,
): CheckFinding | undefined {
  if (access.kind === "writable") return undefined;
  const title = `the unit ${unit.name} (${unit.file})`;
  const ways = {
    readOnly: "does not let the service write",
    hidden: "hides from the service",
    replaced: "has a folder of its own in the place of",
  } as const;
  const what = `${title} ${ways[access.kind]} ${folder.path}, ${folder.what} (${access.by})`;
  return warning(what, remedyOf(unit, access, folder.path));
}

const allFolders = "all folders of the configuration";

function checkUnit(
  unit: InstalledUnit,
  folders: readonly WrittenFolder[],
  places: ResolvedPaths,
): readonly CheckFinding[] {
  const asked = folders.map((folder) => ({ folder, access: accessOf(unit, folder.path, places) }));
  // The checks of the folders themselves tell of those that do not answer.
  const answered = asked.flatMap(({ folder, access }) => (access === undefined ? [] : [{ folder, access }]));
  const found = answered.flatMap(({ folder, access }) => checkFolder(unit, folder, access) ?? []);
  if (found.length > 0) return found;
  const which = answered.length < asked.length ? "all folders of the configuration that answer" : allFolders;
  return [fine(`the unit ${unit.name} lets the service write ${which}`)];
}

interface CheckedMachine {
  /** Where units are. */
  readonly folders?: readonly string[];
  readonly resolve?: ResolvePaths;
}

/** The units that run with this configuration; on a machine without one there is nothing to say. */
export async function checkUnits(
  config: Config,
  configFile: string,
  { folders = unitFolders(process.env), resolve = resolvePaths }: CheckedMachine = {},
): Promise<readonly CheckFinding[]> {
  try {
    const units = (await findUnits(folders)).filter(isService);
    if (units.length === 0) return [];
    const written = writtenFolders(config);
    const places = await resolve([
      ...[configFile, ...units.map(configFileOf), ...units.flatMap(pathsNamedIn)],
      ...written.map(({ path }) => path),
    ]);
    const own = places.get(configFile);
    const isOwn = (unit: InstalledUnit) => own !== undefined && places.get(configFileOf(unit)) === own;
    return units.filter(isOwn).flatMap((unit) => checkUnit(unit, written, places));
  } catch (error) {
    // What cannot be read here, systemd reads all the same: no reason to keep the service down.
    if (systemCodeOf(error) === undefined) throw error;
    return [warning(`the unit of the service cannot be read: ${messageOf(error)}`, "run this as root")];
  }
}
