/** What runs: the version, and the commit it was built from. */
import { readFileSync } from "node:fs";
import { systemCodeOf } from "./errors.ts";

/** The version in `package.json`, which stands two folders up from here, built or not. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** The commit that this was built from, noted by bin/record-commit; undefined from the sources, or without git. */
export function readCommit(): string | undefined {
  try {
    return readFileSync(new URL("../commit", import.meta.url), "utf8").trim();
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
