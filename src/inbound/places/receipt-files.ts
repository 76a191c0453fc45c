/**
 * Receipts that are removed or written beside the filing of a file: for the sake of one on its way, or again by the ledger.
 * Where several nodes share the tree, a node that has lost the company changes none: each change is made as `shared-moves.ts`
 * tells, and undone when the lease is over by then.
 */
import { randomBytes } from "node:crypto";
import { lstatSync } from "node:fs";
import { open } from "node:fs/promises";
import { systemDisk } from "../../lib/files/durable-file.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { makeDirectoryOf, syncReceipt, writeReceiptDurably } from "./file-away.ts";
import {
  goneEnding,
  type Hold,
  placeReceiptShared,
  type ReadReceipt,
  removeReadReceipt,
  removeStaleShared,
} from "./shared-moves.ts";

export interface ReceiptFiles {
  /** Whether there was one. Throws `HoldOverError` when the company is another node's. */
  remove(path: string): Promise<boolean>;
  /** It survives a power failure when this returns. Throws `HoldOverError` when the company is another node's. */
  write(path: string, text: string): void;
}

/** Mostly there is none, and an error costs several times as much as a stat. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Of a process that has all companies for ever. */
export const soleReceiptFiles: ReceiptFiles = {
  async remove(path) {
    const wasThere = isThere(path);
    if (wasThere) await systemDisk.unlink(path).catch(unlessMissing);
    return wasThere;
  },
  write: writeReceiptDurably,
};

function newPrivateName(): string {
  return `.again.${randomBytes(4).toString("hex")}${goneEnding}`;
}

/** What a node does about receipts of companies that others have. */
export interface ReceiptsOfOthers {
  /** The receipt that is there, if any. */
  read(path: string): Promise<ReadReceipt | undefined>;
  /** Removes that one, and no other. */
  removeRead(receipt: ReadReceipt): void;
}

export function receiptsOfOthers(): ReceiptsOfOthers {
  const privateName = newPrivateName();
  return {
    async read(path) {
      const handle = isThere(path) ? await open(path).catch(unlessMissing) : undefined;
      if (handle === undefined) return undefined;
      try {
        return { path, file: await handle.stat(), text: await handle.readFile("utf8") };
      } finally {
        await handle.close();
      }
    },
    removeRead: (receipt) => removeReadReceipt(receipt, privateName),
  };
}

/** Of one node of several, as long as the hold lasts. */
export function sharedReceiptFiles(hold: Hold): ReceiptFiles {
  const privateName = newPrivateName();
  return {
    async remove(path) {
      const wasThere = isThere(path);
      if (wasThere) removeStaleShared(path, privateName, hold);
      return wasThere;
    },
    write(path, text) {
      makeDirectoryOf(path);
      placeReceiptShared({ path, text, privateName, hold });
      try {
        syncReceipt(path);
      } catch (error) {
        // A host was quick to delete it.
        unlessMissing(error);
      }
    },
  };
}
