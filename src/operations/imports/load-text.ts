/**
 * The text in which an imported load waits to be applied: a line for the load without its stops, and one for each stop. A
 * load may have thousands of stops; line by line they can be read with waits for others between.
 *
 * Loads that an earlier version has kept are one line with the stops in it. A large one is brought into lines by a reader
 * thread first.
 */
import type { Load } from "../../domain/load/load.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import { inTurns, largeBodyBytes } from "./import-preparation.ts";

/** The text of a load. JSON text has no line breaks of its own. */
export function loadText({ stops, ...load }: Load): string {
  const lines = [load, ...(stops ?? [])].map((one) => JSON.stringify(one));
  return lines.join("\n");
}

/** The reader threads, as far as loads need them. */
export interface LoadLines {
  /** The text of a load in its lines. */
  loadLines(text: string, companyCode: string): Promise<string>;
}

export interface LoadTextSource {
  readonly lines: LoadLines | undefined;
  readonly companyId: number;
}

function isOneLongLine(text: string): boolean {
  return text.length > largeBodyBytes && !text.includes("\n");
}

/** The load of a text. */
export async function readLoadText(kept: string, source?: LoadTextSource): Promise<Load> {
  const isBrought = isOneLongLine(kept) && source?.lines !== undefined;
  const text = isBrought ? await source.lines.loadLines(kept, `company ${source.companyId}`) : kept;
  const [first = "", ...lines] = text.split("\n");
  const load = JSON.parse(first) as Load;
  if (lines.length === 0) return load;
  return { ...load, stops: await inTurns(lines, async (line) => JSON.parse(line) as Stop) };
}
