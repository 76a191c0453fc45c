import type { FileReason } from "../../app/admin/file-view.ts";
import type { FileDetail } from "../../app/admin/ledger-admin.ts";
import { type CliCommand, type CommonOptions, titledLines } from "../command-line.ts";
import { fileTable, reasonCodesOf } from "../file-table.ts";
import {
  type FileFilterOptions,
  fileFilterOf,
  type PageOptions,
  withFileFilter,
  withPages,
} from "../filters.ts";
import { declareFileRetry } from "./file-retry-command.ts";

/** `dropgate files` */
export function declareFiles(program: CliCommand): void {
  const files = program.declare("files", "list the ledger, the newest first").withJson();
  withPages(withFileFilter(files)).onConfig(async (run, config, options: FileFilterOptions & PageOptions) => {
    const { countLedger, listLedger } = await import("../../app/admin/ledger-admin.ts");
    const filter = fileFilterOf(options);
    if (options.count) return run.printCount(options, await countLedger(config, filter));
    run.printLongList(options, await listLedger(config, filter, options), fileTable);
  });
}

function reasonText({ reasonCode, line, path, message }: FileReason): string {
  const place = [line === undefined ? "" : `line ${line}`, path ?? ""]
    .filter((part) => part !== "")
    .join(" ");
  return `${reasonCode}${place === "" ? "" : ` ${place}`}: ${message}`;
}

function repeatText({ askedAt, state, decidedAt, reasons }: FileDetail["repeats"][number]): string {
  const codes = reasonCodesOf(reasons);
  const when = `${state} ${decidedAt ?? ""}${codes === "" ? "" : ` (${codes})`}`;
  return `asked for ${askedAt}; it was ${when}`;
}

function receiptText(file: FileDetail): string {
  const { receiptCollectedAt: at, receiptCollectedBy: by, receiptCollectedOver: over } = file;
  if (at === null) return "-";
  return `${at} by ${by ?? "unknown"} over ${over ?? "unknown"}${file.isReceiptUnread ? ", deleted unread" : ""}`;
}

function fileLines(file: FileDetail): string[] {
  const records = `${file.recordsCreated} created, ${file.recordsUpdated} updated, ${file.recordsDeleted} deleted`;
  const removed = file.pruned ?? `${file.removedAt} by ${file.removedBy ?? "unknown"}`;
  return titledLines([
    ["Ledger entry", String(file.id)],
    ["Name", file.name],
    ["Company", file.company],
    ["State", file.pruned === null ? file.state : `${file.state}, pruned`],
    ["Upload began", file.beganAt ?? "-"],
    ["Received", `${file.receivedAt} (${file.channel}${file.user === null ? "" : `, user ${file.user}`})`],
    ["Entered", file.enteredAt ?? "-"],
    ["Parsed", file.parsedAt ?? "-"],
    ["Decided", file.decidedAt ?? "-"],
    ["Filed", file.filedAt ?? "-"],
    ["Receipt read", receiptText(file)],
    ["Stop", file.stopNbr === null ? "-" : `${file.stopNbr}, Function ${file.function ?? "unknown"}`],
    ["Document", file.documentId ?? "-"],
    ["Records", records],
    ["Size", `${file.size} bytes`],
    ["SHA-256", file.sha256 ?? "-"],
    ["Lies in", `${file.location}${file.isFiled || file.decidedAt === null ? "" : " (being filed away)"}`],
    ...(file.duplicateOf === null ? [] : [["Duplicate of", `entry ${file.duplicateOf}`] as const]),
    ...(file.removedAt === null ? [] : [["Removed", removed] as const]),
    ...file.reasons.map((reason) => ["Reason", reasonText(reason)] as const),
    ...file.repeats.map((repeat) => ["Again", repeatText(repeat)] as const),
  ]);
}

function declareShow(file: CliCommand): void {
  file
    .declare("show", "show one ledger entry")
    .withJson()
    .argument("<entry>", "number of the ledger entry, or the reference in its receipt")
    .onConfig(async (run, config, named: string, options: CommonOptions) => {
      const { showFile, tellNoEntry } = await import("../../app/admin/ledger-admin.ts");
      const found = await showFile(config, named);
      if (found !== undefined) return run.printResult(options, found, fileLines);
      run.printFailure(await tellNoEntry(config, named));
    });
}

/** `dropgate file show|retry` */
export function declareFile(program: CliCommand): void {
  const file = program.declare("file", "one file of the ledger");
  declareShow(file);
  declareFileRetry(file);
}
