/**
 * A map that forgets what was set longest ago: of as many values as it may keep it has at least the newest half, and never
 * more than all.
 *
 * Two generations instead of one map whose oldest key is deleted: finding the first key of a Map from which many were
 * deleted takes as long as there were deletions, and an attacker chooses how many.
 */
export class BoundedMap<Value> {
  readonly #maxKeys: number;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  /** For at most so many values. */
  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  get(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  /** The same as `get`, and the value counts as set anew: what is asked for again stays. */
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

  /** Those that are kept, in no order. */
  *values(): Generator<Value> {
    yield* this.#newer.values();
    yield* this.#older.values();
  }

  set(key: string, value: Value): void {
    this.delete(key);
    this.#newer.set(key, value);
    if (this.#newer.size < this.#maxKeys / 2) return;
    this.#older = this.#newer;
    this.#newer = new Map();
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }
}
