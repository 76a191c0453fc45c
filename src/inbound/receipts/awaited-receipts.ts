/**
 * Names that have a file on its way. A host that has uploaded a file and finds a receipt of its name takes it for the
 * receipt of that file; so none of an earlier file of the name may be there, or appear, until it is decided about.
 *
 *   reserved ──> waiting ──> decided          counted from the reservation of the path on, before the file has its name
 *      └──> released (it was not placed): a receipt that was removed or left out for its sake is written again
 *
 * The content of a receipt that is removed or not written is in the ledger: a host that sends the same file again gets it.
 * What survives a crash: nothing; start-up removes the receipts of all names that lie in `inbound/`.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { nameOfSharers, receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import { CountedPaths } from "../places/counted-paths.ts";
import type { Channel } from "../places/inbox.ts";
import type { Locations } from "../places/locations.ts";
import { againFolderName, nameOfAgainFile } from "../places/place-arrival.ts";
import type { ReceiptFiles } from "../places/receipt-files.ts";
import { type Standing, unlessHoldOver } from "../places/shared-moves.ts";

/** Whose receipt it is. */
export interface ReceiptOwner {
  readonly companyId: number;
  readonly name: string;
}

/** Files that have one receipt between them. */
export function receiptKeyOf({ companyId, name }: ReceiptOwner): string {
  return `${companyId}/${nameOfSharers(name)}`;
}

export interface Restoring {
  /** Nothing is written any more. */
  readonly isOver: () => boolean;
  /** Also one that its host has collected. */
  readonly isCollectedToo: boolean;
  /** Only when it is that of this entry. */
  readonly onlyOf?: number;
  /** Only when there is one in its place, or none. */
  readonly onlyIf?: Standing;
}

/** Of a receipt that is to be written again now. */
export type WritingAgain = Partial<Omit<Restoring, "isOver">>;

/** "none": there is none to be written. "later": whether there is will be known later, or it cannot be written now. */
export type WrittenAgain = "written" | "none" | "later";

export interface AwaitedReceiptsDeps {
  readonly locations: Locations;
  readonly receiptFiles: ReceiptFiles;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  /** Resolves when the receipt is not being written. */
  readonly idle: (key: string) => Promise<void>;
  /** Writes the receipt of the last decided file of the name. */
  readonly restore: (owner: ReceiptOwner, restoring: Restoring) => Promise<WrittenAgain>;
  /** For lines of one kind that may be many. */
  readonly failing: LimitedLog;
}

const restorePauseMs = 5_000;
/** So many of those that may wait for other machines. */
const clearsAtOnce = 16;
const cannotBeRemoved = "the receipt of an earlier file cannot be removed";

export class AwaitedReceipts {
  readonly #deps: AwaitedReceiptsDeps;
  /** By their keys. 100,000 files may wait: nothing else is kept of one. */
  readonly #awaited = new CountedPaths();
  /** Keys of those for whose sake the receipt of an earlier file was removed, or not written. */
  readonly #withheld = new Set<string>();
  /** Keys of those for whose sake another node may have removed one. */
  readonly #removedElsewhere = new Set<string>();
  readonly #reserved = new Map<string, ReceiptOwner>();
  /** Receipts that are being written again. */
  readonly #restoring = new Map<string, AbortController>();
  /** The same for those that are written again once. */
  readonly #attempts = new Set<{ readonly key: string; isOver: boolean }>();
  #isStopped = false;

  constructor(deps: AwaitedReceiptsDeps) {
    this.#deps = deps;
  }

