import type { SettledFile } from "./candidates.ts";
import type { WatchedFolder } from "./folder-deps.ts";

/** What has settled in one look at a folder. */
export interface Settled {
  readonly folder: WatchedFolder;
  /** The real path of the folder. */
  readonly at: string;
  /** Those of one stop in their order. */
  readonly files: readonly SettledFile[];
  readonly isStopped: () => boolean;
}

/** Files of one message to the thread: other folders have their turn in between. */
const filesAtOnce = 128;

export function portionsOf<Item>(items: readonly Item[]): Item[][] {
  const portions: Item[][] = [];
  for (let from = 0; from < items.length; from += filesAtOnce)
    portions.push(items.slice(from, from + filesAtOnce));
  return portions;
}
