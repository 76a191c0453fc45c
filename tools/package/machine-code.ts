/** For which machine the machine code of a package is: by the head of its ELF files. */
import type { PackageEntry } from "./package-entry.ts";
import type { Architecture } from "./shipped-files.ts";

/** `e_machine` of ELF, little-endian, of which all are. */
const machines: ReadonlyMap<number, Architecture> = new Map([
  [0x3e, "amd64"],
  [0xb7, "arm64"],
]);
const elfMagic = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);
/** Of Windows, and of macOS (thin and fat). */
const foreignMagics = ["4d5a", "cffaedfe", "cafebabe"];

/** Undefined for what is no machine code; `other` for that of a system or machine that no package is for. */
export function machineOf(content: Buffer): Architecture | "other" | undefined {
  if (content.subarray(0, 4).equals(elfMagic)) return machines.get(content.readUInt16LE(18)) ?? "other";
  const isForeign = foreignMagics.some((magic) => content.toString("hex", 0, 4).startsWith(magic));
  return isForeign ? "other" : undefined;
}

/** The files of machine code among the entries, with their machines. */
export function machineCode(entries: readonly PackageEntry[]): ReadonlyMap<string, Architecture | "other"> {
  const found = entries.flatMap((entry) => {
    const machine = entry.kind === "file" ? machineOf(entry.content()) : undefined;
    return machine === undefined ? [] : [[entry.path, machine] as const];
  });
  return new Map(found);
}

/** Throws when the entries have machine code of another machine, or lack that of Node.js. */
export function requireMachine(entries: readonly PackageEntry[], architecture: Architecture): void {
  const found = machineCode(entries);
  const foreign = [...found].filter(([, machine]) => machine !== architecture);
  if (foreign.length > 0)
    throw new Error(
      `machine code for others than ${architecture}: ${foreign.map((one) => one.join(" for ")).join(", ")}`,
    );
  if (![...found.keys()].some((path) => path.endsWith("/bin/node")))
    throw new Error(`there is no Node.js for ${architecture}`);
}
