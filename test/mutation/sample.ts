/** How many of the changes are tried, and the seed that draws them; Stryker's processes have it in their environment. */

export interface Sample {
  readonly size: number;
  readonly seed: number;
}

const name = "DROPGATE_MUTATION_SAMPLE";

export function setSampleOfRun({ size, seed }: Sample): void {
  process.env[name] = `${size}/${seed}`;
}

/** Undefined where all changes are tried. */
export function sampleOfRun(): Sample | undefined {
  const text = process.env[name];
  if (text === undefined) return undefined;
  const [size = 0, seed = 0] = text.split("/").map(Number);
  return { size, seed };
}
