/**
 * What holds back a node that has lost the background work of a company to another one, and does not know it yet. Its units
 * of work carry the epoch of the lease under which they began; the transaction reads the epoch that is in force from the row
 * that it locks, and refuses those of another (specification/operation.md#several-nodes).
 */

import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/** The right to do the background work of a company. */
export interface Fence {
  /** 0: what concerns no company. */
  readonly companyId: number;
  /** Of the lease; a later one has a higher one. */
  readonly epoch: number;
  /** How many of the files that other nodes have entered are known: with more, the order of files is not known. */
  readonly seen?: () => number;
  /** Whether the unit may run although there are more, asked in its transaction; it may not unless given. */
  readonly mayRunBefore?: ((tx: Kysely<Tables>) => Promise<boolean>) | undefined;
  /** How long the lease is good from now on, in milliseconds; 0 when it is over. For what no transaction can refuse. */
  readonly goodForMs?: () => number;
}

/** The row of a lane, as the transaction has locked it. */
export interface LaneState {
  readonly epoch: number;
  readonly arrived: number;
}

/** The rows that a transaction has locked, by company; undefined where one process has all companies for ever. */
export type LockedLanes = ReadonlyMap<number, LaneState> | undefined;

/** Another node does the work of the company now, or soon will: nothing was written, and nothing is to be tried again here. */
export class FencedError extends Error {
  readonly companyId: number;

  constructor(companyId: number) {
    super(`the work of company ${companyId} is another node's`);
    this.name = "FencedError";
    this.companyId = companyId;
  }
}

/** Another node has entered files that are not in line yet: nothing was written; it is to be decided again with them. */
export class UnseenArrivalsError extends Error {
  constructor(companyId: number) {
    super(`another node has entered files of company ${companyId} that are not in line yet`);
    this.name = "UnseenArrivalsError";
  }
}

/** Why a unit must not run in the transaction that has locked these rows; undefined when it may. */
export function refusalOf(fence: Fence | undefined, lanes: LockedLanes): Error | undefined {
  if (fence === undefined || lanes === undefined) return undefined;
  const lane = lanes.get(fence.companyId);
  if (lane === undefined || lane.epoch !== fence.epoch) return new FencedError(fence.companyId);
  if (fence.seen !== undefined && fence.seen() < lane.arrived)
    return new UnseenArrivalsError(fence.companyId);
  return undefined;
}
