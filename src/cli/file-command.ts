import type { Command } from "commander";
import type { FileDetail, FileReason, FileView } from "../app/admin/ledger-admin.ts";
import {
  type CliRun,
  declare,
  exitCodes,
  printError,
  printJson,
  printLines,
  requireConfig,
  wholeNumber,
  withJson,
} from "./command-line.ts";
import { type FilterOptions, fileFilterOf, withFileFilter } from "./file-filter-options.ts";
import { declareFileRetry } from "./file-retry-command.ts";
import { tableLines } from "./table.ts";

interface ListOptions extends FilterOptions {
  readonly limit: number;
  readonly json?: true;
}

const defaultLimit = 50;
const maxLimit = 100_000;

function reasonCodesOf(reasons: readonly FileReason[]): string {
  return [...new Set(reasons.map(({ reasonCode }) => reasonCode))].join(" ");
}

function fileRow(file: FileView): (string | number)[] {
  const { id, receivedAt, company, name, state, stopNbr } = file;
  return [id, receivedAt, company, state, name, stopNbr ?? "-", reasonCodesOf(file.reasons) || "-"];
}

/** `dropgate files` */
export function declareFiles(program: Command, run: CliRun): void {
  withFileFilter(withJson(declare(program, "files", "list the ledger, the newest first")))
    .option("--limit <count>", "how many at most", wholeNumber(1, maxLimit), defaultLimit)
    .action(async (options: ListOptions, command: Command) => {
      const config = await requireConfig(run, command);
      const { listLedger } = await import("../app/admin/ledger-admin.ts");
      const { limit } = options;
      const { files, isCut } = await listLedger(config, { ...fileFilterOf(options), limit });
      // On standard error, so that programs which read the list can see it too.
      if (isCut) printError(run, `(only the newest ${limit}; --limit shows more)`);
      if (options.json) return printJson(run, files);
      if (files.length === 0) return printLines(run, ["The ledger has no such file."]);
      const head = ["ID", "RECEIVED", "COMPANY", "STATE", "NAME", "STOP", "REASONS"];
      printLines(run, tableLines(head, files.map(fileRow)));
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
  const removed =
    file.removedAt === null ? [] : [["Removed", `${file.removedAt} by ${file.removedBy ?? "unknown"}`]];
  const rows = [
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
    ...(file.duplicateOf === null ? [] : [["Duplicate of", `entry ${file.duplicateOf}`]]),
    ...removed,
    ...file.reasons.map((reason) => ["Reason", reasonText(reason)]),
    ...file.repeats.map((repeat) => ["Again", repeatText(repeat)]),
  ];
  return rows.map(([title = "", value = ""]) => `${title.padEnd(14)}${value}`);
}

function declareShow(file: Command, run: CliRun): void {
  withJson(declare(file, "show", "show one ledger entry"))
    .argument("<entry>", "number of the ledger entry, or the reference in its receipt")
    .action(async (given: string, options: { readonly json?: true }, command: Command) => {
      const config = await requireConfig(run, command);
      const { showFile } = await import("../app/admin/ledger-admin.ts");
      const found = await showFile(config, given);
      if (found === undefined) {
        printError(run, `dropgate: there is no ledger entry ${given}: \`dropgate files\` lists them`);
        run.exitCode = exitCodes.failure;
      } else if (options.json) printJson(run, found);
      else printLines(run, fileLines(found));
    });
}

/** `dropgate file show|retry` */
export function declareFile(program: Command, run: CliRun): void {
  const file = declare(program, "file", "one file of the ledger");
  declareShow(file, run);
  declareFileRetry(file, run);
}
