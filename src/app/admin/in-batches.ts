/** What commands do to all that a filter selects: in pages, each in a unit of work of its own. */
import { setTimeout as wait } from "node:timers/promises";
import type { RunningDaemons } from "./running-daemons.ts";

/** Few, because the daemon's commits wait for each unit of work. */
export const itemsAtOnce = 100;

type PageAfter = (afterId: number) => Promise<readonly number[]>;

/**
 * Passes page after page to `work`, in the order of the ids, and rests after each for as long as it took: the daemon gets
 * its commits in between (work that only reads needs no rests). Ends with the first page that is not full.
 */
export async function inBatches(
  pageAfter: PageAfter,
  work: (ids: readonly number[], isLast: boolean) => Promise<void>,
  { afterId = 0, rests = true } = {},
): Promise<void> {
  for (let after = afterId; ; ) {
    const ids = await pageAfter(after);
    const last = ids.at(-1);
    const isLast = ids.length < itemsAtOnce;
    const before = performance.now();
    await work(ids, isLast);
    if (isLast || last === undefined) return;
    if (rests) await wait(performance.now() - before);
    after = last;
  }
}

/** How a command treats what a filter selects. */
export interface SelectionMode {
  readonly isDryRun: boolean;
  /** What was shown before somebody agreed, in order: nothing else is done. Undefined when nothing was shown. */
  readonly shown?: readonly number[];
}

/** The pages of what is selected and was shown, as full as pages can be: one that is not full is the last. */
export function pagesOfShown(shown: readonly number[] | undefined, pageAfter: PageAfter): PageAfter {
  if (shown === undefined) return pageAfter;
  const wasShown = new Set(shown);
  return async (afterId) => {
    const found: number[] = [];
    for (let after = afterId; found.length < itemsAtOnce; ) {
      const ids = await pageAfter(after);
      found.push(...ids.filter((id) => wasShown.has(id)));
      const last = ids.at(-1);
      if (last === undefined || ids.length < itemsAtOnce) break;
      after = last;
    }
    return found.slice(0, itemsAtOnce);
  };
}

/** Numbers and the reason that they have in common. */
export interface NotDone {
  readonly why: string;
  readonly ids: readonly number[];
}

/** Gathers numbers by their reasons. */
export function byReason(
  refused: readonly { readonly id: number; readonly why: string }[],
): readonly NotDone[] {
  const groups = new Map<string, number[]>();
  for (const { id, why } of refused) {
    const ids = groups.get(why) ?? [];
    ids.push(id);
    groups.set(why, ids);
  }
  return [...groups].map(([why, ids]) => ({ why, ids }));
}

/** What became, or would become, of all that a filter selects. */
export interface SelectionReport<View> extends RunningDaemons {
  /** What is done, in the order in which it is. */
  readonly ids: readonly number[];
  /** The first of them, as many as were asked for. */
  readonly items: readonly View[];
  /** The last of them; null when there is none. */
  readonly last: View | null;
  readonly notDone: readonly NotDone[];
}
