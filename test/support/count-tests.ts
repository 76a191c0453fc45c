/**
 * Prints what failed and the closing line of runs of tests, from vitest's JSON reports, and exits non-zero unless every test
 * passed.
 *
 *   node test/support/count-tests.ts REPORT STATUS [REPORT STATUS …]
 *
 * STATUS is the exit code of the run. A test that is skipped has to pass in another of the runs: what a database of one kind
 * alone has.
 */
import { readFileSync } from "node:fs";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report;
  } catch {
    // No report means that the runner itself fell over; the counts below say so.
    return undefined;
  }
}

interface Run {
  readonly report: Report | undefined;
  readonly status: number;
}

/** Those that are no failure of a test: a file that fails beside its tests, or before its first one. */
function brokenFilesOf({ report }: Run): readonly string[] {
  const files = report?.testResults ?? [];
  return files
    .filter(
      (file) =>
        file.status === "failed" && file.assertionResults.every(({ status: own }) => own !== "failed"),
    )
    .map(({ name }) => name);
}

function failuresOf(run: Run): number {
  const failed = (run.report?.numFailedTests ?? 0) + brokenFilesOf(run).length;
  return run.status !== 0 && failed === 0 ? 1 : failed;
}

/** The tests of a report that ended so, each by its file and its name. */
function testsOf({ report }: Run, fits: (status: string) => boolean): readonly string[] {
  const files = report?.testResults ?? [];
  return files.flatMap(({ name, assertionResults }) =>
    assertionResults.filter(({ status }) => fits(status)).map(({ fullName }) => `${name} ${fullName}`),
  );
}

const args = process.argv.slice(2);
const runs: readonly Run[] = Array.from({ length: Math.max(1, args.length / 2) }, (_, index) => ({
  report: readReport(args[2 * index] ?? ""),
  status: Number(args[2 * index + 1] ?? 1),
}));
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const passed = runs.map(({ report }) => report?.numPassedTests ?? 0);
const passedSomewhere = new Set(runs.flatMap((run) => testsOf(run, (status) => status === "passed")));
const skipped = new Set(runs.flatMap((run) => testsOf(run, (status) => !/^(?:passed|failed)$/.test(status))));
const missed = [...skipped].filter((test) => !passedSomewhere.has(test)).length;
const failed = sum(runs.map(failuresOf)) + missed;
for (const run of runs)
  for (const name of [...testsOf(run, (status) => status === "failed"), ...brokenFilesOf(run)])
    console.log(`failed: ${name}`);
if (missed > 0) console.log(`${missed} tests were skipped, which is not allowed here`);
console.log(`${sum(passed)} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed.includes(0) ? 1 : 0;
