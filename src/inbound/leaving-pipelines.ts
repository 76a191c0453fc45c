/**
 * The pipelines of companies whose work ends here, or has not come so far that it decides. A company that is given back waits
 * for the files whose paths were reserved before that; one whose work is given up does not:
 *
 *   taken over ──all is in line──> decides, and is not among these any more
 *   leaving ──all has ended──> given back
 *      └──lease lost, or the deadline has come──> given up: what ends here is entered as by a node that has not the company,
 *                                                 which removes the receipt of an earlier file of the name before it answers
 */
import type { Pipeline } from "./pipeline.ts";
import type { Arrival, ReservationHolder } from "./places/inbox.ts";

/** Whether the pipeline is to have the file, as far as its reservation says. */
export function isHeldBy(holder: ReservationHolder | undefined, { reservation }: Arrival): boolean {
  return holder !== undefined && (reservation === undefined || reservation.holder === holder);
}

export class LeavingPipelines extends Map<number, Pipeline> {
  readonly #givenUp = new WeakSet<Pipeline>();

  /** The company waits for nothing of it any more; it stays among these until it is deleted. */
  async giveUp(pipeline: Pipeline): Promise<void> {
    this.#givenUp.add(pipeline);
    await pipeline.forget();
  }

  /** Whether the company waits for the file. */
  waitsFor(arrival: Arrival): boolean {
    const pipeline = this.get(arrival.companyId);
    if (pipeline === undefined || this.#givenUp.has(pipeline)) return false;
    return isHeldBy(pipeline, arrival) && pipeline.isKnown(arrival.path);
  }
}
