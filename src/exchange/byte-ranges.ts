/** Which bytes of a file have been read, as ranges in order that do not touch. */
export class ByteRanges {
  readonly #maxRanges: number;
  #ranges: readonly (readonly [from: number, to: number])[] = [];

  /** Of more ranges than `maxRanges` those that came last are not noted. */
  constructor(maxRanges: number) {
    this.#maxRanges = maxRanges;
  }

  /** `to` is the first byte behind the range. */
  add(from: number, to: number): void {
    if (to <= from) return;
    const apart = this.#ranges.filter(([start, end]) => end < from || start > to);
    if (apart.length === this.#ranges.length && apart.length >= this.#maxRanges) return;
    const merged = this.#ranges.filter(([start, end]) => end >= from && start <= to);
    const start = Math.min(from, ...merged.map(([first]) => first));
    const end = Math.max(to, ...merged.map(([, last]) => last));
    this.#ranges = [...apart, [start, end] as const].sort(([one], [other]) => one - other);
  }

  addAll(other: ByteRanges): void {
    for (const [from, to] of other.#ranges) this.add(from, to);
  }

  /** Whether all of the first `size` bytes are among them. */
  covers(size: number): boolean {
    const [first = [0, 0] as const] = this.#ranges;
    return first[0] === 0 && first[1] >= size;
  }
}
