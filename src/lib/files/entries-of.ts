import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { unlessMissing } from "../errors.ts";

/** What is in a folder; nothing when it does not exist. */
export async function entriesOf(folder: string): Promise<Dirent[]> {
  return (await readdir(folder, { withFileTypes: true }).catch(unlessMissing)) ?? [];
}
