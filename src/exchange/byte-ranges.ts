export type ByteRange = readonly [from: number, to: number];

/** Ranges of bytes in a file, in order, that do not touch. `to` is the first byte behind a range. */
export class ByteRanges {
  readonly #maxRanges: number;
  #ranges: readonly ByteRange[] = [];

  /** Of more ranges than `maxRanges` those that came last are not noted. */
  constructor(maxRanges: number) {
    this.#maxRanges = maxRanges;
  }

  get first(): ByteRange | undefined {
    return this.#ranges[0];
  }

  /** The first byte behind all of them; 0 without any. */
  get end(): number {
    return this.#ranges.at(-1)?.[1] ?? 0;
  }

  /** Says whether there was room for it. */
  add(from: number, to: number): boolean {
    if (to <= from) return true;
    const apart = this.#ranges.filter(([start, end]) => end < from || start > to);
    if (apart.length === this.#ranges.length && apart.length >= this.#maxRanges) return false;
    const merged = this.#ranges.filter(([start, end]) => end >= from && start <= to);
    const start = Math.min(from, ...merged.map(([first]) => first));
    const end = Math.max(to, ...merged.map(([, last]) => last));
    this.#ranges = [...apart, [start, end] as const].sort(([one], [other]) => one - other);
    return true;
  }

  addAll(other: ByteRanges): void {
    for (const [from, to] of other.#ranges) this.add(from, to);
  }

  /** Forgets what does not lie between the two. */
  keep(from: number, to: number): void {
    this.#ranges = this.#ranges
      .map(([start, end]) => [Math.max(start, from), Math.min(end, to)] as const)
      .filter(([start, end]) => start < end);
  }

  /** Whether all of the first `size` bytes are among them. */
  covers(size: number): boolean {
    const [first = [0, 0] as const] = this.#ranges;
    return first[0] === 0 && first[1] >= size;
  }
}
