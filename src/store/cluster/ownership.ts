/**
 * Which companies this process does the background work of: it decides about their files, scans their folders, delivers,
 * exports, prunes. On SQLite one process has all of them for ever. Nodes of one database have leases (`src/cluster`).
 */
import { monotonicMs } from "../../lib/clock.ts";
import type { Store } from "../database/database.ts";
import { type Fence, FencedError } from "../database/fence.ts";
import { mayRunBeforeOf } from "../database/groups/side-by-side.ts";

export interface Ownership {
  /** Nobody else ever has a company. */
  readonly isSole: boolean;
  /** From the claim of the lease until it is given back, lost or over; undefined otherwise. */
  fenceOf(companyId: number): Fence | undefined;
}

/** Until when the company is surely this node's, by `monotonicMs`: now, when it is another's. For what no transaction can refuse. */
export function heldUntil(ownership: Pick<Ownership, "fenceOf">, companyId: number): number {
  return monotonicMs() + (ownership.fenceOf(companyId)?.goodForMs?.() ?? 0);
}

/** A company whose work begins. */
export interface TakenCompany {
  /** 0 is what concerns no company: its code is empty. */
  readonly companyId: number;
  readonly companyCode: string;
  /**
   * When the node that had it last was surely there for the last time, milliseconds UTC; undefined when it gave it back and had
   * come to its end.
   */
  readonly orphanedAt: number | undefined;
}

/**
 * A part of the background work of companies, which begins and ends with their leases. Parts begin one after the other, and
 * end in reverse.
 */
export interface CompanyWork {
  readonly name: string;
  /**
   * The work of the company begins here: resolves when what another node has left is taken over. When it rejects, the lease is
   * given back after `leave`. The signal says that the company is lost meanwhile.
   */
  take(company: TakenCompany, signal: AbortSignal): Promise<void>;
  /**
   * The work of the company ends here. Resolves when nothing of it runs any more, and all that is in memory is forgotten:
   * after that the company may come back. `isFenced`: another node may have it already, so no file is touched. Rejects with a
   * `NotEndedError` when it was forgotten before it came to its end.
   */
  leave(company: TakenCompany, how: { readonly isFenced: boolean }, deadline: AbortSignal): Promise<void>;
  /** Whether something that a dead node has left is still to be taken over, though `take` has resolved; never unless given. */
  isTakingOver?(companyId: number): boolean;
}

/** The work of a company had not come to its end: whoever has the company next looks as after a death. */
export class NotEndedError extends Error {
  constructor() {
    super("the work of the company has not come to its end");
    this.name = "NotEndedError";
  }
}

/** That of a process which alone has all companies. */
export const soleOwnership: Ownership = {
  isSole: true,
  fenceOf: (companyId) => ({ companyId, epoch: 0 }),
};

type WritingStore = Pick<Store, "read" | "write" | "writeSoon">;

/**
 * A store for background work: a unit of one company is refused with a `FencedError` as soon as the company is not this
 * node's any more. Units of the `site` and of none are as they are. `isOrdered`: a unit is also refused, with an
 * `UnseenArrivalsError`, while other nodes have entered files that were not in line here when it was begun, unless it says
 * that these may come later (`besideArrivals`).
 */
export function fencedStore<S extends WritingStore>(
  store: S,
  ownership: Ownership,
  { isOrdered = false }: { readonly isOrdered?: boolean } = {},
): S {
  if (ownership.isSole) return store;
  const fenced =
    (write: WritingStore["write"]): WritingStore["write"] =>
    (whose, work) => {
      if (typeof whose !== "number") return write(whose, work);
      const fence = ownership.fenceOf(whose);
      if (fence === undefined) return Promise.reject(new FencedError(whose));
      const { companyId, epoch, beginInOrder, onTold } = fence;
      if (!isOrdered) return write(whose, work, { companyId, epoch, onTold });
      // What is put in line from now on was not in line when this was begun.
      const known = beginInOrder?.();
      const inOrder = { companyId, epoch, onTold, known, mayRunBefore: mayRunBeforeOf(work) };
      return write(whose, work, inOrder).finally(() => known?.end());
    };
  return { ...store, write: fenced(store.write), writeSoon: fenced(store.writeSoon) };
}
