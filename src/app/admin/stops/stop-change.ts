/** What a document changes in its stops, by the stops as they were before it and as they are after it. */
import type { PreparedDocument } from "../../../documents/pool/prepared-document.ts";
import { cancelledStopStatus, stopStatusNames } from "../../../domain/stop/stop-status.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { findStoredStop, type StoredStop } from "../../../store/stops/stop-queries.ts";
import { differenceOfStops, type FieldDifference } from "./stop-difference.ts";

export type ReadableDocument = Exclude<PreparedDocument, { kind: "unreadable" }>;

const maxFields = 50;

export interface StopChangeView {
  readonly stopNbr: string;
  readonly effect: "created" | "updated" | "deleted" | "none";
  readonly statusBefore: string | null;
  readonly statusAfter: string | null;
  /** At most 50; of an update alone. */
  readonly fields: readonly FieldDifference[];
}

function statusText(stop: StoredStop | undefined): string | null {
  if (stop === undefined) return null;
  const name: string | undefined = Object.entries(stopStatusNames).find(
    ([code]) => code === stop.status,
  )?.[1];
  return `${stop.status} ${name ?? "unknown status"}`;
}

function changeOf(
  stopNbr: string,
  before: StoredStop | undefined,
  after: StoredStop | undefined,
): StopChangeView {
  const statusBefore = statusText(before);
  const statusAfter = statusText(after);
  const base = { stopNbr, statusBefore, statusAfter };
  if (after === undefined) return { ...base, effect: "none", fields: [] };
  if (before === undefined || (before.status === cancelledStopStatus && after.status !== cancelledStopStatus))
    return { ...base, effect: "created", fields: [] };
  if (after.status === cancelledStopStatus)
    return { ...base, effect: before.status === cancelledStopStatus ? "none" : "deleted", fields: [] };
  const carrier: FieldDifference = {
    path: "stopAssignment.carrierCode",
    before: before.carrierCode ?? undefined,
    after: after.carrierCode ?? undefined,
  };
  // Assignments stand in columns of their own, which count.
  const inBody = differenceOfStops(before.body, after.body).filter(
    ({ path }) => !path.startsWith("stopAssignment"),
  );
  const fields = carrier.before === carrier.after ? inBody : [carrier, ...inBody];
  return { ...base, effect: "updated", fields: fields.slice(0, maxFields) };
}

/** The numbers of its stops, each once; none of a document that is refused. */
export function stopNumbersOf(document: ReadableDocument): readonly string[] {
  return document.kind === "read" ? [...new Set(document.instructions.map(({ stopNbr }) => stopNbr))] : [];
}

/** Stops by their numbers; undefined for those that there are not. */
type StopsByNumber = ReadonlyMap<string, StoredStop | undefined>;

/** The stops of these numbers as they are at this moment of the unit of work. */
export async function stopsOf(
  tx: Transaction,
  companyId: number,
  numbers: readonly string[],
): Promise<StopsByNumber> {
  const stops = new Map<string, StoredStop | undefined>();
  for (const number of numbers) stops.set(number, await findStoredStop(tx, { companyId, stopNbr: number }));
  return stops;
}

/** What has changed in each of the stops. */
export function changesOf(before: StopsByNumber, after: StopsByNumber): readonly StopChangeView[] {
  return [...before.keys()].map((number) => changeOf(number, before.get(number), after.get(number)));
}
