/**
 * Receipts that are removed or written beside the filing of a file: for the sake of one on its way, or again by the ledger.
 * Where several nodes share the tree, the thread that files away makes these changes (`shared-changes.ts`): a node that has
 * lost the company makes none, and each is undone when the lease is over by then.
 */
import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { monotonicMs } from "../../lib/clock.ts";
import { systemDisk } from "../../lib/files/durable-file.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { writeReceiptDurably } from "./file-away.ts";
import type { FilingThread } from "./filing-thread.ts";
import type { SharedChange } from "./shared-changes.ts";
import { goneEnding, HoldOverError, type ReadReceipt, type Standing } from "./shared-moves.ts";

export interface ReceiptFiles {
  /** Whether there was one. Rejects with `HoldOverError` when the company is another node's. */
  remove(path: string): Promise<boolean>;
  /**
   * Writes one, which survives a power failure when this resolves; false, and nothing is written, when it is not as `onlyIf`
   * says. It is in line with all other changes from the call on. Rejects with `HoldOverError` when the company is another
   * node's.
   */
  write(path: string, text: string, onlyIf?: Standing): Promise<boolean>;
  /** Resolves when none is changed any more; what is asked for from the call on rejects with `HoldOverError`. */
  end(): Promise<void>;
}

/** Mostly there is none, and an error costs several times as much as a stat. */
function isThereNow(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Of a process that has all companies for ever. */
export const soleReceiptFiles: ReceiptFiles = {
  async remove(path) {
    const wasThere = isThereNow(path);
    if (wasThere) await systemDisk.unlink(path).catch(unlessMissing);
    return wasThere;
  },
  async write(path, text, onlyIf) {
    if (onlyIf !== undefined && isThereNow(path) !== (onlyIf === "there")) return false;
    writeReceiptDurably(path, text);
    return true;
  },
  // Each is made where it is asked for.
  end: async () => undefined,
};

function newPrivateName(): string {
  return `.again.${randomBytes(4).toString("hex")}${goneEnding}`;
}

/** What a node does about receipts of companies that others have. */
export interface ReceiptsOfOthers {
  /** The receipt that is there, if any. */
  read(path: string): Promise<ReadReceipt | undefined>;
  /** Removes that one, and no other. */
  removeRead(receipt: ReadReceipt): Promise<void>;
}

export function receiptsOfOthers(thread: Pick<FilingThread, "change">): ReceiptsOfOthers {
  const privateName = newPrivateName();
  return {
    async read(path) {
      const handle = await open(path).catch(unlessMissing);
      if (handle === undefined) return undefined;
      try {
        const { ino, dev } = await handle.stat();
        return { path, file: { ino, dev }, text: await handle.readFile("utf8") };
      } finally {
        await handle.close();
      }
    },
    async removeRead(receipt) {
      await thread.change({ kind: "removeReadReceipt", ...receipt, privateName });
    },
  };
}

type Removal = Extract<SharedChange, { kind: "removeReceipt" }>;
type Writing = Extract<SharedChange, { kind: "writeReceipt" }>;
type Asked<Change> = Omit<Change, "privateName" | "goodUntil">;

/** Of one node of several, as long as it has the company: `goodForMs` says how long that is sure to be from now on. */
export class SharedReceiptFiles implements ReceiptFiles {
  readonly #thread: Pick<FilingThread, "change" | "receiptIdle">;
  readonly #goodForMs: () => number;
  readonly #privateName = newPrivateName();
  readonly #underWay = new Set<Promise<unknown>>();
  #isEnded = false;

  constructor(thread: Pick<FilingThread, "change" | "receiptIdle">, goodForMs: () => number) {
    this.#thread = thread;
    this.#goodForMs = goodForMs;
  }

  async remove(path: string): Promise<boolean> {
    // One that is still to be written is not seen by the look.
    await this.#thread.receiptIdle(path);
    const wasThere = (await lstat(path).catch(unlessMissing)) !== undefined;
    if (wasThere) await this.#change({ kind: "removeReceipt", path });
    return wasThere;
  }

  write(path: string, text: string, onlyIf?: Standing): Promise<boolean> {
    return this.#change({ kind: "writeReceipt", path, text, onlyIf });
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.allSettled(this.#underWay);
  }

  async #change(asked: Asked<Removal> | Asked<Writing>): Promise<boolean> {
    const change = this.#changeWhileHeld(asked).finally(() => this.#underWay.delete(change));
    this.#underWay.add(change);
    return await change;
  }

  async #changeWhileHeld(asked: Asked<Removal> | Asked<Writing>): Promise<boolean> {
    for (;;) {
      const goodForMs = this.#isEnded ? 0 : this.#goodForMs();
      if (goodForMs <= 0) throw new HoldOverError();
      const held = { privateName: this.#privateName, goodUntil: monotonicMs() + goodForMs };
      try {
        return await this.#thread.change({ ...asked, ...held });
      } catch (error) {
        // The lease was renewed since it was sent to the thread, perhaps.
        if (!(error instanceof HoldOverError)) throw error;
      }
    }
  }
}
