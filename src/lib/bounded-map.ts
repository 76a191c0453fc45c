/**
 * A map that forgets what was set longest ago: of as many values as it may keep it has at least the newest half, and never
 * more than all.
 *
 * Two generations instead of one map whose oldest key is deleted: finding the first key of a Map from which many were
 * deleted takes as long as there were deletions, and an attacker chooses how many.
 */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  /** The same, and the value counts as set anew: what is asked for again stays. */
  renew(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

export interface Bounds<Value> {
  /** How many values it may keep. */
  readonly maxKeys: number;
  /** Most of what `sizeOf` counts, of all values together; a value of more than half of it is not kept. */
  readonly maxSize: number;
  readonly sizeOf: (value: Value) => number;
}

class Generations<Value> implements BoundedMap<Value> {
  readonly #bounds: Bounds<Value>;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();
  /** Of the newer ones. */
  #size = 0;

  constructor(bounds: Bounds<Value>) {
    this.#bounds = bounds;
  }

  get(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  renew(key: string): Value | undefined {
    const known = this.#newer.get(key);
    if (known !== undefined) return known;
    const old = this.#older.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  has(key: string): boolean {
    return this.#newer.has(key) || this.#older.has(key);
  }

  set(key: string, value: Value): void {
    const { maxKeys, maxSize, sizeOf } = this.#bounds;
    const size = sizeOf(value);
    // Also of a value that is not kept: the one before it is over.
    this.delete(key);
    if (size > maxSize / 2) return;
    if (this.#size + size > maxSize / 2) this.#turnOver();
    this.#newer.set(key, value);
    this.#size += size;
    if (this.#newer.size >= maxKeys / 2) this.#turnOver();
  }

  delete(key: string): void {
    const known = this.#newer.get(key);
    if (known !== undefined) this.#size -= this.#bounds.sizeOf(known);
    this.#newer.delete(key);
    this.#older.delete(key);
  }

  #turnOver(): void {
    this.#older = this.#newer;
    this.#newer = new Map();
    this.#size = 0;
  }
}

/** A map of at most so many values, of whatever size. */
export function createBoundedMap<Value>(maxKeys: number): BoundedMap<Value> {
  return new Generations({ maxKeys, maxSize: Number.POSITIVE_INFINITY, sizeOf: () => 0 });
}

/** A map whose values are bounded in their number and in their size. */
export function createSizedMap<Value>(bounds: Bounds<Value>): BoundedMap<Value> {
  return new Generations(bounds);
}
