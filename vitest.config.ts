import { defineConfig, type ViteUserConfig } from "vitest/config";
import { patienceMs } from "./test/support/wait-for.ts";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Those with a process of their own first, since a worker goes on in its process as long as the next file shares it. Then whole
 * daemons, deaths before all: they take longest, and what is short fills the workers at the end.
 */
const longestFirst = ["/test/e2e/crash", "/test/e2e/", "/test/", "/"];
const rankOf = ({ moduleId, project }: TestSpecification) =>
  project.config.isolate ? -1 : longestFirst.findIndex((part) => moduleId.includes(part));

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
    "test/support/shared-process.ts",
    "test/support/check-units.ts",
    "test/support/cheap-hashes.ts",
    ...(isOnPostgres ? ["test/support/stores-on-postgres.ts"] : []),
  ],
} satisfies ViteUserConfig["test"];

/** They look at the memory of their process, or at its threads. */
const alone = [
  ...["console-sessions", "document-pool", "failed-sign-ins", "hostile-clients", "http-body-budget"],
  ...["remote-hostile", "*-threads"],
].map((name) => `**/${name}.test.ts`);

/**
 * All others share processes. Half a second of each file is the loading of vitest, of the source and of a pool for documents,
 * and a process does that once for many. What they share is what modules keep: a module that is made for tests keeps nothing of
 * a test, and calls no hook when it is loaded.
 */
export default defineConfig({
  test: {
    ...forAllTests,
    projects: [
      { extends: true, test: { name: "alone", include: alone } },
      {
        extends: true,
        test: {
          name: "together",
          include: ["src/**/*.test.ts", "tools/**/*.test.ts", "test/**/*.test.ts"],
          exclude: alone,
          isolate: false,
        },
      },
    ],
  },
});
