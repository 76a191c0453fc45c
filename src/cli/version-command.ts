import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { systemCodeOf } from "../lib/errors.ts";
import { readVersion } from "../lib/program-version.ts";
import { type CliRun, type CommonOptions, declare, printResult, withJson } from "./command-line.ts";

/** The commit that this was built from, noted by bin/record-commit; undefined from the sources, or without git. */
function readCommit(): string | undefined {
  try {
    return readFileSync(new URL("../commit", import.meta.url), "utf8").trim();
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** `dropgate version` */
export function declareVersion(program: Command, run: CliRun): void {
  withJson(declare(program, "version", "print the version and what it was built from")).action(
    (options: CommonOptions) => {
      const versions = { version: readVersion(), commit: readCommit(), node: process.versions.node };
      printResult(run, options, versions, ({ version, commit, node }) => {
        const built = commit === undefined ? "" : `commit ${commit}, `;
        return [`dropgate ${version} (${built}Node.js ${node})`];
      });
    },
  );
}
