/**
 * The text in which an imported load waits to be applied: a line for the load without its stops, and one for each stop. A
 * load may have thousands of stops; line by line they can be read with waits for others between.
 *
 * Loads that an earlier version has kept are one line with the stops in it.
 */
import type { Load } from "../domain/load.ts";
import type { Stop } from "../domain/stop.ts";
import { inTurns } from "./import-preparation.ts";

/** The text of a load. JSON text has no line breaks of its own. */
export function loadText({ stops, ...load }: Load): string {
  const lines = [load, ...(stops ?? [])].map((one) => JSON.stringify(one));
  return lines.join("\n");
}

/** The load of a text. */
export async function readLoadText(text: string): Promise<Load> {
  const [first = "", ...lines] = text.split("\n");
  const load = JSON.parse(first) as Load;
  if (lines.length === 0) return load;
  return { ...load, stops: await inTurns(lines, (line) => JSON.parse(line) as Stop) };
}
