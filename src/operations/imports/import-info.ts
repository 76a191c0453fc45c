/** The result of an asynchronous import (specification/gateway.md#result-of-a-load-import). */
import { DropgateError, reasonCodeOf } from "../../lib/errors.ts";
import { findImport, type ImportItem, type StoredImport } from "../../store/stops/imports.ts";
import type { ReadDeps } from "../operation-deps.ts";
import { utcDateTime } from "../stops/cancellation-request.ts";

const itemStatus = { waiting: "Waiting", applied: "Success", refused: "Failed" } as const;

function statusOf({ finishedAt, items }: StoredImport): string {
  if (finishedAt === null) return "InProgress";
  const applied = items.filter(({ state }) => state === "applied").length;
  if (applied === items.length) return "Success";
  return applied === 0 ? "Failed" : "PartialSuccess";
}

function itemOf({ loadNbr, state, faults }: ImportItem) {
  const reasons = faults.map(({ code, message }) => ({
    description: message,
    reasonCode: reasonCodeOf(code),
  }));
  return { loadNbr, status: itemStatus[state], ...(reasons.length === 0 ? {} : { Reasons: reasons }) };
}

/**
 * The outcome of the import, load by load. Throws 920 for an import that the company has not made, or
 * that is kept no longer.
 */
export async function readImportInfo(
  deps: ReadDeps,
  query: { readonly companyId: number; readonly importId: string },
) {
  const found = await findImport(deps.store.read, query.companyId, query.importId);
  if (found === undefined) {
    throw new DropgateError(
      "loadNotFound",
      `there is no import ${query.importId.slice(0, 60)}. Send the importId that the import was answered with; outcomes are kept for a time only (retention.imports).`,
    );
  }
  return {
    importId: found.guid,
    status: statusOf(found),
    receivedDTTM: utcDateTime(found.receivedAt),
    finishedDTTM: found.finishedAt === null ? null : utcDateTime(found.finishedAt),
    timeZone: "UTC",
    loads: found.items.map(itemOf),
  };
}
