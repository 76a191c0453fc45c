/**
 * What holds back a node that has lost the background work of a company to another one, and does not know it yet. Its units
 * of work carry the epoch of the lease under which they began; the transaction reads the epoch that is in force from the row
 * that it locks, and refuses those of another (specification/operation.md#several-nodes).
 */

import type { ArrivedFile } from "../cluster/arrivals.ts";

/** Files that other nodes have entered, as they were in line at some moment. */
export interface KnownArrivals {
  /** By its id in the ledger. */
  has(fileId: number): boolean;
  /** Until this call the database goes on telling of files that have come in line since then. */
  end(): void;
}

/** Whether something may be done before these files are in line. */
export type MayRunBefore = (unseen: readonly ArrivedFile[]) => boolean;

/** The right to do the background work of a company. */
export interface Fence {
  /** 0: what concerns no company. */
  readonly companyId: number;
  /** Of the lease; a later one has a higher one. */
  readonly epoch: number;
  /** For what begins at this call: those of the files that other nodes have entered which are in line then. */
  readonly beginInOrder?: () => KnownArrivals;
  /** For a unit that needs the order of files: which of them were in line when it was begun. */
  readonly known?: KnownArrivals | undefined;
  /** Whether the unit may run although there are these that were not; it may not unless given. */
  readonly mayRunBefore?: MayRunBefore | undefined;
  /** Called with what the lock of the lane tells. */
  readonly onTold?: ((told: ToldArrivals) => void) | undefined;
  /** How long the lease is good from now on, in milliseconds; 0 when it is over. For what no transaction can refuse. */
  readonly goodForMs?: () => number;
}

/** Files that other nodes have entered, and that are perhaps not in line. */
export interface ToldArrivals {
  readonly arrivals: readonly ArrivedFile[];
  /** Whether there are more of them than these. */
  readonly areMore: boolean;
}

/** The row of a lane, as the transaction has locked it. */
export interface LaneState extends ToldArrivals {
  readonly epoch: number;
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

/** Passes on what the lanes tell to those units whose fences are in force. */
export function passOn(
  units: Iterable<{ readonly fence: Fence | undefined }>,
  lanes: ReadonlyMap<number, LaneState>,
): void {
  const passed = new Set<number>();
  for (const { fence } of units) {
    if (fence?.onTold === undefined || passed.has(fence.companyId)) continue;
    const lane = lanes.get(fence.companyId);
    if (lane?.epoch !== fence.epoch) continue;
    passed.add(fence.companyId);
    fence.onTold(lane);
  }
}

/** Why a unit must not run in the transaction that has locked these rows; undefined when it may. */
export function refusalOf(fence: Fence | undefined, lanes: LockedLanes): Error | undefined {
  if (fence === undefined || lanes === undefined) return undefined;
  const lane = lanes.get(fence.companyId);
  if (lane === undefined || lane.epoch !== fence.epoch) return new FencedError(fence.companyId);
  const { known, mayRunBefore } = fence;
  if (known === undefined) return undefined;
  const unseen = lane.arrivals.filter(({ fileId }) => !known.has(fileId));
  const mayRun = unseen.length === 0 || mayRunBefore?.(unseen) === true;
  if (mayRun && !lane.areMore) return undefined;
  return new UnseenArrivalsError(fence.companyId);
}
