/** Whether as many files have come as usual, in words. */
import { words } from "../../words/words.ts";

const said = words.today.usual;

/** Differences below either are chance. */
const leastFiles = 10;
const leastShare = 0.2;

/** What today has, beside what there was by the same time a week ago. */
export function usualText(today: number, before: number): string {
  const difference = today - before;
  if (Math.abs(difference) < Math.max(leastFiles, before * leastShare)) return said.same;
  if (today === 0) return said.none;
  if (before === 0) return said.noneBefore;
  if (difference > before) return said.times(Math.round((today / before) * 10) / 10);
  const percent = Math.round((Math.abs(difference) / before) * 100);
  return difference > 0 ? said.more(percent) : said.fewer(percent);
}
