import { readdir, readFile } from "node:fs/promises";
import { expect } from "vitest";
import type { Site } from "./daemon.ts";
import { receiptFor, type StopFile } from "./stop-files.ts";

async function archived(site: Site, name: string): Promise<string> {
  const all = await readdir(site.path("archive"), { recursive: true });
  const path = all.find((each) => each.endsWith(name));
  if (path === undefined) throw new Error(`${name} is not in the archive`);
  return await readFile(site.path("archive", path), "utf8");
}

/** A file of one new stop is answered so, and lies in the archive as it was sent. */
export async function expectApplied(site: Site, file: StopFile): Promise<void> {
  expect(await receiptFor(site, file.name)).toMatchObject({ status: 10, records: [1, 0, 0] });
  expect(await archived(site, file.name)).toBe(file.content);
}
