/**
 * Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours that make one text of
 * the other.
 */
export function editDistance(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap =
        row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwap ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}

/** The known name that a mistyped one probably stands for, without regard to case; undefined when none is near. */
export function suggestName(typed: string, known: readonly string[]): string | undefined {
  const maxDistance = Math.max(1, Math.floor(typed.length / 3));
  return known
    .map((name) => ({ name, distance: editDistance(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((left, right) => left.distance - right.distance)
    .at(0)?.name;
}
