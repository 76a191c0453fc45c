import { readCommit, readVersion } from "../../lib/program-version.ts";
import type { CliCommand, CommonOptions } from "../command-line.ts";

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
