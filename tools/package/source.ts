/** The checkout that is packaged: its commit, its time, and the packages of its lock file. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Architecture, architectures } from "./shipped-files.ts";

export const projectFolder = resolve(import.meta.dirname, "../..");
/** Git-ignored. */
export const outputFolder = join(projectFolder, "dist-package");

/** The version that the checkout says it is. */
export function projectVersion(): string {
  const text = readFileSync(join(projectFolder, "package.json"), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

export function run(program: string, args: readonly string[], cwd = projectFolder): string {
  return execFileSync(program, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Seconds since 1970 that all files of the package have: SOURCE_DATE_EPOCH, else the time of the last commit. */
export function sourceTime(env: NodeJS.ProcessEnv): number {
  const text = env["SOURCE_DATE_EPOCH"] ?? run("git", ["log", "-1", "--format=%ct"]).trim();
  const seconds = Number(text);
  if (/^\d{1,10}$/.test(text) && Number.isSafeInteger(seconds)) return seconds;
  throw new Error(`SOURCE_DATE_EPOCH must be seconds since 1970, and is ${JSON.stringify(text)}`);
}

/** What the checkout has below one of its folders, as paths relative to it, in order; without what lies there besides. */
export function committedFilesBelow(folder: string): string[] {
  const names = run("git", ["ls-files", "-z"], join(projectFolder, folder)).split("\0");
  return names.filter((name) => name !== "").sort();
}

/**
 * The production packages of the lock file, for one architecture: npm installs them in a folder of their own, compares
 * each with its sum in the lock file, and runs no script. A folder that is complete is used again.
 */
export function installedPackages(architecture: Architecture): string {
  const lock = readFileSync(join(projectFolder, "package-lock.json"));
  const sum = createHash("sha256").update(lock).digest("hex").slice(0, 16);
  const folder = join(outputFolder, `packages-${architecture}-${sum}`);
  if (existsSync(folder)) return join(folder, "node_modules");
  const fresh = `${folder}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  for (const name of ["package.json", "package-lock.json", ".npmrc"])
    copyFileSync(join(projectFolder, name), join(fresh, name));
  const platform = ["--os=linux", `--cpu=${architectures[architecture]}`, "--libc=glibc"];
  run(
    "npm",
    ["ci", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", ...platform],
    fresh,
  );
  renameSync(fresh, folder);
  return join(folder, "node_modules");
}
