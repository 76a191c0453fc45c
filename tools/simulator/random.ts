/** Numbers that look random and follow from a seed alone: the same seed gives the same numbers on every machine. */

export interface Random {
  /** From 0 to below 1. */
  next(): number;
  /** A number from `least` to below `below`. */
  between(least: number, below: number): number;
  /** A whole number from `least` to `greatest`, both included. */
  whole(least: number, greatest: number): number;
  /** True in this share (0 to 1) of the cases. */
  chance(share: number): boolean;
  pick<T>(list: readonly [T, ...(readonly T[])]): T;
}

const goldenRatio = 0x9e3779b9;

/** Mixes the bits of a 32-bit number, so that neighbours have nothing in common. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

/** The state that a seed and the place of a part in the whole give: each part has its own numbers, whatever came before. */
function stateOf(seed: number, path: readonly number[]): number {
  return path.reduce((state, part) => mixed(state + Math.imul(part + 1, goldenRatio)), mixed(seed));
}

/** The numbers of a part: of load 3 with `createRandom(seed, 3)`. The generator is mulberry32. */
export function createRandom(seed: number, ...path: readonly number[]): Random {
  let state = stateOf(seed, path);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, greatest: number) => least + Math.floor(next() * (greatest - least + 1));
  return {
    next,
    whole,
    between: (least, below) => least + next() * (below - least),
    chance: (share) => next() < share,
    pick: ([first, ...rest]) => {
      const at = whole(0, rest.length);
      return at === 0 ? first : (rest[at - 1] ?? first);
    },
  };
}
