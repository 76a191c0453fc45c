/** What a process holds over a long time, and whether it levels off: the rise of each figure by thirds of the run. */

/** One look at the daemon. */
export interface Sample {
  /** Since the traffic began. */
  readonly minute: number;
  readonly residentMb: number;
  readonly heapMb: number;
  /** Buffers outside of the heap. */
  readonly buffersMb: number;
  readonly descriptors: number;
  readonly threads: number;
  readonly walMb: number;
  readonly filesDone: number;
}

export type Figure = "residentMb" | "heapMb" | "buffersMb" | "descriptors" | "threads" | "walMb";

/** By how much a figure may still rise each minute in the last third: what would be 15 MB or 3 descriptors an hour. */
export const allowedRise: Readonly<Record<Figure, number>> = {
  residentMb: 0.25,
  heapMb: 0.25,
  buffersMb: 0.1,
  descriptors: 0.05,
  threads: 0.05,
  walMb: 0.25,
};

/** Rise a minute by least squares; 0 for fewer than two samples. */
export function riseOf(samples: readonly Sample[], figure: Figure): number {
  if (samples.length < 2) return 0;
  const meanOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanX, meanY] = [
    meanOf(samples.map(({ minute }) => minute)),
    meanOf(samples.map((one) => one[figure])),
  ];
  let [above, below] = [0, 0];
  for (const sample of samples) {
    above += (sample.minute - meanX) * (sample[figure] - meanY);
    below += (sample.minute - meanX) ** 2;
  }
  return below === 0 ? 0 : above / below;
}

/** The samples of each third of the time. */
export function thirdsOf(samples: readonly Sample[]): readonly (readonly Sample[])[] {
  const end = samples.at(-1)?.minute ?? 0;
  return [0, 1, 2].map((third) =>
    samples.filter(
      ({ minute }) => minute >= (end * third) / 3 && (minute < (end * (third + 1)) / 3 || third === 2),
    ),
  );
}

export interface Verdict {
  readonly figure: Figure;
  readonly rises: readonly number[];
  readonly isLevel: boolean;
}

/** What a collection of garbage changes: in between, these figures say when the last one was. */
const memoryFigures: readonly Figure[] = ["residentMb", "heapMb", "buffersMb"];

/**
 * Level is what rises by next to nothing in the last third. A run of some minutes shows caches that fill, and no more.
 * `collected` are samples right after a full collection, which memory is judged by.
 */
export function verdictsOf(samples: readonly Sample[], collected: readonly Sample[]): readonly Verdict[] {
  return (Object.keys(allowedRise) as Figure[]).map((figure) => {
    const thirds = thirdsOf(memoryFigures.includes(figure) ? collected : samples);
    const rises = thirds.map((third) => riseOf(third, figure));
    return { figure, rises, isLevel: (rises[2] ?? 0) <= allowedRise[figure] };
  });
}
