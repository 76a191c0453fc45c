/**
 * What lies in the tree that nodes share, as their hosts and operators see it. No look is made on the calling thread: shared
 * storage may answer seconds later, and the links of all nodes to their database go through this process.
 */
import { readFile } from "node:fs/promises";
import { unlessMissing } from "../../src/lib/errors.ts";

export function bytesIfThere(path: string): Promise<Uint8Array | undefined> {
  return readFile(path).catch(unlessMissing);
}

export function textIfThere(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch(unlessMissing);
}
