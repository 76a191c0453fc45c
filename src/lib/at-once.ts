/** Runs `work` over all items, at most `limit` at once; results are in the order of the items. */
export async function mapAtOnce<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = new Array(items.length);
  // One iterator for all runners: each takes the next item that nobody has.
  const rest = items.entries();
  const runner = async () => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, runner));
  return results;
}
