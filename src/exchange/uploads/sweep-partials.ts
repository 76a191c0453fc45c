import type { Stats } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isUnfinishedName } from "../../domain/files/unfinished-name.ts";
import { unlink } from "../../lib/files/changes.ts";
import { entriesOf } from "../../lib/files/entries-of.ts";
import { unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isAheadName } from "./ahead-bytes.ts";
import { partialFolderName } from "../folders/company-folders.ts";
import { hasArrived } from "../folders/listing.ts";
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

async function sweepOne(
  deps: SweepDeps,
  options: SweepOptions,
  at: { path: string; name: string },
): Promise<void> {
  const claim = deps.claims.tryClaim(at.path);
  // It is being written.
  if (claim === undefined) return;
  try {
    await sweepIdle(deps, options, at);
  } finally {
    claim.release();
  }
}

async function sweepIdle(
  deps: SweepDeps,
  options: SweepOptions,
  at: { path: string; name: string },
): Promise<void> {
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
  await unlink(at.path);
  if (verdict === "too old")
    deps.log.info(facts, "the part of a broken upload was removed: nobody has continued it");
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
    }
  }
}
