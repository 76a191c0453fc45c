import { globSync } from "node:fs";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { patienceMs } from "./test/support/wait-for.ts";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Whole daemons first, deaths before all: they take longest, and what is short fills the workers at the end. Those that share
 * a process come one after the other, since a worker goes on with the next one only if that shares too.
 */
const longestFirst = ["/test/e2e/crash", "/test/e2e/", "/test/", "/"];
const rankOf = ({ moduleId, project }: TestSpecification) =>
  project.config.isolate ? longestFirst.findIndex((part) => moduleId.includes(part)) : longestFirst.length;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

/** All stores of the tests lie in a server of PostgreSQL, and not in files. */
const isOnPostgres = process.env["DROPGATE_TEST_STORE"] === "postgres";

/** What holds for all tests, also for those that a configuration of their own runs. */
export const forAllTests = {
  // Bounds for what hangs, and not for what is slow: a busy machine or a slow disk fails no test.
  testTimeout: 2 * patienceMs,
  hookTimeout: 2 * patienceMs,
  teardownTimeout: patienceMs,
  expect: { poll: { timeout: patienceMs, interval: 50 } },
  pool: "forks",
  // Tests of whole daemons wait for disks, servers and deadlines much of their time: more workers than processors.
  maxWorkers: 6,
  sequence: { sequencer: LongestFirst },
  globalSetup: ["test/support/run-folder.ts", ...(isOnPostgres ? ["test/support/postgres-run.ts"] : [])],
  setupFiles: [
    "test/support/check-units.ts",
    "test/support/cheap-hashes.ts",
    ...(isOnPostgres ? ["test/support/stores-on-postgres.ts"] : []),
  ],
} satisfies ViteUserConfig["test"];

/**
 * Tests of functions and requests that leave nothing behind. Most of each is the loading of the source, and a process loads it
 * once for many of them.
 */
const together = globSync(
  [
    ...["app", "backup", "cli", "cluster", "config", "documents", "domain", "endpoints/http", "exchange"],
    ...["integrations", "lib", "operations", "remote", "sign-in", "store", "targets"],
  ].map((folder) => `src/${folder}/**/*.test.ts`),
  // They look at the memory of the process, or at its threads.
  { exclude: ["**/http-body-budget.test.ts", "**/*-threads.test.ts", "**/document-pool.test.ts"] },
);

export default defineConfig({
  test: {
    ...forAllTests,
    projects: [
      {
        extends: true,
        test: {
          name: "alone",
          include: ["src/**/*.test.ts", "tools/**/*.test.ts", "test/**/*.test.ts"],
          exclude: together,
        },
      },
      { extends: true, test: { name: "together", include: together, isolate: false } },
    ],
  },
});
