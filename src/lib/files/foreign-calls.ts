/**
 * Calls to file systems that are not ours: drop folders, folder targets, files that remotes name. A share whose server is gone answers none of them,
 * and each keeps a thread of the runtime's pool, which uploads need too. So all of them together get half of the pool: with
 * any number of dead shares the other half goes on.
 *
 *   asked ─> waits for a place, in order of arrival ─> in the pool ─> answered: the place goes to the next
 *                                                       └ never: the place is lost until the share is back
 */
import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import { ConcurrencyLimit } from "../concurrency.ts";

/** The runtime's own default. */
const defaultPoolThreads = 4;

/** How many places there are, by the variable that sets the size of the pool. */
export function foreignPlaces(poolSize: string | undefined): number {
  const threads = Number(poolSize ?? defaultPoolThreads);
  return Math.max(1, Math.floor((threads > 0 ? threads : defaultPoolThreads) / 2));
}

const places = new ConcurrencyLimit(foreignPlaces(process.env["UV_THREADPOOL_SIZE"]));

/** Runs one call that goes to the pool, when there is a place for it. It must not wait for another such call. */
function foreignCall<T>(call: () => Promise<T>): Promise<T> {
  return places.run(call);
}

/** The same call, with a place of its own each time. */
export function asForeign<Given extends readonly unknown[], Result>(
  call: (...given: Given) => Promise<Result>,
): (...given: Given) => Promise<Result> {
  return (...given) => foreignCall(() => call(...given));
}

/** The entries of a folder, read in portions of so many. */
export async function* foreignEntries(path: string, portion = 32): AsyncIterable<Dirent> {
  const folder = await foreignCall(() => opendir(path, { bufferSize: portion }));
  try {
    for (;;) {
      const entry = await foreignCall(() => folder.read());
      if (entry === null) return;
      yield entry;
    }
  } finally {
    await foreignCall(() => folder.close());
  }
}
