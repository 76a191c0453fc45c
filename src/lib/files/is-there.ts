import { lstat } from "node:fs/promises";
import { unlessMissing } from "../errors.ts";

/** Whether the name is taken, by whatever. Rejects when that cannot be told. */
export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined;
}
