/**
 * What takes long is done with some cases at each change, and with all of them at night (`DROPGATE_TEST_ALL=1`, which
 * `test/nightly/both-stores.sh` sets).
 */
const takesAll = process.env["DROPGATE_TEST_ALL"] === "1";

/** So many of the cases, spread over all of them, the first and the last among them; at night all. */
export function sampled<Case>(cases: readonly Case[], count: number): readonly Case[] {
  if (takesAll || count >= cases.length) return cases;
  const stride = (cases.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, at) => cases[Math.round(at * stride)] as Case);
}

/** A number of files or the like; at night the larger one. */
export function amount(usual: number, atNight: number): number {
  return takesAll ? atNight : usual;
}
