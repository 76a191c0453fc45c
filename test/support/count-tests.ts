/** Prints the closing line of a test run from vitest's JSON report, and exits non-zero unless every test passed. */
import { readFileSync } from "node:fs";

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly unknown[];
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

const report = readReport(process.argv[2] ?? "");
const status = Number(process.argv[3] ?? 1);
const passed = report?.numPassedTests ?? 0;
// A file that fails before its first test counts as a failure of its own.
const brokenFiles =
  report?.testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0) ?? [];
const failed = (report?.numFailedTests ?? 0) + brokenFiles.length;
const skipped = report?.numPendingTests ?? 0;
const counted = status !== 0 && failed === 0 ? 1 : failed;
if (skipped > 0) console.log(`${skipped} tests were skipped, which is not allowed here`);
console.log(`${passed} passed, ${counted + skipped} failed`);
process.exitCode = counted + skipped > 0 || passed === 0 ? 1 : 0;
