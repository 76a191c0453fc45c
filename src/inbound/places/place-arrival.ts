/**
 * The last step of every arrival: a file whose bytes are durable gets its final name in `inbound/`.
 *
 *   reserve → remove the receipt of an earlier file of the name → link to the final name (never overwriting)
 *   → unlink the old name, sync the folder
 *
 * Where another node has the work of the company, nobody here knows which names are taken: each file goes to `.again/`, and is
 * in the ledger before it has arrived (`enterElsewhere`).
 *
 * A name that is taken by an earlier file still waiting goes to `inbound/.again/<12 hex>-<name>`: both wait. What survives
 * a crash: before the link nothing has arrived; after it the file stands under its final name and start-up recovers it;
 * the old name may be left as a second link to the same bytes, which the sweep of unfinished parts removes.
 */
import { randomBytes } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { mkdir } from "../../lib/files/changes.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import { systemCodeOf } from "../../lib/errors.ts";
import { type PinnedFolder, pinChild } from "../../lib/files/open-regular-file.ts";
import type { Arrival, Reservation, Reservations } from "./inbox.ts";

/** The folder inside `inbound/` for files whose name is taken by one that still waits. */
export const againFolderName = ".again";

/** The folder inside `inbound/` for files of `inbound/` while copies are put in their places. */
export const asideFolderName = ".aside";

export interface PlacementDeps {
  readonly inbox: Reservations;
  readonly disk?: DiskCalls;
}

export interface Placement {
  /** Where the synced bytes lie now, on the file system of `inbound`. */
  readonly from: string;
  /** The company's `inbound/`, held open. */
  readonly inbound: PinnedFolder;
  readonly arrival: Omit<Arrival, "path">;
}

/** What `.again` has room for behind its own 13 bytes. */
const maxAgainBytes = 255 - 13;

/** Whether the name is cut in `.again`, so that the ledger alone knows it whole. */
export function isCutInAgain(name: string): boolean {
  return Buffer.byteLength(name) > maxAgainBytes;
}

/** Whether a name as it stands in `.again`, without the mark, may be the end of a longer one. */
export function mayBeCutInAgain(kept: string): boolean {
  // A character that was cut off has up to four bytes.
  return Buffer.byteLength(kept) > maxAgainBytes - 4;
}

/** Whether the path is that of a file in `.again`. */
export function isInAgain(path: string): boolean {
  return basename(dirname(path)) === againFolderName;
}

/** Marks the names of one file in dot-folders: 12 hex digits. */
export function newMark(): string {
  return randomBytes(6).toString("hex");
}

/** A name in `.again`: `<12 hex>-<name>`, the front of the name cut off when it would be over-long. */
export function newAgainName(name: string, mark = newMark()): string {
  let kept = name;
  while (isCutInAgain(kept)) kept = kept.slice(1);
  return `${mark}-${kept}`;
}

/** The mark that a name in `.again` or `.aside` begins with. */
export function markOf(fileName: string): string {
  return fileName.slice(0, 12);
}

/** The name a host gave to a file that lies in `.again`. */
export function nameOfAgainFile(fileName: string): string {
  return /^[0-9a-f]{12}-/.test(fileName) ? fileName.slice(13) : fileName;
}

/** Whether the file in `.again` was given that name by its host. */
export function isAgainFileOf(fileName: string, name: string): boolean {
  const kept = nameOfAgainFile(fileName);
  return kept === name || (Buffer.byteLength(fileName) > 255 - 4 && kept !== "" && name.endsWith(kept));
}

/** A path under which the file is about to lie. */
interface Announced extends Reservation {
  readonly path: string;
}

function announce({ inbox }: PlacementDeps, arrival: Placement["arrival"], path: string): Announced {
  const holder = inbox.holderOf(arrival.companyId);
  if (holder !== undefined) inbox.reserve(path, arrival);
  return { path, holder };
}

/** Links without overwriting, under a reservation; undefined when the name is taken. */
async function linkReserved(
  deps: PlacementDeps,
  { from, arrival }: Placement,
  to: { call: string; path: string },
): Promise<Announced | undefined> {
  const announced = announce(deps, arrival, to.path);
  try {
    if (announced.holder !== undefined) await deps.inbox.clearReceipt(arrival);
    await (deps.disk ?? systemDisk).link(from, to.call);
    return announced;
  } catch (error) {
    announced.holder?.release(to.path);
    if (systemCodeOf(error) === "EEXIST") return undefined;
    throw error;
  }
}

async function placeAgain(deps: PlacementDeps, placement: Placement): Promise<Announced> {
  const { inbound, from, arrival } = placement;
  // Also here, because an administrator may have tidied the dot-folder away.
  await mkdir(inbound.child(againFolderName), { recursive: true, mode: 0o750 });
  const folder = await pinChild(inbound, againFolderName, deps.disk);
  try {
    const name = newAgainName(arrival.name);
    const path = join(folder.path, name);
    const linked = await linkReserved(deps, placement, { call: folder.child(name), path });
    if (linked === undefined) return await placeAgain(deps, placement);
    const unlinked = (deps.disk ?? systemDisk).unlink(from);
    await finishReserved(linked, [folder.sync(), inbound.sync(), unlinked]);
    return linked;
  } finally {
    await folder.close();
  }
}

/** Waits for folder and old name. When one fails the file has its final name already, so the scan may take it. */
async function finishReserved({ path, holder }: Announced, rest: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(rest);
  // Not before all have ended: whoever is told of a fault goes on with these names.
  for (const end of ends) {
    if (end.status !== "rejected") continue;
    holder?.release(path);
    throw end.reason;
  }
}

/** Under the name that the host gave it; undefined when the name is taken, or nobody here knows whether it is. */
async function placeByName(deps: PlacementDeps, placement: Placement): Promise<Announced | undefined> {
  const { inbound, from, arrival } = placement;
  if (deps.inbox.holderOf(arrival.companyId) === undefined) return undefined;
  const [path, call] = [join(inbound.path, arrival.name), inbound.child(arrival.name)];
  const linked = await linkReserved(deps, placement, { call, path });
  // Side by side: nothing depends on the old name being gone, and the sync is what takes the time.
  if (linked !== undefined)
    await finishReserved(linked, [inbound.sync(), (deps.disk ?? systemDisk).unlink(from)]);
  return linked;
}

/**
 * Gives the file its final name, durably. Resolves with the arrival, which the caller hands to the pipeline; its path is
 * reserved until then, unless another node had the work of the company. When it throws before the link the file still has its
 * old name and has not arrived.
 */
export async function placeArrival(deps: PlacementDeps, placement: Placement): Promise<Arrival> {
  const placed = (await placeByName(deps, placement)) ?? (await placeAgain(deps, placement));
  const { path, holder } = placed;
  return { ...placement.arrival, path, reservation: { holder } };
}
