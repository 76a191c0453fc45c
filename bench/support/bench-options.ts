export interface BenchOptions {
  readonly rounds: number;
  /** Small amounts, to see whether all runs; the figures say little. */
  readonly isQuick: boolean;
  /** The checkout whose build is measured. */
  readonly home: string;
}

/** Something is being done: goes to standard error, so that the table can be kept. */
export function progress(text: string): void {
  process.stderr.write(text);
}
