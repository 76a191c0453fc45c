/** The order in which the stops of a load are visited. */

/** A stop among those of its load. */
export interface ListedStop {
  readonly id: number;
  /** Its place in the list of the load import, from 0. */
  readonly listedPosition: number;
  /** `stopSeq` where it is a number. */
  readonly stopSeq: number | null;
}

const numeric = /^-?\d{1,15}(?:\.\d{1,15})?$/;

/** `stopSeq` as a number, which hosts send as text too; undefined when it is none. */
export function stopSeqNumberOf(stopSeq: string | number | undefined): number | undefined {
  if (typeof stopSeq === "number") return stopSeq;
  const text = stopSeq?.trim() ?? "";
  return numeric.test(text) ? Number(text) : undefined;
}

/** By `stopSeq` when every stop has a number and no two have the same; else as they were listed. */
export function visitOrder<Stop extends ListedStop>(stops: readonly Stop[]): readonly Stop[] {
  const numbers = new Set(stops.map(({ stopSeq }) => stopSeq).filter((stopSeq) => stopSeq !== null));
  const isSequenced = numbers.size === stops.length;
  const placeOf = (stop: Stop) => (isSequenced ? (stop.stopSeq ?? 0) : stop.listedPosition);
  return stops.toSorted((one, other) => placeOf(one) - placeOf(other) || one.id - other.id);
}
