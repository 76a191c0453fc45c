/** The items in their order, at most so many at a time. */
export function* portionsOf<Item>(items: readonly Item[], atOnce: number): Generator<Item[]> {
  for (let at = 0; at < items.length; at += atOnce) yield items.slice(at, at + atOnce);
}
