/**
 * Processor time, for tests of work that must not grow out of proportion. A busy machine stretches the clock, and hardly
 * this; still it is only compared with other work of the same run.
 */

/** Milliseconds of processor time of synchronous work, in all threads of the process. */
export function cpuMsOf(work: () => void): number {
  const began = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

/** How many times the floor's processor time the work takes. */
export function cpuRatio(work: () => void, floor: () => void): number {
  // The floor first, which warms up what both have in common; and never so little that the ratio is noise.
  const least = Math.max(cpuMsOf(floor), 1);
  return cpuMsOf(work) / least;
}
