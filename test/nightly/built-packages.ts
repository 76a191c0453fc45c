/** Packages for walks: the release before, as its own commit makes it, and two newer versions of the checkout. */
import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { outputFolder, projectFolder, projectVersion } from "../../tools/package/source.ts";
import { mustRun } from "./transcript.ts";

/** The last release, and the number of the schema that its database has. */
export const released = {
  version: "0.2.0",
  commit: "7550b7a6a154995301310a468b8d8cc91333fab7",
  schema: 7,
} as const;

const out = join(outputFolder, "booted");
const script = "tools/package/build-package.ts";

export interface BuiltPackage {
  readonly version: string;
  readonly path: string;
}

/** What the checkout is called in walks, once and then newer: newer than the release too. */
export function newerVersions(): readonly [first: string, second: string] {
  const [, head = "", last = "0"] = /^(.*\.)(\d+)$/.exec(projectVersion()) ?? [];
  return [`${head}${Number(last) + 1}`, `${head}${Number(last) + 2}`];
}

/** Made in a work tree of its own, with the packages of its own lock file; once, for its commit never changes. */
export async function buildReleased(): Promise<BuiltPackage> {
  const { version, commit } = released;
  const folder = join(out, `released-${commit.slice(0, 12)}`);
  const path = join(folder, `dropgate_${version}_amd64.deb`);
  if (existsSync(path)) return { version, path };
  const tree = join(out, "released-tree");
  const git = ["-C", projectFolder, "worktree"];
  await rm(tree, { recursive: true, force: true });
  await mustRun("git", [...git, "prune"]);
  await mkdir(out, { recursive: true });
  await mustRun("git", [...git, "add", "--detach", tree, commit]);
  try {
    await mustRun(process.execPath, [join(tree, script), "--out", folder]);
  } finally {
    await mustRun("git", [...git, "remove", "--force", tree]);
  }
  return { version, path };
}

/** The checkout under another version. */
export async function buildAs(version: string, architecture = "amd64", folder = out): Promise<BuiltPackage> {
  await mkdir(folder, { recursive: true });
  const args = ["--version", version, "--arch", architecture, "--out", folder];
  const printed = await mustRun(process.execPath, [join(projectFolder, script), ...args]);
  return { version, path: printed.trim().split("\n").at(-1) ?? "" };
}
