import { readFileSync } from "node:fs";
import { systemCodeOf } from "../lib/errors.ts";
import { readVersion } from "../lib/program-version.ts";
import type { CliCommand, CommonOptions } from "./command-line.ts";

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
export function declareVersion(program: CliCommand): void {
  program
    .declare("version", "print the version and what it was built from")
    .withJson()
    .action((options: CommonOptions) => {
      const versions = { version: readVersion(), commit: readCommit(), node: process.versions.node };
      program.run.printResult(options, versions, ({ version, commit, node }) => {
        const built = commit === undefined ? "" : `commit ${commit}, `;
        return [`dropgate ${version} (${built}Node.js ${node})`];
      });
    });
}
