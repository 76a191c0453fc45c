/** The order of arrival, in which pages of the ledger follow each other. */
/** An entry's place in the order of arrival. */
export interface ArrivalPlace {
  /** Milliseconds UTC. */
  readonly receivedAt: number;
  /** Ledger id. */
  readonly id: number;
}

/** From newer entries to older ones, or the other way. */
export type Direction = "older" | "newer";

/** Before the first entry of the way. */
export const beginOf: Readonly<Record<Direction, ArrivalPlace>> = {
  older: { receivedAt: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER },
  newer: { receivedAt: -1, id: -1 },
};

/** For `order by`. */
export const orderOf = { older: "desc", newer: "asc" } as const satisfies Record<Direction, string>;

/** Negative when the first place comes first on the way. */
export function comparePlaces(direction: Direction, one: ArrivalPlace, other: ArrivalPlace): number {
  const difference = one.receivedAt - other.receivedAt || one.id - other.id;
  return direction === "newer" ? difference : -difference;
}
