/** What the confinement of a unit leaves of a folder (systemd.exec(5), "Sandboxing" and "Paths"). */
import { realpath } from "node:fs/promises";
import { isAbsolute, join, relative } from "node:path";
import { type InstalledUnit, pathsOf } from "./systemd-unit.ts";

export type UnitAccess =
  | { readonly kind: "writable" }
  /** `by`: the setting that is the reason. */
  | { readonly kind: "readOnly" | "hidden" | "replaced"; readonly by: string };

interface Rule {
  readonly path: string;
  readonly by: string;
}

const isYes = /^(1|yes|y|true|t|on)$/i;

async function resolved(path: string): Promise<string> {
  // A folder that this user cannot see, or that is not there, is compared by its name.
  return await realpath(path).catch(() => path);
}

/** Whether the path is the folder or lies in it. */
function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

function lastOf(unit: InstalledUnit, setting: string): string {
  return unit.values(setting).at(-1) ?? "no";
}

async function rulesOf(unit: InstalledUnit, setting: string): Promise<readonly Rule[]> {
  return await Promise.all(
    pathsOf(unit, setting).map(async (path) => ({ path: await resolved(path), by: setting })),
  );
}

/** The folders that are bound into the unit, by where they are seen there: `source:destination:options`. */
async function boundFolders(unit: InstalledUnit, setting: string): Promise<readonly Rule[]> {
  const places = pathsOf(unit, setting).map((path) => {
    const [source = "", destination = ""] = path.split(":");
    return destination === "" ? source : destination;
  });
  return await Promise.all(places.map(async (path) => ({ path: await resolved(path), by: setting })));
}

/** `path:options` */
function temporaryFolders(unit: InstalledUnit): readonly Rule[] {
  const by = "TemporaryFileSystem";
  return pathsOf(unit, by).map((path) => ({ path: path.split(":", 1).join(""), by }));
}

const ownFolders = { StateDirectory: "/var/lib", CacheDirectory: "/var/cache", LogsDirectory: "/var/log" };

function protectedSystem(unit: InstalledUnit): readonly Rule[] {
  const value = lastOf(unit, "ProtectSystem");
  const by = `ProtectSystem=${value}`;
  const named = (...paths: string[]) => paths.map((path) => ({ path, by }));
  if (value === "strict") return named("/");
  if (value === "full") return named("/usr", "/boot", "/efi", "/etc");
  return isYes.test(value) ? named("/usr", "/boot", "/efi") : [];
}

function protectedHome(unit: InstalledUnit): { readonly value: string; readonly rules: readonly Rule[] } {
  const value = lastOf(unit, "ProtectHome");
  const rules = ["/home", "/root", "/run/user"].map((path) => ({ path, by: `ProtectHome=${value}` }));
  return { value, rules };
}

function privateTmp(unit: InstalledUnit): readonly Rule[] {
  const value = lastOf(unit, "PrivateTmp");
  if (!isYes.test(value) && value !== "disconnected") return [];
  return ["/tmp", "/var/tmp"].map((path) => ({ path, by: `PrivateTmp=${value}` }));
}

/** The rule of the folder that is nearest to the path. */
function nearest(rules: readonly Rule[], path: string): Rule | undefined {
  const around = rules.filter((rule) => isWithin(path, rule.path));
  return around.toSorted((a, b) => b.path.length - a.path.length)[0];
}

/** Whether the service may write the folder. */
export async function accessOf(unit: InstalledUnit, folder: string): Promise<UnitAccess> {
  const path = await resolved(folder);
  const home = protectedHome(unit);
  // Nothing below an inaccessible folder can be given back.
  const closed = [
    ...(await rulesOf(unit, "InaccessiblePaths")),
    ...(isYes.test(home.value) ? home.rules : []),
  ];
  const hiding = nearest(closed, path);
  if (hiding !== undefined) return { kind: "hidden", by: hiding.by };
  const bound = await boundFolders(unit, "BindPaths");
  const temporary = [
    ...privateTmp(unit),
    ...temporaryFolders(unit),
    ...(home.value === "tmpfs" ? home.rules : []),
  ];
  const replacing = nearest(temporary, path);
  if (replacing !== undefined && nearest(bound, path) === undefined)
    return { kind: "replaced", by: replacing.by };
  const open = [
    ...bound,
    ...(await rulesOf(unit, "ReadWritePaths")),
    ...Object.entries(ownFolders).flatMap(([setting, parent]) =>
      pathsOf(unit, setting).map((name) => ({ path: join(parent, name), by: setting })),
    ),
  ];
  const readOnly = [
    ...protectedSystem(unit),
    ...(home.value === "read-only" ? home.rules : []),
    ...(await rulesOf(unit, "ReadOnlyPaths")),
    ...(await boundFolders(unit, "BindReadOnlyPaths")),
  ];
  const [closing, opening] = [nearest(readOnly, path), nearest(open, path)];
  if (closing === undefined || (opening !== undefined && opening.path.length > closing.path.length))
    return { kind: "writable" };
  return { kind: "readOnly", by: closing.by };
}
