/**
 * Receipts that are removed or written beside the filing of a file: for the sake of one on its way, or again by the ledger.
 * Where several nodes share the tree, the thread that files away makes these changes (`shared-changes.ts`): a node that has
 * lost the company makes none, and each is undone when the lease is over by then.
 */
import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { open } from "node:fs/promises";
import { monotonicMs } from "../../lib/clock.ts";
import { systemDisk } from "../../lib/files/durable-file.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { isThere } from "../../lib/files/is-there.ts";
import { writeReceiptDurably } from "./file-away.ts";
import type { FilingThread } from "./filing-thread.ts";
import type { SharedChange } from "./shared-changes.ts";
import { goneEnding, HoldOverError, type ReadReceipt, type Standing } from "./shared-moves.ts";

export interface WritingReceipt {
  readonly onlyIf?: Standing | undefined;
  /** Asked when its turn has come: whether it is not to be written any more. */
  readonly isOver?: () => boolean;
}

export interface ReceiptFiles {
  /** Whether there was one. Rejects with `HoldOverError` when the company is another node's. */
  remove(path: string): Promise<boolean>;
  /**
   * Writes one, which survives a power failure when this resolves; false, and nothing is written, when it is over or not as
   * `onlyIf` says. It is in line with all other changes from the call on. Rejects with `HoldOverError` when the company is
   * another node's.
   */
  write(path: string, text: string, writing?: WritingReceipt): Promise<boolean>;
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
  async write(path, text, { onlyIf, isOver } = {}) {
    if (isOver?.() === true) return false;
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
      await thread.change(receipt.path, () => ({ kind: "removeReadReceipt", ...receipt, privateName }));
    },
  };
}

/** The lease was about to end in the middle of a change, which was undone, and was renewed meanwhile. */
class NotInTimeError extends Error {
  constructor(path: string) {
    super(`${path} was not changed in time: the file system took longer than the lease was good for`);
    this.name = "NotInTimeError";
  }
}

/** What a change is called for, and until when; undefined when it is not called for any more. */
type MakeChange = (held: {
  readonly privateName: string;
  readonly goodUntil: number;
}) => SharedChange | undefined;

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
    const wasThere = await isThere(path);
    for (;;) {
      try {
        return wasThere && (await this.#change(path, (held) => ({ kind: "removeReceipt", path, ...held })));
      } catch (error) {
        // The file for whose sake it goes is on its way, and keeps all others back: none of them comes in between.
        if (!(error instanceof NotInTimeError)) throw error;
      }
    }
  }

  write(path: string, text: string, { onlyIf, isOver }: WritingReceipt = {}): Promise<boolean> {
    return this.#change(path, (held) =>
      isOver?.() === true ? undefined : { kind: "writeReceipt", path, text, onlyIf, ...held },
    );
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.allSettled(this.#underWay);
  }

  async #change(path: string, makeChange: MakeChange): Promise<boolean> {
    const change = this.#changeWhileHeld(path, makeChange).finally(() => this.#underWay.delete(change));
    this.#underWay.add(change);
    return await change;
  }

  async #changeWhileHeld(path: string, makeChange: MakeChange): Promise<boolean> {
    try {
      return await this.#thread.change(path, () => {
        const goodForMs = this.#leftMs;
        if (goodForMs <= 0) throw new HoldOverError();
        return makeChange({ privateName: this.#privateName, goodUntil: monotonicMs() + goodForMs });
      });
    } catch (error) {
      if (error instanceof HoldOverError && this.#leftMs > 0) throw new NotInTimeError(path);
      throw error;
    }
  }

  get #leftMs(): number {
    return this.#isEnded ? 0 : this.#goodForMs();
  }
}
