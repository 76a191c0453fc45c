/**
 * Names that have a file on its way. A host that has uploaded a file and finds a receipt of its name takes it for the
 * receipt of that file; so none of an earlier file of the name may be there, or appear, until it is decided about.
 *
 *   reserved ──> waiting ──> decided          counted from the reservation of the path on, before the file has its name
 *      └──> released (it was not placed)
 *
 * The content of a receipt that is removed or not written is in the ledger: whoever sends the same file again has it. What
 * survives a crash: nothing; start-up removes the receipts of all names that lie in `inbound/`.
 */
import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { receiptNameOf } from "../domain/stop-file-name.ts";
import { systemDisk } from "../lib/durable-file.ts";
import { unlessMissing } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { LimitedLog } from "../lib/limited-log.ts";
import type { Channel } from "./inbox.ts";
import type { Locations } from "./locations.ts";
import { againFolderName, nameOfAgainFile } from "./place-arrival.ts";

/** Whose receipt it is. */
export interface ReceiptOwner {
  readonly companyId: number;
  readonly name: string;
}

/** Files that have one receipt between them. */
export function receiptKeyOf({ companyId, name }: ReceiptOwner): string {
  return `${companyId}/${receiptNameOf(name)}`;
}

export interface AwaitedReceiptsDeps {
  readonly locations: Locations;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  /** Resolves when the receipt is not being written. */
  readonly idle: (key: string) => Promise<void>;
  /** For what may be many lines of one kind. */
  readonly failing: LimitedLog;
}

export class AwaitedReceipts {
  readonly #deps: AwaitedReceiptsDeps;
  readonly #counts = new Map<string, number>();
  readonly #reserved = new Map<string, string>();

  constructor(deps: AwaitedReceiptsDeps) {
    this.#deps = deps;
  }

  /** Whether a file on its way is to have this receipt. */
  has(key: string): boolean {
    return this.#counts.has(key);
  }

  reserve(path: string, owner: ReceiptOwner): void {
    this.release(path);
    this.#reserved.set(path, receiptKeyOf(owner));
    this.add(owner);
  }

  release(path: string): void {
    const key = this.#reserved.get(path);
    this.#reserved.delete(path);
    if (key !== undefined) this.#count(key, -1);
  }

  /** The file waits. */
  add(owner: ReceiptOwner): void {
    this.#count(receiptKeyOf(owner), 1);
  }

  /** It is decided about, or gone. */
  delete(owner: ReceiptOwner): void {
    this.#count(receiptKeyOf(owner), -1);
  }

  /** Removes the receipt of an earlier file of the name. Rejects when that cannot be done. */
  async clear(owner: ReceiptOwner): Promise<void> {
    const { idle, locations, companyCodeOf } = this.#deps;
    await idle(receiptKeyOf(owner));
    await removeReceipt(locations, await companyCodeOf(owner.companyId), owner.name);
  }

  /** The same for files that have come to `inbound/` by themselves; nobody waits for an answer who could be refused. */
  async clearAll(owners: readonly (ReceiptOwner & { readonly channel: Channel })[]): Promise<void> {
    for (const owner of owners) {
      if (owner.channel !== "folder" && owner.channel !== "recovered") continue;
      await this.clear(owner).catch((error: unknown) =>
        this.#deps.failing.warn(
          { err: error, file: owner.name },
          "the receipt of an earlier file cannot be removed",
        ),
      );
    }
  }

  #count(key: string, by: 1 | -1): void {
    const count = (this.#counts.get(key) ?? 0) + by;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}

/** Removes the receipt in `receipts/` that a file of this name would have. */
async function removeReceipt(locations: Locations, companyCode: string, name: string): Promise<void> {
  const path = join(locations.receiptsDirectory(companyCode), receiptNameOf(name));
  // Mostly there is none, and an error costs several times as much as a look.
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (isThere) await systemDisk.unlink(path).catch(unlessMissing);
  killPoint("receipt.cleared");
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(unlessMissing)) ?? [];
}

/** For start-up, before anything is decided: what lies in `inbound/` has no receipt yet. */
export async function removeReceiptsOfWaiting(locations: Locations): Promise<void> {
  for (const code of await namesIn(join(locations.stateDir, "companies"))) {
    const inbound = locations.inboundDirectory(code);
    const own = (await namesIn(inbound)).filter((name) => !name.startsWith("."));
    const again = (await namesIn(join(inbound, againFolderName))).map(nameOfAgainFile);
    for (const name of [...own, ...again]) await removeReceipt(locations, code, name);
  }
}
