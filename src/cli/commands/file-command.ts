import type { FileFilter } from "../../app/admin/file-filter.ts";
import type { FileDetail, FileReason, FileView } from "../../app/admin/ledger-admin.ts";
import { type CliCommand, type CommonOptions, type LongListOptions, titledLines } from "../command-line.ts";
import { declareFileRetry, fileFilterOf, withFileFilter } from "./file-retry-command.ts";
import { tableLines } from "../table.ts";

function reasonCodesOf(reasons: readonly FileReason[]): string {
  return [...new Set(reasons.map(({ reasonCode }) => reasonCode))].join(" ");
}

function fileRow(file: FileView): (string | number)[] {
  const { id, receivedAt, company, name, state, stopNbr } = file;
  return [id, receivedAt, company, state, name, stopNbr ?? "-", reasonCodesOf(file.reasons) || "-"];
}

function listLines(files: readonly FileView[]): readonly string[] {
  if (files.length === 0) return ["The ledger has no such file."];
  const head = ["ID", "RECEIVED", "COMPANY", "STATE", "NAME", "STOP", "REASONS"];
  return tableLines(head, files.map(fileRow));
}

/** `dropgate files` */
export function declareFiles(program: CliCommand): void {
  const files = withFileFilter(program.declare("files", "list the ledger, the newest first").withJson());
  files.withLimit().onConfig(async (run, config, options: FileFilter & LongListOptions) => {
    const { listLedger } = await import("../../app/admin/ledger-admin.ts");
    const listed = await listLedger(config, { ...fileFilterOf(options), limit: options.limit });
    run.printLongList(options, listed, listLines);
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

function fileLines(file: FileDetail): string[] {
  const records = `${file.recordsCreated} created, ${file.recordsUpdated} updated, ${file.recordsDeleted} deleted`;
  const removed = `${file.removedAt} by ${file.removedBy ?? "unknown"}`;
  return titledLines([
    ["Ledger entry", String(file.id)],
    ["Name", file.name],
    ["Company", file.company],
    ["State", file.state],
    ["Received", `${file.receivedAt} (${file.channel}${file.user === null ? "" : `, user ${file.user}`})`],
    ["Decided", file.decidedAt ?? "-"],
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
      const { showFile } = await import("../../app/admin/ledger-admin.ts");
      const found = await showFile(config, named);
      if (found !== undefined) return run.printResult(options, found, fileLines);
      run.printFailure(`there is no ledger entry ${named}: \`dropgate files\` lists them`);
    });
}

/** `dropgate file show|retry` */
export function declareFile(program: CliCommand): void {
  const file = program.declare("file", "one file of the ledger");
  declareShow(file);
  declareFileRetry(file);
}
