/**
 * `npm run package [-- --arch amd64|arm64] [--version VERSION] [--out FOLDER]`: makes the Debian package. Needs
 * dpkg-deb and npm, and no compiler. The same commit and lock file give the same bytes.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { controlEntries, debEntries } from "./deb-entries.ts";
import { normalisedSbom, shippedPackages } from "./locked-packages.ts";
import { requireMachine } from "./machine-code.ts";
import { byPath, foldersOf, type PackageEntry } from "./package-entry.ts";
import type { ProgramSource } from "./program-entries.ts";
import { type Architecture, architectures } from "./shipped-files.ts";
import { installedPackages, outputFolder, projectFolder, projectVersion, run, sourceTime } from "./source.ts";

function writeEntries(root: string, entries: readonly PackageEntry[]): void {
  for (const folder of foldersOf(entries)) mkdirSync(join(root, folder), { recursive: true, mode: 0o755 });
  for (const entry of entries) {
    const path = join(root, entry.path);
    if (entry.kind === "link") symlinkSync(entry.target, path);
    else writeFileSync(path, entry.content(), { mode: entry.mode });
  }
}

function isArchitecture(name: string): name is Architecture {
  return name in architectures;
}

/** What is packaged, from the lock file and the checkout. */
export function programSource(architecture: Architecture, version: string): ProgramSource {
  run("sh", ["bin/prepare"]);
  const packages = shippedPackages(
    readFileSync(join(projectFolder, "package-lock.json"), "utf8"),
    architecture,
  );
  return { version, architecture, packages, modules: installedPackages(architecture) };
}

export function sbomOf({ packages, version }: ProgramSource): string {
  // With --omit=dev npm leaves out what development packages need too.
  const args = ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"];
  return normalisedSbom(run("npm", args), packages, version);
}

interface DebBuild {
  readonly source: ProgramSource;
  readonly sbom: string;
  /** Seconds since 1970 that all files get. */
  readonly seconds: number;
  /** Removed before and afterwards. */
  readonly root: string;
  /** Where the package goes. */
  readonly out: string;
  /** Options of dpkg-deb. */
  readonly compression: readonly string[];
}

/** Writes the package; its path. */
export function writeDeb({ source, sbom, seconds, root, out, compression }: DebBuild): string {
  rmSync(root, { recursive: true, force: true });
  process.umask(0o022);
  const entries = debEntries(source, seconds, sbom).sort(byPath);
  requireMachine(entries, source.architecture);
  writeEntries(root, entries);
  const control = join(root, "DEBIAN");
  mkdirSync(control);
  writeEntries(control, controlEntries(source, entries));
  const file = join(out, `dropgate_${source.version}_${source.architecture}.deb`);
  mkdirSync(dirname(file), { recursive: true });
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(seconds) };
  // dpkg-deb sorts, and takes times after this one down to it: all are.
  execFileSync("dpkg-deb", ["--root-owner-group", ...compression, "--build", root, file], {
    env,
    // The last line that the script prints is the path.
    stdio: ["ignore", "ignore", "inherit"],
  });
  utimesSync(file, seconds, seconds);
  rmSync(root, { recursive: true, force: true });
  return file;
}

function main(): void {
  const { values } = parseArgs({
    options: {
      arch: { type: "string", default: "amd64" },
      version: { type: "string" },
      out: { type: "string" },
    },
  });
  if (!isArchitecture(values.arch))
    throw new Error(`--arch must be ${Object.keys(architectures).join(" or ")}`);
  const source = programSource(values.arch, values.version ?? projectVersion());
  const file = writeDeb({
    source,
    sbom: sbomOf(source),
    seconds: sourceTime(process.env),
    root: join(outputFolder, `root-${source.architecture}`),
    out: values.out === undefined ? outputFolder : resolve(values.out),
    compression: ["-Zxz", "-z1"],
  });
  process.stdout.write(`${file}\n`);
}

if (import.meta.main) main();
