/**
 * Where the pass of a kind was cut off. What stays may keep a mark where it is, with more behind it than a pass has time for:
 * the next one begins where the last was cut off, and when that has come to the end, the one after begins with the oldest.
 */
import type { Mark } from "../../store/ledger/file-retention.ts";

/**
 * By what is gone through, as `archive 1` for a company, or `positions` for all of them; kept from pass to pass. Where it is not
 * files that are gone through, `decidedAt` and `fileId` are the order of theirs.
 */
export type Places = Map<string, Mark>;

export interface Way {
  /** How far a pass has come behind its mark; undefined while it has not gone past that. */
  place: Mark | undefined;
}

/** Begins where the pass before was cut off; keeps where this one is. Rejects as the work does. */
export async function fromPlace(
  places: Places | undefined,
  { key, signal }: { readonly key: string; readonly signal: AbortSignal },
  work: (way: Way) => Promise<void>,
): Promise<void> {
  const way: Way = { place: places?.get(key) };
  places?.delete(key);
  try {
    await work(way);
  } catch (error) {
    if (signal.aborted && way.place !== undefined) places?.set(key, way.place);
    throw error;
  }
}
