/** Milliseconds of the clock that nobody sets, the same in all threads of the machine; it goes on while a process stands still. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
