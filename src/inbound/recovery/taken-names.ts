/**
 * Names that a node has taken away in the middle of a move, and neither removed nor given back, because it died then. Who files
 * the task anew tidies up after it; what its task does not meet is found here: a node was frozen, lost the company, woke up amid
 * the move of a file that was filed by then, and died.
 *
 *   inbound/, .again   .<id>.<mark>.gone                    removed, or given back when it is another file
 *   receipts/          .<id or again>.<mark>.gone, .former  the receipt of the name is written again by the ledger, unless it
 *                                                           was collected; then it is removed
 *                      .<id or again>.<mark>.gone.new       removed: nothing was taken away for it
 *                      .<id>.pruned                         taken aside as too old: given back, to be looked at again
 *
 * What is left in `error/` is ended before the receipts of a dead node are compared (`receipts-beside.ts`).
 *
 * Whoever makes such a name needs it for a moment. One that is there at two looks is of a node that died, or stands still: that
 * one finds it gone when it goes on, and changes nothing.
 */
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { receiptNameOf } from "../../domain/files/stop-file-name.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { unlink } from "../../lib/files/changes.ts";
import { putBack } from "../../lib/files/put-back.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import { heldUntil, type Ownership, type TakenCompany } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";
import { findFile } from "../../store/ledger/files.ts";
import type { Locations } from "../places/locations.ts";
import { againFolderName } from "../places/place-arrival.ts";
import type { FilingThread } from "../places/filing-thread.ts";
import { unlessHoldOver } from "../places/shared-moves.ts";
import type { AwaitedReceipts } from "../receipts/awaited-receipts.ts";
import { entryAnsweredAt } from "./answered-entry.ts";

export interface TakenNamesDeps {
  readonly company: TakenCompany;
  readonly ownership: Pick<Ownership, "fenceOf">;
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "open">;
  readonly receipts: Pick<AwaitedReceipts, "writeAgain">;
  readonly filingThread: Pick<FilingThread, "change">;
  readonly log: Logger;
  readonly failing: LimitedLog;
}

export const takenLookMs = 30_000;
/** Names in `receipts/` are taken away rarely, and there may be many: of so many looks two in a row go there. */
const looksForReceipts = 120;

const fileForm = /^\.(\d+)\.[0-9a-f]+\.gone$/;
const receiptForm = /^\.(?:(?:\d+|again)\.[0-9a-f]+\.gone(?:\.new|\.former)?|\d+\.pruned)$/;

/** A folder that is not listed again while its time stays what it was. */
class LookedAt {
  #modifiedMs: number | undefined;
  #isSure = false;

  /**
   * Whether nothing can have come since the last listing. A file system may count the time in steps, or tell it late: so what was
   * changed is listed twice.
   */
  async isUnchanged(folder: string): Promise<boolean> {
    const modifiedMs = (await stat(folder).catch(unlessMissing))?.mtimeMs ?? 0;
    const isSame = this.#modifiedMs === modifiedMs;
    const wasSure = this.#isSure;
    this.#modifiedMs = modifiedMs;
    this.#isSure = isSame;
    return isSame && wasSure;
  }

  /** It has something to come back to, or could not be listed. */
  again(): void {
    this.#modifiedMs = undefined;
  }
}

export class TakenNames {
  readonly #deps: TakenNamesDeps;
  readonly #folders: readonly { readonly path: string; readonly lookedAt: LookedAt }[];
  #looks = 0;
  /** Found at the look before. */
  #found: ReadonlySet<string> = new Set();

  constructor(deps: TakenNamesDeps) {
    this.#deps = deps;
    const inbound = deps.locations.inboundDirectory(deps.company.companyCode);
    this.#folders = [inbound, join(inbound, againFolderName)].map((path) => {
      return { path, lookedAt: new LookedAt() };
    });
  }

  /** Ends what was there at the look before too, unless stopped, or the company is another node's. Never rejects. */
  async look(stopping: AbortSignal): Promise<void> {
    const { ownership, company } = this.#deps;
    const mayGoOn = () => !stopping.aborted && ownership.fenceOf(company.companyId) !== undefined;
    const before = this.#found;
    const found = new Set<string>();
    this.#found = found;
    for (const { path, lookedAt } of this.#folders) {
      if (await lookedAt.isUnchanged(path).catch(() => false)) continue;
      const isDone = await this.#eachOf(path, fileForm, async (taken) => {
        found.add(taken);
        lookedAt.again();
        if (before.has(taken)) await this.#endFile(taken, mayGoOn);
        return true;
      });
      if (!isDone) lookedAt.again();
    }
    if (this.#looks % looksForReceipts < 2) {
      const isDone = await this.#eachOf(this.#receipts, receiptForm, async (taken) => {
        found.add(taken);
        return !before.has(taken) || (await this.#endReceipt(taken, mayGoOn));
      });
      if (!isDone) return;
    }
    this.#looks += 1;
  }

  get #receipts(): string {
    return this.#deps.locations.receiptsDirectory(this.#deps.company.companyCode);
  }

  /** False when the folder cannot be read, or one of them is not ended: it keeps no other back. */
  async #eachOf(folder: string, form: RegExp, end: (path: string) => Promise<boolean>): Promise<boolean> {
    let isDone = true;
    const warn = (error: unknown, path: string): boolean => {
      const message = "what a node that died has left cannot be ended; retrying";
      this.#deps.failing.warn({ err: error, path }, message);
      return false;
    };
    try {
      const names = (await readdir(folder).catch(unlessMissing)) ?? [];
      for (const path of names.filter((name) => form.test(name)).map((name) => join(folder, name)))
        isDone = (await end(path).catch((error: unknown) => warn(error, path))) && isDone;
      return isDone;
    } catch (error) {
      return warn(error, folder);
    }
  }

  async #endFile(path: string, mayGoOn: () => boolean): Promise<void> {
    const { locations, store, log, company, ownership, filingThread } = this.#deps;
    const entry = await findFile(store.read, Number(fileForm.exec(basename(path))?.[1]));
    if (entry === undefined || !mayGoOn()) return;
    const source = locations.fromLedger(entry.source);
    // An entry that was tried again has its source elsewhere.
    const isOfTask = dirname(source) === dirname(path);
    if (isOfTask && !entry.isFiled) return;
    const from = isOfTask ? source : join(locations.inboundDirectory(company.companyCode), entry.name);
    const at = locations.fromLedger(entry.location);
    const ending = filingThread.change(path, () => {
      return { kind: "endTaking", path, from, at, goodUntil: heldUntil(ownership, company.companyId) };
    });
    if ((await ending.catch(unlessHoldOver)) === true)
      log.warn(
        { fileId: entry.id, file: entry.name },
        "a file that a node had taken away before it died was given back",
      );
  }

  /** False when the receipt cannot be written now. */
  async #endReceipt(path: string, mayGoOn: () => boolean): Promise<boolean> {
    if (!path.endsWith(".new")) {
      const entry = await entryAnsweredAt(this.#deps, path);
      if (!mayGoOn()) return false;
      if (entry !== undefined && path.endsWith(".pruned")) {
        await putBack(path, join(this.#receipts, receiptNameOf(entry.name)));
        return true;
      }
      const isLeft = entry !== undefined && (await this.#deps.receipts.writeAgain(entry)) === "later";
      if (isLeft) return false;
    }
    // Written again only while the company was this node's.
    if (!mayGoOn()) return false;
    await unlink(path).catch(unlessMissing);
    return true;
  }
}
