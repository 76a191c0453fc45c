/** A number with its noun, as in `1 file` and `3 entries`; `several` is the noun with an s unless it is given. */
export function counted(count: number, one: string, several = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
