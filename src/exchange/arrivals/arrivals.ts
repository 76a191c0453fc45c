/**
 * What makes the arrival of uploads quick, behind one interface. docs/decisions/0017-speed-parts.md says what each part
 * brings, and how to take it out.
 *
 *   gathered-arrivals.ts   files of a burst go to the pipeline in groups
 *   heap-growth.ts         the heap may grow while much is received, and a large one is collected sooner
 *   shared-reads.ts        sockets of signed-in users read into one buffer; for endpoints that make sockets
 */
import type { ArrivalSink } from "../../inbound/places/inbox.ts";
import { type GatheringInbox, gatherArrivals } from "./gathered-arrivals.ts";
import { HeapGrowth } from "./heap-growth.ts";

export interface Arrivals extends ArrivalSink {
  /** Gives the heap its usual limit back. */
  stop(): void;
}

/** Takes arrivals for the pipeline. */
export function createArrivals(inbox: GatheringInbox): Arrivals {
  const heap = new HeapGrowth();
  return {
    ...gatherArrivals(inbox),
    received: (bytes) => heap.received(bytes),
    stop: () => heap.stop(),
  };
}