  /** Whether a file on its way is to have this receipt, so that none of an earlier one is written. */
  withholds(key: string): boolean {
    if (!this.#awaited.has(key)) return false;
    this.#withheld.add(key);
    return true;
  }

  reserve(path: string, owner: ReceiptOwner): void {
    // Before the earlier reservation is given back: what was withheld for that one is for this one.
    this.add(owner);
    this.#giveBack(path);
    this.#reserved.set(path, owner);
  }

  /** The file was not placed. */
  release(path: string): void {
    this.#giveBack(path);
  }

  /** The file waits. */
  add(owner: ReceiptOwner): void {
    const key = receiptKeyOf(owner);
    if (!this.#awaited.has(key) && this.#stopRestoring(key)) this.#withheld.add(key);
    for (const attempt of this.#attempts) if (attempt.key === key) attempt.isOver = true;
    this.#awaited.add(String(owner.companyId), nameOfSharers(owner.name));
  }

  /** It is decided about: its own receipt is written. */
  delete(owner: ReceiptOwner): void {
    this.#countDown(owner);
  }

  /** There was nothing to decide about: what was withheld for its sake is written again. */
  gone(owner: ReceiptOwner): void {
    const { isWithheld, isRemovedElsewhere } = this.#countDown(owner);
    // Whether there was one is known in the first case alone.
    if (isWithheld || isRemovedElsewhere) void this.#restore(owner, { isCollectedToo: isWithheld });
  }

  /**
   * Writes the receipt of the last decided file of the name again, by default unless it was collected. "later" when a file of
   * the name is on its way, or was since the call; when it is not as `onlyIf` says; when the receipt is being written
   * again already; and when the company is another node's. Rejects when it cannot be written.
   */
  async writeAgain(
    owner: ReceiptOwner,
    { isCollectedToo = false, onlyOf, onlyIf }: WritingAgain = {},
  ): Promise<WrittenAgain> {
    const key = receiptKeyOf(owner);
    if (this.#restoring.has(key) || this.#awaited.has(key)) return "later";
    const attempt = { key, isOver: false };
    const isOver = () => attempt.isOver || this.#restoring.has(key) || this.#isStopped;
    this.#attempts.add(attempt);
    try {
      return await this.#deps.restore(owner, { isOver, isCollectedToo, ...given({ onlyOf, onlyIf }) });
    } finally {
      this.#attempts.delete(attempt);
    }
  }

  /** Whether a file of the name is on its way; if that comes to nothing, the receipt is written again unless it was collected. */
  leavesTo(owner: ReceiptOwner): boolean {
    this.removedElsewhere(owner);
    return this.#awaited.has(receiptKeyOf(owner));
  }

  /** Removes the receipt of an earlier file of the name. Rejects when that cannot be done, and another node has not to do it. */
  async clear(owner: ReceiptOwner): Promise<void> {
    const { idle, locations, receiptFiles, companyCodeOf } = this.#deps;
    const key = receiptKeyOf(owner);
    await idle(key);
    const path = receiptPathOf(locations, await companyCodeOf(owner.companyId), owner.name);
    const wasThere = await receiptFiles.remove(path).catch(unlessHoldOver);
    if (wasThere === true) this.withholds(key);
  }

  /** The file was entered by another node, which has removed the receipt of an earlier file of the name if there was one. */
  removedElsewhere(owner: ReceiptOwner): void {
    const key = receiptKeyOf(owner);
    if (this.#awaited.has(key)) this.#removedElsewhere.add(key);
  }

  /**
   * No receipt is changed any more when this resolves. To be called when no file is entered here any more: none is answered
   * while the receipt of an earlier one of its name lies there.
   */
  end(): Promise<void> {
    return this.#deps.receiptFiles.end();
  }

  /** Nothing is written again any more. */
  stop(): void {
    this.#isStopped = true;
    for (const key of [...this.#restoring.keys()]) this.#stopRestoring(key);
  }

  /** Before anything is decided, of all companies or one: what lies in `inbound/` has no receipt yet. Ends early when stopped. */
  async clearWaiting(stopping: AbortSignal, companyCode?: string): Promise<void> {
    const { locations, receiptFiles } = this.#deps;
    const codes = companyCode === undefined ? await namesIn(locations.companiesDirectory) : [companyCode];
    for (const code of codes)
      await mapConcurrently(await receiptsOnTheirWay(locations, code), clearsAtOnce, async (path) => {
        if (stopping.aborted) return;
        await receiptFiles.remove(path).catch((error: unknown) => {
          if (systemCodeOf(error) !== "EISDIR" && systemCodeOf(error) !== "EPERM") throw error;
          // A folder in the way of one keeps no company from its work.
          this.#deps.failing.warn({ err: error, path }, cannotBeRemoved);
        });
      });
  }

  /** The same for files that have come to `inbound/` by themselves; no client waits who could be refused. */
  async clearAll(owners: readonly (ReceiptOwner & { readonly channel: Channel })[]): Promise<void> {
    for (const owner of owners) {
      if (owner.channel !== "folder" && owner.channel !== "recovered") continue;
      await this.clear(owner).catch((error: unknown) =>
        this.#deps.failing.warn({ err: error, file: owner.name }, cannotBeRemoved),
      );
    }
  }

  #giveBack(path: string): void {
    const owner = this.#reserved.get(path);
    this.#reserved.delete(path);
    if (owner !== undefined) this.gone(owner);
  }

  /** What was done for the sake of files of the name, when none is on its way any more. */
  #countDown(owner: ReceiptOwner): { readonly isWithheld: boolean; readonly isRemovedElsewhere: boolean } {
    const key = receiptKeyOf(owner);
    this.#awaited.delete(String(owner.companyId), nameOfSharers(owner.name));
    if (this.#awaited.has(key)) return { isWithheld: false, isRemovedElsewhere: false };
    const [isWithheld, isRemovedElsewhere] = [this.#withheld.delete(key), this.#removedElsewhere.delete(key)];
    return { isWithheld, isRemovedElsewhere };
  }

  #stopRestoring(key: string): boolean {
    this.#restoring.get(key)?.abort();
    return this.#restoring.delete(key);
  }

  /** Until it is written, or another file of the name is on its way. */
  async #restore(owner: ReceiptOwner, { isCollectedToo }: Pick<Restoring, "isCollectedToo">): Promise<void> {
    if (this.#isStopped) return;
    const key = receiptKeyOf(owner);
    const over = new AbortController();
    this.#stopRestoring(key);
    this.#restoring.set(key, over);
    while (!over.signal.aborted) {
      try {
        await this.#deps.restore(owner, { isOver: () => over.signal.aborted, isCollectedToo });
        if (!over.signal.aborted) this.#restoring.delete(key);
        return;
      } catch (error) {
        if (over.signal.aborted) return;
        const message = "the receipt of an earlier file cannot be written again; retrying";
        this.#deps.failing.warn({ err: error, file: owner.name }, message);
        await wait(restorePauseMs, undefined, { signal: over.signal, ref: false }).catch(() => undefined);
      }
    }
  }
}

/** Where the receipts of the files will lie that lie in `inbound/` now. */
export async function receiptsOnTheirWay(
  locations: Locations,
  companyCode: string,
): Promise<readonly string[]> {
  const inbound = locations.inboundDirectory(companyCode);
  const own = (await namesIn(inbound)).filter((name) => !name.startsWith("."));
  const again = (await namesIn(join(inbound, againFolderName))).map(nameOfAgainFile);
  return [...own, ...again].map((name) => receiptPathOf(locations, companyCode, name));
}

/** In `receipts/`, of a file of this name. */
export function receiptPathOf(locations: Locations, companyCode: string, name: string): string {
  return join(locations.receiptsDirectory(companyCode), receiptNameOf(name));
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(unlessMissing)) ?? [];
}
