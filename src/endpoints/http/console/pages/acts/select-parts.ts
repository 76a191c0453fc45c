/** All that a filter selects for an act, as far as it is found while somebody waits for the page. */
import { secondMs } from "../../../../../lib/durations.ts";
import { given } from "../../../../../lib/given.ts";
import { mostAtOnce } from "../../console-acts.ts";

/** A search by a filter that few things have goes on for long: what was found by then is shown. */
const longestMs = 5 * secondMs;

/** Some of a list, and the place from which the next ones go on; null at its end. */
interface ListedPart<Item> {
  readonly items: readonly Item[];
  readonly before: string | null;
}

export interface SelectedParts<Item> {
  /** As many as can be done at once, at most. */
  readonly items: readonly Item[];
  /** There may be more. */
  readonly isCut: boolean;
}

/** Until when is looked, by `performance.now()`: one bound for all that a page has to select. */
export function selectUntil(): number {
  return performance.now() + longestMs;
}

/** The list part by part, in its order, until there are so many or the time is over. */
export async function selectParts<Item>(
  until: number,
  read: (asked: { readonly limit: number; readonly before?: string }) => Promise<ListedPart<Item>>,
): Promise<SelectedParts<Item>> {
  const items: Item[] = [];
  let before: string | undefined;
  do {
    const part = await read({ limit: mostAtOnce - items.length, ...given({ before }) });
    items.push(...part.items);
    before = part.before ?? undefined;
  } while (before !== undefined && items.length < mostAtOnce && performance.now() < until);
  return { items, isCut: before !== undefined };
}
