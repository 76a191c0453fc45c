import { defineConfig, type ViteUserConfig } from "vitest/config";
import { patienceMs } from "./test/support/wait-for.ts";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Whole daemons first, deaths before all: they take longest, and what is short fills the workers at the end. */
const longestFirst = ["/test/e2e/crash", "/test/e2e/", "/test/", "/"];
const rankOf = ({ moduleId }: TestSpecification) => longestFirst.findIndex((part) => moduleId.includes(part));

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
  // Tests of whole daemons wait for disks, servers and deadlines part of their time: more workers than processors.
  maxWorkers: 5,
  sequence: { sequencer: LongestFirst },
  globalSetup: ["test/support/run-folder.ts", ...(isOnPostgres ? ["test/support/postgres-run.ts"] : [])],
  setupFiles: [
    "test/support/check-units.ts",
    ...(isOnPostgres ? ["test/support/stores-on-postgres.ts"] : []),
  ],
} satisfies ViteUserConfig["test"];

export default defineConfig({
  test: {
    ...forAllTests,
    include: ["src/**/*.test.ts", "tools/**/*.test.ts", "test/**/*.test.ts"],
  },
});
