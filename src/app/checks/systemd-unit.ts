/**
 * The installed unit of the service, as systemd puts it together (systemd.unit(5)): the file of the folder that comes first,
 * then the drop-ins of all folders in the order of their names, of which one in an earlier folder hides its namesakes.
 */
import { readdir, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../lib/errors.ts";

export interface InstalledUnit {
  readonly name: string;
  readonly file: string;
  /** The values of a setting of its section [Service]; an empty assignment has removed those before it. */
  readonly values: (setting: string) => readonly string[];
}

const defaultFolders = [
  "/etc/systemd/system.control",
  "/run/systemd/system.control",
  "/run/systemd/transient",
  "/etc/systemd/system",
  "/run/systemd/system",
  "/usr/local/lib/systemd/system",
  "/usr/lib/systemd/system",
  "/lib/systemd/system",
];

/** Where systemd looks for units; `SYSTEMD_UNIT_PATH` replaces the folders, or precedes them when it ends with a colon. */
export function unitFolders(env: NodeJS.ProcessEnv): readonly string[] {
  const set = env["SYSTEMD_UNIT_PATH"];
  if (set === undefined || set === "") return defaultFolders;
  const own = set.split(":").filter((folder) => folder !== "");
  return set.endsWith(":") ? [...own, ...defaultFolders] : own;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(unlessMissing)) ?? [];
}

/** The path by the last part of each file of the folders, of namesakes the first one's. */
async function filesIn(
  folders: readonly string[],
  isWanted: (name: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const folder of folders)
    for (const name of await namesIn(folder))
      if (isWanted(name) && !found.has(name)) found.set(name, join(folder, name));
  return found;
}

/** Adds the settings of the section [Service] of a file to those that were there before it. */
function readSettings(text: string, settings: Map<string, string[]>): void {
  let section = "";
  for (const line of text
    .replace(/\\\n/g, " ")
    .split("\n")
    .map((one) => one.trim())) {
    if (line.startsWith("[")) section = line;
    const equals = line.indexOf("=");
    if (section !== "[Service]" || equals < 0 || /^[#;[]/.test(line)) continue;
    const [name, value] = [line.slice(0, equals).trim(), line.slice(equals + 1).trim()];
    settings.set(name, value === "" ? [] : [...(settings.get(name) ?? []), value]);
  }
}

/** The folders of drop-ins: of the unit, of those whose names begin as its own up to a hyphen, and of all. */
function dropInFolders(name: string): readonly string[] {
  const words = name.replace(/\.service$/, "").split("-");
  const beginnings = words.slice(1).map((_, index) => words.slice(0, words.length - 1 - index).join("-"));
  return [`${name}.d`, ...beginnings.map((one) => `${one}-.service.d`), "service.d"];
}

async function readUnit(name: string, file: string, folders: readonly string[]): Promise<InstalledUnit> {
  const dropIns = await filesIn(
    dropInFolders(name).flatMap((part) => folders.map((folder) => join(folder, part))),
    (one) => one.endsWith(".conf"),
  );
  const settings = new Map<string, string[]>();
  for (const path of [file, ...[...dropIns.keys()].sort().map((one) => dropIns.get(one) ?? "")])
    readSettings(await readFile(path, "utf8"), settings);
  return { name, file, values: (setting) => settings.get(setting) ?? [] };
}

/** The units whose names begin with dropgate; of those that are masked there is nothing to say. */
export async function findUnits(folders: readonly string[]): Promise<readonly InstalledUnit[]> {
  const files = await filesIn(folders, (name) => /^dropgate.*\.service$/.test(name));
  const units: InstalledUnit[] = [];
  for (const [name, file] of files)
    if ((await realpath(file)) !== "/dev/null") units.push(await readUnit(name, file, folders));
  return units;
}

/** `\x20`, as paths with spaces may be written. */
function unescaped(word: string): string {
  return word.replace(/\\x([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** The words of a value, which may be in quotes. */
export function wordsOf(value: string): readonly string[] {
  const words = value.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.map((word) =>
    unescaped(word).replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double?: string, single?: string) =>
      double === undefined ? (single ?? "") : double.replace(/\\(.)/g, "$1"),
    ),
  );
}

const specifiers: Readonly<Record<string, string>> = {
  "%S": "/var/lib",
  "%C": "/var/cache",
  "%L": "/var/log",
  "%t": "/run",
  "%%": "%",
};

/** The paths that a setting of the unit names, without prefixes and with the specifiers of the usual folders resolved. */
export function pathsOf({ values }: InstalledUnit, setting: string): readonly string[] {
  return values(setting)
    .flatMap(wordsOf)
    .map((word) => word.replace(/^[-+]+/, "").replace(/%[SCLt%]/g, (one) => specifiers[one] ?? one));
}
