/** Ledger entries as a table. */
import type { FileReason, FileView } from "../app/admin/file-view.ts";
import { tableLines } from "./table.ts";

export function reasonCodesOf(reasons: readonly FileReason[]): string {
  return [...new Set(reasons.map(({ reasonCode }) => reasonCode))].join(" ");
}

/** Programs that read columns have one word. */
function stateWord({ state, pruned }: FileView): string {
  return pruned === null ? state : `${state}/pruned`;
}

function fileRow(file: FileView): (string | number)[] {
  const { id, receivedAt, company, name, stopNbr } = file;
  return [id, receivedAt, company, stateWord(file), name, stopNbr ?? "-", reasonCodesOf(file.reasons) || "-"];
}

export function fileTable(files: readonly FileView[]): readonly string[] {
  if (files.length === 0) return ["The ledger has no such file."];
  const head = ["ID", "RECEIVED", "COMPANY", "STATE", "NAME", "STOP", "REASONS"];
  return tableLines(head, files.map(fileRow));
}
