/**
 * Makes durable copies of settled files in `.taking`. A file whose copy is not whole stays, and so does one that an earlier
 * file of its stop keeps back; their copies are removed.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { newMark } from "../../inbound/places/place-arrival.ts";
import { messageOf, unlessMissing } from "../../lib/errors.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import type { FileState, SettledFile } from "./candidates.ts";
import type { CopyOutcome, CopyRequest } from "./copy-files.ts";
import type { FolderDeps } from "./folder-deps.ts";
import { copyName, takingFolderName } from "./sweep-copies.ts";
import { copyIn, errorOf, filesAtOnce, type TakeThread } from "./take-thread.ts";
import type { Outcomes, OutcomesDeps, Settled } from "./taken-files.ts";
import { portionsOf } from "../../lib/portions.ts";

export interface TakerDeps
  extends OutcomesDeps,
    Pick<FolderDeps, "disk" | "inbox" | "log" | "runId" | "isIncomplete" | "syncCopies" | "mayTakeForMs"> {
  readonly thread: TakeThread;
}

/** What the steps of one taking have in common. */
export interface Taking {
  readonly deps: TakerDeps;
  readonly settled: Settled;
  readonly outcomes: Outcomes;
}

/** A file that may be placed. */
export interface Copied {
  readonly file: SettledFile;
  /** Absolute path of the copy, or of the source itself when it needs none. */
  readonly from: string;
  /** Part of the name of the copy, and of the source while it is set aside. */
  readonly mark: string;
}

type CopyPlace = Pick<CopyRequest, "taking" | "isSynced">;

interface Copy {
  readonly path: string;
  readonly mark: string;
  readonly outcome: CopyOutcome | undefined;
}

/** More than these share one sync of their whole file system: 100,000 single ones take half a minute. */
const fewFiles = 64;
const syncsAtOnce = 8;

/** The files that may be placed now; their copies are durable. */
export async function makeCopies(taking: Taking, inbound: PinnedFolder): Promise<readonly Copied[]> {
  const { files } = taking.settled;
  const to = { taking: inbound.child(takingFolderName), isSynced: files.length <= fewFiles };
  const ready: Copied[] = [];
  for (const portion of portionsOf(files, filesAtOnce)) {
    if (taking.settled.isStopped()) break;
    ready.push(...(await makePortion(taking, portion, to)));
  }
  if (!to.isSynced) await syncCopied(taking, inbound, ready);
  return ready;
}

async function syncCopied(taking: Taking, inbound: PinnedFolder, copied: readonly Copied[]): Promise<void> {
  const { disk, log, syncCopies } = taking.deps;
  try {
    return await syncCopies(inbound.path);
  } catch (error) {
    log.debug({ reason: messageOf(error) }, "sync -f failed; files are synced one by one");
  }
  await mapConcurrently(copied, syncsAtOnce, async ({ from }) => {
    const fd = await disk.open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      await disk.fsync(fd);
    } finally {
      await disk.close(fd);
    }
  });
}

async function makePortion(taking: Taking, portion: readonly SettledFile[], to: CopyPlace) {
  const { staying } = taking.deps;
  const known = portion.filter((file) => isKnownIncomplete(taking, file));
  for (const file of known) taking.outcomes.incomplete(file);
  const toTake = portion.filter((file) => !known.includes(file));
  const copies = await copyPortion(taking, toTake, to);
  const ready: Copied[] = [];
  for (const file of toTake) {
    const copy = copies.get(file.name);
    const from = copy?.path ?? join(taking.settled.at, file.name);
    if (copy !== undefined && !(await mayGoOn(taking, file, copy))) continue;
    if (staying.keptBackBy(file.name) === undefined)
      ready.push({ file, from, mark: copy?.mark ?? newMark() });
    else {
      taking.outcomes.behind.push(file);
      if (copy !== undefined) await throwAway(taking, copy);
    }
  }
  return ready;
}

/** By name. A file over the limit is not copied, because its size refuses it. */
async function copyPortion(taking: Taking, files: readonly SettledFile[], to: CopyPlace) {
  const { settings, runId, thread } = taking.deps;
  const { maxFileBytes } = settings();
  const toCopy = files
    .filter(({ state }) => state.size <= maxFileBytes)
    .map(({ name, state }) => {
      const mark = newMark();
      return { name, state, mark, copy: copyName(runId, mark), cameAtMs: cameAtOf(taking, state) };
    });
  if (toCopy.length === 0) return new Map();
  const outcomes = await copyIn(thread, { directory: taking.settled.at, ...to, files: toCopy });
  return new Map(
    toCopy.map(({ name, mark, copy }, index) => [
      name,
      { path: join(to.taking, copy), mark, outcome: outcomes[index] },
    ]),
  );
}

/** Further folders may lie on machines with clocks of their own: of a file that comes from there, it is the time of its copy. */
function cameAtOf({ settled }: Taking, state: FileState): number | undefined {
  return settled.folder.isInbox ? Math.trunc(state.cameAtMs) : undefined;
}

async function throwAway(taking: Taking, { path }: Copy): Promise<void> {
  await taking.deps.disk.unlink(path).catch(unlessMissing);
}

/** False when the file stays where it is; the copy is gone then. */
async function mayGoOn(taking: Taking, file: SettledFile, copy: Copy): Promise<boolean> {
  const { outcome } = copy;
  if (outcome === undefined || outcome.kind === "changed") taking.outcomes.changed.push(file.name);
  else if (outcome.kind === "failed") taking.outcomes.failed(file, errorOf(outcome.fault));
  else if (outcome.hasEnd || !(await isIncomplete(taking, file, copy.path))) return true;
  else {
    taking.outcomes.incomplete(file);
    await throwAway(taking, copy);
  }
  return false;
}

/** Whether a copy has shown that it is incomplete as it is: no other is made before its grace is over. */
function isKnownIncomplete(taking: Taking, file: SettledFile): boolean {
  return taking.deps.staying.isUntouched(file.name, file.state) && !isGraceOver(taking, file);
}

function isGraceOver(taking: Taking, { name, state }: SettledFile): boolean {
  const { staying, clock, settings } = taking.deps;
  const sinceAt = staying.incompleteSince(name, state);
  return sinceAt !== undefined && clock.now() - sinceAt >= settings().incompleteGraceMs;
}

/** Whether to wait for its writer. A file whose name is refused anyway is not worth that. */
async function isIncomplete(taking: Taking, file: SettledFile, path: string): Promise<boolean> {
  if (!/\.xml$/i.test(file.name) || isGraceOver(taking, file)) return false;
  const { companyCode } = taking.settled.folder;
  return await taking.deps.isIncomplete(path, { companyCode, size: file.state.size });
}
