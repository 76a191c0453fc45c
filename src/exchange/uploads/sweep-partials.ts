import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { rmdir, unlink } from "../../lib/files/changes.ts";
import { entriesOf } from "../../lib/files/entries-of.ts";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isAheadName } from "./ahead-bytes.ts";
import { nodesFolderName, partialFolderName } from "../folders/company-folders.ts";
import { hasArrived } from "../folders/listing.ts";
import type { TreeNode } from "../exchange-deps.ts";
import type { UploadClaims } from "./upload-claims.ts";

export interface SweepOptions {
  /** Parts of interrupted uploads that were last written longer ago than this are removed. */
  readonly olderThanMs: number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

interface SweepDeps {
  readonly companiesDir: string;
  readonly claims: Pick<UploadClaims, "tryClaim">;
  /** This process among those that share the tree. */
  readonly node: TreeNode | undefined;
  readonly log: Logger;
  /** Paths that have been reported; kept by the caller between sweeps. */
  readonly reported: Set<string>;
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await entriesOf(folder);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

async function statsOf(path: string): Promise<Stats | undefined> {
  return await lstat(path).catch(unlessMissing);
}

/** What becomes of one unfinished file. */
function verdictOn(
  stats: Stats,
  name: string,
  options: SweepOptions,
): "keep" | "left over" | "too old" | "report" {
  if (hasArrived(stats) || isAheadName(name)) return "left over";
  if (options.nowMs - stats.mtimeMs < options.olderThanMs) return "keep";
  return isUnfinishedName(name) ? "report" : "too old";
}

interface Place {
  readonly path: string;
  readonly name: string;
  /** By which the claims know it, where that is not its path. */
  readonly key?: string;
}

async function sweepOne(deps: SweepDeps, options: SweepOptions, at: Place): Promise<void> {
  const claim = deps.claims.tryClaim(at.key ?? at.path);
  // It is being written.
  if (claim === undefined) return;
  try {
    await sweepIdle(deps, options, at);
  } finally {
    claim.release();
  }
}

async function sweepIdle(deps: SweepDeps, options: SweepOptions, at: Place): Promise<void> {
  const stats = await statsOf(at.path);
  if (stats === undefined || !stats.isFile()) return;
  const verdict = verdictOn(stats, at.name, options);
  const facts = { path: at.path, size: stats.size, lastWritten: new Date(stats.mtimeMs).toISOString() };
  if (verdict === "keep") return;
  if (verdict === "report") {
    if (deps.reported.has(at.path)) return;
    deps.reported.add(at.path);
    deps.log.warn(
      facts,
      "an upload under an unfinished name was never renamed by its host; it is left alone",
    );
    return;
  }
  // Another node that shares the tree may have been quicker.
  await unlink(at.path).catch(unlessMissing);
  if (verdict === "too old")
    deps.log.info(facts, "the part of a broken upload was removed: nobody has continued it");
}

/** What nodes that are gone have left, and this one where it could not lay a part down; what another one writes is its own. */
async function sweepNodes(deps: SweepDeps, options: SweepOptions, partials: string): Promise<void> {
  const nodes = join(partials, nodesFolderName);
  for (const incarnation of await foldersIn(nodes)) {
    const isOwn = incarnation === deps.node?.incarnation;
    if (!isOwn && (await deps.node?.isLive(incarnation)) === true) continue;
    const folder = join(nodes, incarnation);
    for (const { name } of await entriesOf(folder))
      await sweepOne(deps, options, { path: join(folder, name), name, key: join(partials, name) });
    // Until it is empty, and this process goes on with its own.
    if (!isOwn) await rmdir(folder).catch(unlessFilled);
  }
}

function unlessFilled(error: unknown): void {
  if (!["ENOTEMPTY", "EEXIST", "ENOENT"].includes(systemCodeOf(error) ?? "")) throw error;
}

/**
 * Sweeps the unfinished uploads of all companies: removes parts of interrupted uploads that are too old and leftovers of a
 * crash, and reports, once, files that a host has left under an unfinished name.
 */
export async function sweepPartials(deps: SweepDeps, options: SweepOptions): Promise<void> {
  for (const company of await foldersIn(deps.companiesDir)) {
    const partials = join(deps.companiesDir, company, "inbound", partialFolderName);
    for (const user of await foldersIn(partials)) {
      for (const { name } of await entriesOf(join(partials, user))) {
        await sweepOne(deps, options, { path: join(partials, user, name), name });
      }
      await sweepNodes(deps, options, join(partials, user));
    }
  }
}
