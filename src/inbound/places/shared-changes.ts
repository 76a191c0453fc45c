/**
 * Changes of names that a node makes beside the filing of files, where several nodes share the tree (`shared-moves.ts`). The
 * thread that files away makes them, in the order in which they and the filing were asked for: none stands in the way of
 * anything else the process does, however slow the storage is, and none comes behind what was decided after it.
 */
import { monotonicMs } from "../../lib/clock.ts";
import { messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { makeDirectoryOf, syncReceipt } from "./file-away.ts";
import {
  assertHeld,
  endTaking,
  type Hold,
  HoldOverError,
  type Inode,
  placeReceiptShared,
  removeReadReceipt,
  removeStaleShared,
  type Standing,
} from "./shared-moves.ts";

/** Until when the company is this node's, by `monotonicMs`. */
interface Held {
  readonly goodUntil: number;
}

export type SharedChange =
  | (Held & {
      readonly kind: "writeReceipt";
      readonly path: string;
      readonly text: string;
      readonly privateName: string;
      readonly onlyIf?: Standing | undefined;
    })
  | (Held & { readonly kind: "removeReceipt"; readonly path: string; readonly privateName: string })
  | {
      readonly kind: "removeReadReceipt";
      readonly path: string;
      readonly text: string;
      readonly file: Inode;
      readonly privateName: string;
    }
  | (Held & {
      readonly kind: "endTaking";
      readonly path: string;
      readonly from: string;
      readonly at: string;
    });

/** `isChanged`: whether there was something to do. "over": the company is another node's. */
export type SharedEnd =
  | { readonly kind: "done"; readonly isChanged: boolean }
  | { readonly kind: "over" }
  | { readonly kind: "failed"; readonly systemCode?: string | undefined; readonly message: string };

function holdUntil({ goodUntil }: Held): Hold {
  return { isOver: () => monotonicMs() >= goodUntil };
}

function writeReceipt(change: Extract<SharedChange, { kind: "writeReceipt" }>): boolean {
  makeDirectoryOf(change.path);
  if (!placeReceiptShared({ ...change, hold: holdUntil(change) })) return false;
  try {
    syncReceipt(change.path);
  } catch (error) {
    // A host was quick to delete it.
    unlessMissing(error);
  }
  return true;
}

function make(change: SharedChange): boolean {
  switch (change.kind) {
    case "writeReceipt":
      return writeReceipt(change);
    case "removeReceipt":
      return removeStaleShared(change.path, change.privateName, holdUntil(change));
    case "removeReadReceipt":
      return removeReadReceipt(change, change.privateName);
    case "endTaking":
      assertHeld(holdUntil(change));
      return endTaking(change.path, change);
  }
}

/** Makes the change; synchronous, for the thread that files away. Never throws. */
export function makeSharedChange(change: SharedChange): SharedEnd {
  try {
    return { kind: "done", isChanged: make(change) };
  } catch (error) {
    if (error instanceof HoldOverError) return { kind: "over" };
    return { kind: "failed", systemCode: systemCodeOf(error), message: messageOf(error) };
  }
}
