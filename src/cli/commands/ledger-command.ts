import type { VerifiedLedger, VerifyProgressView } from "../../app/admin/ledger-admin.ts";
import { type CliCommand, type CommonOptions, exitCodes } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { progressOn } from "../progress.ts";
import { tableLines } from "../table.ts";

function accountLines(report: VerifiedLedger): readonly string[] {
  const head = ["COMPANY", "RECEIVED", "APPLIED", "REFUSED", "DUPLICATE", "SUPERSEDED", "WAITING"];
  if (report.accounts.length === 0) return ["There is no company yet."];
  const rows = report.accounts.map((one) => [
    ...[one.company, one.received, one.applied, one.refused, one.duplicate, one.superseded, one.waiting],
  ]);
  return tableLines(head, rows);
}

function remarkLines(report: VerifiedLedger): string[] {
  const { removed, pruned, withoutBytes, arriving, atNextStart } = report;
  const withoutEntry = report.accounts.reduce((sum, account) => sum + account.pruned, 0);
  const remarks: [number, string][] = [
    [
      withoutEntry,
      `${counted(withoutEntry, "file")} in these sums whose ledger ${withoutEntry === 1 ? "entry was" : "entries were"} pruned by the retention`,
    ],
    [pruned, `${counted(pruned, "entry", "entries")} whose bytes were pruned by the retention`],
    [removed, `${counted(removed, "entry", "entries")} whose bytes a user removed`],
    [
      withoutBytes,
      `${counted(withoutBytes, "entry", "entries")} without bytes: the file was missing, or not a regular file, when dropgate tried to read it`,
    ],
    [arriving, `${counted(arriving, "file")} about to be taken`],
    [atNextStart, `${counted(atNextStart, "file")} that the next start takes: no daemon runs`],
  ];
  return remarks.filter(([count]) => count > 0).map(([, what]) => what);
}

function discrepancyLine(one: VerifiedLedger["discrepancies"][number]): string {
  const entry = one.fileId === undefined ? "" : ` entry ${one.fileId} (${one.name ?? ""})`;
  return `${one.kind}${entry} ${one.location}: ${one.message}`;
}

/** The lines for people. */
export function reportLines(report: VerifiedLedger): string[] {
  const { entries, bytes, unproved, discrepancyCount, discrepancies } = report;
  const hidden = discrepancyCount - discrepancies.length;
  const verified = `${counted(entries, "entry", "entries")}, ${counted(bytes, "byte")} hashed`;
  const found = counted(discrepancyCount, "discrepancy", "discrepancies");
  const fine =
    unproved.length === 0 ? "The ledger is correct" : "The ledger is correct as far as it was proved";
  const verdict = discrepancyCount === 0 ? `${fine}: ${verified}.` : `${found} in ${verified}:`;
  return [
    ...accountLines(report),
    ...remarkLines(report),
    "",
    verdict,
    ...discrepancies.map(discrepancyLine),
    ...(hidden > 0 ? [`and ${hidden} more`] : []),
    ...unproved.map((what) => `Not proved: ${what}.`),
  ];
}

function progressText({ entries, total, bytes }: VerifyProgressView): string {
  return `${entries} of ${total} entries, ${Math.floor(bytes / 1e6)} MB`;
}

/** `dropgate ledger verify` */
export function declareLedger(program: CliCommand): void {
  const ledger = program.declare("ledger", "the ledger of all files");
  ledger
    .declare("verify", "verify by hash that every file ever taken is accounted for")
    .withJson()
    .addHelpText("after", "\nExit code 1 and a list when it is not.")
    .onConfig(async (run, config, options: CommonOptions) => {
      const { verifyWholeLedger } = await import("../../app/admin/ledger-admin.ts");
      const progress = progressOn(run.io.stderr);
      const report = await verifyWholeLedger(config, {
        onProgress: (now) => progress.show(() => progressText(now)),
      });
      progress.end();
      run.printResult(options, report, reportLines);
      if (report.discrepancyCount > 0) run.exitCode = exitCodes.failure;
    });
}
