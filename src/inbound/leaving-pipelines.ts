/**
 * What the work of companies is that end here, or do not decide yet. A company that is given back waits for the files whose
 * paths were reserved before that; one whose work is given up does not:
 *
 *   leaving ──all has ended──> given back
 *      └──lease lost, or the deadline has come──> forgotten: what ends here is entered as by a node that has not the company,
 *                                                 which removes the receipt of an earlier file of the name before it answers
 */
import type { Pipeline } from "./pipeline.ts";
import type { Arrival, ReservationHolder } from "./places/inbox.ts";

/** Whether the pipeline is to have the file, as far as its reservation says. */
export function isHeldBy(holder: ReservationHolder | undefined, { reservation }: Arrival): boolean {
  return holder !== undefined && (reservation === undefined || reservation.holder === holder);
}

export class LeavingPipelines extends Map<number, Pipeline> {
  readonly #forgotten = new WeakSet<Pipeline>();

  /** The company waits for nothing of it any more. */
  async forget(pipeline: Pipeline): Promise<void> {
    this.#forgotten.add(pipeline);
    await pipeline.forget();
  }

  /** Whether the company waits for the file. */
  waitsFor(arrival: Arrival): boolean {
    const pipeline = this.get(arrival.companyId);
    if (pipeline === undefined || this.#forgotten.has(pipeline)) return false;
    return isHeldBy(pipeline, arrival) && pipeline.isKnown(arrival.path);
  }
}
