/**
 * A map that forgets what was set longest ago: it keeps at least the newest half of `maxKeys` and never more than all.
 *
 * Two generations instead of one map whose oldest key is deleted: finding the first key of a Map from which many were
 * deleted takes as long as there were deletions, and an attacker chooses how many.
 */
export interface BoundedMap<Value> {
  get(key: string): Value | undefined;
  has(key: string): boolean;
  set(key: string, value: Value): void;
  delete(key: string): void;
}

export function createBoundedMap<Value>(maxKeys: number): BoundedMap<Value> {
  let newer = new Map<string, Value>();
  let older = new Map<string, Value>();
  return {
    get: (key) => newer.get(key) ?? older.get(key),
    has: (key) => newer.has(key) || older.has(key),
    set(key, value) {
      newer.set(key, value);
      if (newer.size < maxKeys / 2) return;
      older = newer;
      newer = new Map();
    },
    delete(key) {
      newer.delete(key);
      older.delete(key);
    },
  };
}
