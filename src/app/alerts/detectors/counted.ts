/** `1 file`, `2 files`: words of findings. */
export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

const floodTimes = 100;

/** 2 for a hundred times as many as open an incident: worth telling once more. */
export function levelOfMany(count: number, opensAt: number): number {
  return count >= floodTimes * opensAt ? 2 : 1;
}

/** How long, in words: minutes, or hours from two on. */
export function lasting(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? counted(minutes, "minute", "minutes") : `${Math.round(minutes / 60)} hours`;
}
