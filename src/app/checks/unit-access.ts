/** What the confinement of a unit leaves of a folder (systemd.exec(5), "Sandboxing" and "Paths"). */
import { isAbsolute, join, relative } from "node:path";
import type { ResolvedPaths } from "./resolved-paths.ts";
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

/** Whether the path is the folder or lies in it. */
function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !way.startsWith("..") && !isAbsolute(way);
}

function lastOf(unit: InstalledUnit, setting: string): string {
  return unit.values(setting).at(-1) ?? "no";
}

/** What a setting names. Of folders that are bound into the unit (`source:destination:options`), where they are seen there. */
function namedBy(unit: InstalledUnit, setting: string): readonly Rule[] {
  const isBinding = setting.startsWith("Bind");
  return pathsOf(unit, setting).map((path) => {
    const [source = "", destination = ""] = path.split(":");
    return { path: isBinding ? destination || source : path, by: setting };
  });
}

/** `path:options` */
function temporaryFolders(unit: InstalledUnit): readonly Rule[] {
  const by = "TemporaryFileSystem";
  return pathsOf(unit, by).map((path) => ({ path: path.split(":", 1).join(""), by }));
}

const ownFolders = { StateDirectory: "/var/lib", CacheDirectory: "/var/cache", LogsDirectory: "/var/log" };

function openedFolders(unit: InstalledUnit): readonly Rule[] {
  const own = Object.entries(ownFolders).flatMap(([setting, parent]) =>
    pathsOf(unit, setting).map((name) => ({ path: join(parent, name), by: setting })),
  );
  return [...namedBy(unit, "ReadWritePaths"), ...own];
}

function closedFolders(unit: InstalledUnit): readonly Rule[] {
  return [...namedBy(unit, "ReadOnlyPaths"), ...namedBy(unit, "BindReadOnlyPaths")];
}

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

/** The paths of the unit whose links have to be followed, for `accessOf`. */
export function pathsNamedIn(unit: InstalledUnit): readonly string[] {
  const settings = ["InaccessiblePaths", "BindPaths"].flatMap((setting) => namedBy(unit, setting));
  return [...settings, ...openedFolders(unit), ...closedFolders(unit)].map(({ path }) => path);
}

/** Whether the service may write the folder; undefined when nothing answers where that is. */
export function accessOf(unit: InstalledUnit, folder: string, places: ResolvedPaths): UnitAccess | undefined {
  const path = places.get(folder);
  if (path === undefined) return undefined;
  // A path of the unit that does not answer is compared by its name.
  const resolved = (rules: readonly Rule[]) =>
    rules.map((rule) => ({ ...rule, path: places.get(rule.path) ?? rule.path }));
  const home = protectedHome(unit);
  // Nothing below an inaccessible folder can be given back.
  const closed = [
    ...resolved(namedBy(unit, "InaccessiblePaths")),
    ...(isYes.test(home.value) ? home.rules : []),
  ];
  const hiding = nearest(closed, path);
  if (hiding !== undefined) return { kind: "hidden", by: hiding.by };
  const bound = resolved(namedBy(unit, "BindPaths"));
  const temporary = [
    ...privateTmp(unit),
    ...temporaryFolders(unit),
    ...(home.value === "tmpfs" ? home.rules : []),
  ];
  const replacing = nearest(temporary, path);
  if (replacing !== undefined && nearest(bound, path) === undefined)
    return { kind: "replaced", by: replacing.by };
  const open = [...bound, ...resolved(openedFolders(unit))];
  const readOnly = [
    ...protectedSystem(unit),
    ...(home.value === "read-only" ? home.rules : []),
    ...resolved(closedFolders(unit)),
  ];
  const [closing, opening] = [nearest(readOnly, path), nearest(open, path)];
  if (closing === undefined || (opening !== undefined && opening.path.length > closing.path.length))
    return { kind: "writable" };
  return { kind: "readOnly", by: closing.by };
}
