/**
 * The base of the image: the few programs and libraries of the Debian on this machine that dropgate needs, each file as
 * its package brings it, with the licences of these packages, and with their names where scanners of images look for
 * them (`/var/lib/dpkg/status.d`).
 */
import { spawnSync } from "node:child_process";
import { lstatSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { run } from "../source.ts";
import { copied, linked, type PackageEntry, written } from "../package-entry.ts";

/** What bin/dropgate and the daemon call, and what whoever looks into the container needs. */
const programs = [
  "/bin/sh",
  "/usr/bin/dirname",
  "/usr/bin/readlink",
  "/usr/bin/sync",
  "/usr/bin/ls",
  "/usr/bin/cat",
];

/** Directories that are links since Debian has one `/usr`; loaders and scripts are looked for there. */
const usrLinks = ["bin", "sbin", "lib", "lib64"];

/** The libraries and the loader that the binaries ask for, as they are found on this machine. */
function librariesOf(binaries: readonly string[]): string[] {
  const lines = binaries.flatMap((binary) => run("ldd", [binary]).split("\n"));
  const missing = lines.find((line) => line.includes("not found"));
  if (missing !== undefined) throw new Error(`a library is missing on this machine: ${missing.trim()}`);
  return [...new Set(lines.flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []))];
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** The path without links among its folders, and without the slash in front: of `/lib/x` it is `usr/lib/x`. */
function pathInUsr(path: string): string {
  return `${realpathSync(folderOf(path))}${path.slice(folderOf(path).length)}`.slice(1);
}

/** The file, and the links that lead to it. */
function chainTo(path: string): PackageEntry[] {
  const name = pathInUsr(path);
  const found = lstatSync(path);
  if (!found.isSymbolicLink()) return [copied(name, path, found.mode & 0o755)];
  const target = readlinkSync(path);
  return [linked(name, target), ...chainTo(target.startsWith("/") ? target : `/${folderOf(name)}/${target}`)];
}

/** The packages of files. dpkg knows a file by the path in its package, which may be that without /usr. */
function ownersOf(paths: readonly string[]): Set<string> {
  const names = paths.map((path) => [`/${path}`, `/${path}`.replace(/^\/usr/, "")]);
  // It ends with 1 because one of the two is of no package, and prints the other all the same.
  const { stdout } = spawnSync("dpkg", ["-S", ...names.flat()], { encoding: "utf8" });
  const owners = new Map(
    stdout.split("\n").map((line) => [line.replace(/^.*: /, ""), line.replace(/: .*/, "")]),
  );
  const found = names.map(([name = "", other = ""]) => {
    const owner = owners.get(name) ?? owners.get(other);
    if (owner === undefined) throw new Error(`${name} is of no Debian package`);
    return owner;
  });
  return new Set(found);
}

function packageEntries(label: string): PackageEntry[] {
  const name = label.replace(/:.*/, "");
  const status = run("dpkg-query", ["--status", label]).replace(/^Conffiles:\n(?: .*\n)*/m, "");
  const copyright = realpathSync(`/usr/share/doc/${name}/copyright`);
  return [
    written(`var/lib/dpkg/status.d/${name}`, status),
    written(`usr/share/doc/${name}/copyright`, readFileSync(copyright)),
  ];
}

/** Everything but dropgate itself, for the binaries of dropgate. */
export function baseEntries(binaries: readonly string[]): PackageEntry[] {
  const chains = [...programs, ...librariesOf([...programs, ...binaries])].flatMap(chainTo);
  const found = [...new Map(chains.map((entry) => [entry.path, entry])).values()];
  const owners = ownersOf(found.filter(({ kind }) => kind === "file").map(({ path }) => path));
  const links = usrLinks.filter((name) => lstatSync(`/${name}`, { throwIfNoEntry: false })?.isSymbolicLink());
  return [
    ...links.map((name) => linked(name, `usr/${name}`)),
    ...found,
    written("etc/os-release", readFileSync("/etc/os-release")),
    ...[...owners].sort().flatMap(packageEntries),
  ];
}
