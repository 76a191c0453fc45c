/** `1 file`, `2 files`: words of findings. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How long, in words: minutes, or hours from two on. */
export function lasting(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? counted(minutes, "minute", "minutes") : `${Math.round(minutes / 60)} hours`;
}
