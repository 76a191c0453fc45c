import { readFileSync } from "node:fs";
import type { Command } from "commander";
import { type CliRun, type CommonOptions, declare, printResult, withJson } from "./command-line.ts";

/** The version in `package.json`, which stands two folders up from here, built or not. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { readonly version: string }).version;
}

/** `dropgate version` */
export function declareVersion(program: Command, run: CliRun): void {
  withJson(declare(program, "version", "print the version")).action((options: CommonOptions) => {
    const versions = { version: readVersion(), node: process.versions.node };
    printResult(run, options, versions, ({ version, node }) => [`dropgate ${version} (Node.js ${node})`]);
  });
}
