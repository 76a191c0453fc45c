/** Numbers of bytes as people write them. kB, MB, GB, TB are powers of 1000; KiB, MiB, GiB, TiB powers of 1024. */

const bytesOfUnit: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
};

/** Bare `K`, `M` and `G` are left out on purpose: nobody can say whether they mean 1000 or 1024. */
export const sizePattern = "^[0-9]+(\\.[0-9]+)? ?([kKmMgGtT][iI]?)?[bB]$";

const sizeForm = /^(?<amount>[0-9]+(?:\.[0-9]+)?) ?(?<unit>(?:[kmgt]i?)?b)$/i;

/** Bytes of a text such as `2GB`, `1.5 GiB` or `100B`, rounded down; undefined when it is not of that form. */
export function parseSize(text: string): number | undefined {
  const groups = sizeForm.exec(text)?.groups;
  const factor = bytesOfUnit[groups?.["unit"]?.toLowerCase() ?? ""];
  return factor === undefined ? undefined : Math.floor(Number(groups?.["amount"]) * factor);
}

const unitsForDisplay = [
  ["TB", 1e12],
  ["TiB", 2 ** 40],
  ["GB", 1e9],
  ["GiB", 2 ** 30],
  ["MB", 1e6],
  ["MiB", 2 ** 20],
  ["kB", 1e3],
  ["KiB", 2 ** 10],
] as const;

/** The shortest text that `parseSize` reads back as exactly the same number. */
export function formatSize(bytes: number): string {
  const unit = unitsForDisplay.find(([, factor]) => bytes >= factor && bytes % factor === 0);
  return unit === undefined ? `${bytes}B` : `${bytes / unit[1]}${unit[0]}`;
}
