/**
 * Moves a settled file of a further folder into the company's `inbound/`.
 *
 *   same file system    link to its final name ──> folder synced ──> source unlinked
 *   another one         copy to `.taking/<run>-<hex>` ──> synced ──> link ──> folder synced ──> source unlinked
 *
 * The source goes last. What survives a crash: before the link only a copy, which the next start removes; after it the
 * file stands in both places: the one in `inbound/` is recovered and applied, the other one is taken again and answered
 * as a duplicate. When the source cannot be removed, the file is taken back out of `inbound/`, so that a folder in which
 * we may not delete does not feed the same file for ever.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Arrival } from "../../inbound/inbox.ts";
import { type PlacementInbox, placeArrival } from "../../inbound/place-arrival.ts";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { openRegularFile, type PinnedFolder } from "../../lib/open-regular-file.ts";
import { isSameLook, type Look, lookOf } from "./candidates.ts";
import type { FolderDeps, FolderDisk } from "./folder-deps.ts";

type TakeInDeps = Pick<FolderDeps, "inbox" | "disk" | "runId">;

/** The dot-folder of `inbound/` in which copies grow. */
export const takingFolderName = ".taking";

export type TakeInOutcome =
  | { readonly kind: "taken"; readonly arrival: Arrival }
  /** It is not the file any more that had settled: to be looked at from the beginning. */
  | { readonly kind: "changed" }
  | { readonly kind: "failed"; readonly error: unknown };

export interface TakeIn {
  readonly source: string;
  readonly look: Look;
  readonly inbound: PinnedFolder;
  readonly arrival: Omit<Arrival, "path">;
  /** The source is on the file system of `inbound` and durable, so that a link will do. */
  readonly mayLink: boolean;
}

const portion = 256 * 1024;
/** Not the same file system after all, links are not known there, or links to files of others are forbidden. */
const linkRefusals = ["EXDEV", "EPERM", "EACCES", "EMLINK", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

/** Never throws. The file lies under the returned path, reserved; handing it over is left to the caller. */
export async function takeIn(deps: TakeInDeps, task: TakeIn): Promise<TakeInOutcome> {
  try {
    const placed = task.mayLink ? await linkOrCopy(deps, task) : await copyIn(deps, task);
    if (placed === undefined) return { kind: "changed" };
    killPoint("folder.placed");
    return await removeSource(deps, task, placed);
  } catch (error) {
    return { kind: "failed", error };
  }
}

async function linkOrCopy(deps: TakeInDeps, task: TakeIn): Promise<Arrival | undefined> {
  try {
    // The source stays until the link is durable.
    return await place(deps, task, {
      from: task.source,
      disk: { ...deps.disk, unlink: async () => undefined },
    });
  } catch (error) {
    if (!linkRefusals.includes(systemCodeOf(error) ?? "")) throw error;
    return await copyIn(deps, task);
  }
}

async function place(
  deps: TakeInDeps,
  task: TakeIn,
  how: { readonly from: string; readonly disk: FolderDisk },
): Promise<Arrival> {
  let placed: Arrival | undefined;
  const inbox: PlacementInbox = {
    reserve: (path, file) => deps.inbox.reserve(path, file),
    release: (path) => deps.inbox.release(path),
    clearReceipt: (file) => deps.inbox.clearReceipt(file),
    // Handed over with all others of this look, so that their order holds.
    arrive: (arrival: Arrival) => {
      placed = arrival;
    },
  };
  const { inbound, arrival } = task;
  const path = await placeArrival({ inbox, disk: how.disk }, { from: how.from, inbound, arrival });
  return placed ?? { ...arrival, path };
}

async function copyIn(deps: TakeInDeps, task: TakeIn): Promise<Arrival | undefined> {
  const { disk } = deps;
  const folder = task.inbound.child(takingFolderName);
  await mkdir(folder, { mode: 0o750 }).catch(unlessThere);
  killPoint("folder.takingMade");
  const temporary = join(folder, `${deps.runId}-${randomBytes(6).toString("hex")}`);
  const isSame = await copyDurably(disk, task, temporary);
  if (!isSame) return undefined;
  try {
    return await place(deps, task, { from: temporary, disk });
  } catch (error) {
    await disk.unlink(temporary).catch(unlessMissing);
    throw error;
  }
}

/** False, and no copy, when the source is or becomes another file than the one that had settled. */
async function copyDurably(disk: FolderDisk, task: TakeIn, to: string): Promise<boolean> {
  const source = await openRegularFile(task.source, constants.O_RDONLY, disk);
  if (source === undefined) return false;
  let isSame = false;
  try {
    const target = await disk.open(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o640);
    try {
      const size = await copyBytes(disk, source.fd, target);
      await disk.fsync(target);
      killPoint("folder.copied");
      isSame = size === task.look.size && isSameLook(lookOf(await disk.fstat(source.fd)), task.look);
    } finally {
      await disk.close(target);
      if (!isSame) await disk.unlink(to);
    }
  } finally {
    await disk.close(source.fd);
  }
  return isSame;
}

async function copyBytes(disk: FolderDisk, from: number, to: number): Promise<number> {
  const buffer = Buffer.allocUnsafe(portion);
  for (let size = 0; ; ) {
    const count = await disk.read(from, buffer, size);
    if (count === 0) return size;
    for (let done = 0; done < count; )
      done += await disk.write(to, buffer.subarray(done, count), size + done);
    size += count;
  }
}

async function removeSource(deps: TakeInDeps, task: TakeIn, arrival: Arrival): Promise<TakeInOutcome> {
  const { disk } = deps;
  try {
    const isSame = isSameLook(lookOf(await disk.lstat(task.source)), task.look);
    if (isSame) await disk.unlink(task.source);
    else await takeBack(deps, arrival.path);
    return isSame ? { kind: "taken", arrival } : { kind: "changed" };
  } catch (error) {
    // Somebody removed it after we had it durably: it has arrived.
    if (systemCodeOf(error) === "ENOENT") return { kind: "taken", arrival };
    await takeBack(deps, arrival.path);
    return { kind: "failed", error };
  }
}

async function takeBack(deps: TakeInDeps, path: string): Promise<void> {
  await deps.disk.unlink(path).catch(unlessMissing);
  deps.inbox.release(path);
}

/** Removes copies that a crash left in `inbound/`. */
export async function sweepCopies(deps: Pick<FolderDeps, "disk" | "runId">, inbound: string): Promise<void> {
  const folder = join(inbound, takingFolderName);
  const left = (await readdir(folder).catch(unlessMissing)) ?? [];
  for (const name of left) {
    if (!name.startsWith(`${deps.runId}-`)) await deps.disk.unlink(join(folder, name)).catch(unlessMissing);
    killPoint("folder.copySwept");
  }
}

function unlessThere(error: unknown): void {
  if (systemCodeOf(error) !== "EEXIST") throw error;
}
