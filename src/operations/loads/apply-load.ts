/**
 * Applies one imported load with its stops (specification/stop-states.md#imports-of-a-load). It throws what it refuses,
 * after which the caller undoes what was written.
 */
import type { Load, LoadAssignment } from "../../domain/load/load.ts";
import { plannedLoadStatus } from "../../domain/load/load-status.ts";
import { type StopChange, stopChangeOf } from "../../domain/stop/stop-change.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import { plannedImportRules } from "../../domain/stop/stop-actions.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { findStoredLoad, type StoredLoad } from "../../store/stops/load-queries.ts";
import { type LoadAssignmentRecord, releaseStop, saveLoad, stopNumbersOf } from "../../store/stops/loads.ts";
import { recordEvent } from "../consequences/record-events.ts";
import { applyStopChanges } from "../stops/apply-stop-changes.ts";
import { requireCarrier } from "../stops/carrier-assignment.ts";
import { refusalOfLoadAction } from "./known-load.ts";
import { drivenBy, findAssignedDriver } from "./load-driver.ts";
import { refusal } from "../request-body.ts";

export interface LoadToApply {
  readonly companyId: number;
  readonly load: Load;
  /** Where the load stands in the request, for the faults of its stops: `loads[3]`. */
  readonly path: string;
  readonly now: number;
}

const unassigned: LoadAssignmentRecord = {
  carrierCode: null,
  assignmentCriteria: null,
  driverUserId: null,
  driver: "{}",
};

/** The faults of an operation on one load name its fields only: in an import they have to say of which load. */
async function atPath<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DropgateError)) throw error;
    const message = `${path}: ${error.message}`;
    throw refusal([{ code: error.code, path, message }]);
  }
}

/** The driver that the load has already stays, disabled or not: a load that is sent as it is shown changes nothing. */
async function driverOf(
  tx: Transaction,
  { companyId, load: { loadAssignment = {} } }: LoadToApply,
  known: StoredLoad | undefined,
): Promise<Pick<LoadAssignmentRecord, "driverUserId" | "driver">> {
  const { driverUserName, assignmentCriteria = null, carrierCode = null } = loadAssignment;
  const before = known === undefined ? undefined : (JSON.parse(known.driver) as LoadAssignment);
  if (known !== undefined && driverUserName !== undefined && before?.driverUserName === driverUserName)
    return { driverUserId: known.driverUserId, driver: known.driver };
  const driver = await findAssignedDriver(tx, companyId, {
    ...loadAssignment,
    assignmentCriteria: assignmentCriteria === null ? null : String(assignmentCriteria),
    carrierCode: carrierCode === "" ? null : carrierCode,
  });
  return drivenBy(driver);
}

/** Without `loadAssignment` the one that is there stays; with it, it is replaced whole. */
async function assignmentOf(
  tx: Transaction,
  input: LoadToApply,
  known: StoredLoad | undefined,
): Promise<LoadAssignmentRecord> {
  const { companyId, load } = input;
  const wanted: LoadAssignment | undefined = load.loadAssignment;
  if (wanted === undefined) return known ?? unassigned;
  const carrierCode =
    wanted.carrierCode === undefined || wanted.carrierCode === "" ? null : wanted.carrierCode;
  if (carrierCode !== null) await requireCarrier(tx, companyId, carrierCode);
  const { assignmentCriteria: criteria } = wanted;
  const assignmentCriteria = criteria === undefined || criteria === "" ? null : String(criteria);
  return { carrierCode, assignmentCriteria, ...(await driverOf(tx, input, known)) };
}

function textOrNull(value: string | number | undefined): string | null {
  return value === undefined ? null : String(value);
}

/**
 * Fields that the specification does not name are given back (specification/gateway.md#input), and the assignment in
 * the form it had.
 */
function extraOf({ loadHeader: _, stops: __, loadAssignment, ...load }: Load, known: StoredLoad | undefined) {
  const before = known === undefined ? {} : (JSON.parse(known.extra) as { readonly assignment?: object });
  const assignment = loadAssignment ?? before.assignment;
  return JSON.stringify({ load, ...(assignment === undefined ? {} : { assignment }) });
}

async function keepLoad(
  tx: Transaction,
  input: LoadToApply,
  known: StoredLoad | undefined,
): Promise<{ readonly id: number; readonly assignment: LoadAssignmentRecord }> {
  const { companyId, now } = input;
  const { loadHeader } = input.load;
  const assignment = await atPath(`${input.path}.loadAssignment`, () => assignmentOf(tx, input, known));
  const { carrierCode, assignmentCriteria, driverUserId, driver } = assignment;
  const id = await saveLoad(tx, {
    companyId,
    loadNbr: loadHeader.loadNbr,
    status: plannedLoadStatus({ hasCarrier: carrierCode !== null, hasDriver: driverUserId !== null }),
    ...{ carrierCode, assignmentCriteria, driverUserId, driver },
    reference: textOrNull(loadHeader.reference),
    sealNbr: textOrNull(loadHeader.sealNbr),
    body: JSON.stringify(loadHeader),
    execution: known?.execution ?? "{}",
    extra: extraOf(input.load, known),
    createdAt: known?.createdAt ?? now,
    updatedAt: now,
  });
  return { id, assignment };
}

async function recordLoad(
  tx: Transaction,
  { companyId, load, now }: LoadToApply,
  change: {
    readonly known: StoredLoad | undefined;
    readonly assignment: LoadAssignmentRecord;
    /** Stops that the load had and has no more: no other event mentions them. */
    readonly released: readonly string[];
  },
): Promise<void> {
  const { known, assignment, released } = change;
  const { loadNbr } = load.loadHeader;
  const event = { companyId, loadNbr, recordedAt: now };
  const data = released.length === 0 ? {} : { data: { releasedStops: released } };
  await recordEvent(tx, { ...event, ...data, kind: known === undefined ? "loadCreated" : "loadUpdated" });
  const before = known?.driverUserId ?? null;
  if (assignment.driverUserId === before) return;
  await recordEvent(tx, {
    ...event,
    kind: assignment.driverUserId === null ? "loadUnassigned" : "loadAssigned",
  });
}

/** The numbers of the entries that say nothing else, but for their place in the order. */
function namedOnly(stops: readonly Stop[]): ReadonlySet<string> {
  const isNamedOnly = (stop: Stop) =>
    Object.keys(stop).every((key) => key === "stopNbr" || key === "stopSeq");
  return new Set(stops.filter(isNamedOnly).map(({ stopNbr }) => stopNbr));
}

/** Made one by one as they are applied: a load may have thousands of stops. */
function* changesOf(stops: readonly Stop[]): Generator<StopChange> {
  for (const stop of stops) yield stopChangeOf("01", stop);
}

/** Applies the load in the transaction. Throws a `DropgateError`: 906, 907, 925, 926, or the faults of its stops. */
export async function applyLoad(tx: Transaction, input: LoadToApply): Promise<void> {
  const { companyId, load, now, path } = input;
  const { loadNbr } = load.loadHeader;
  const known = await findStoredLoad(tx, { companyId, loadNbr });
  const refused = known === undefined ? undefined : refusalOfLoadAction(known, "import");
  if (refused !== undefined) throw refused;
  const { id, assignment } = await keepLoad(tx, input, known);
  const stops = load.stops ?? [];
  const listed = new Set(stops.map(({ stopNbr }) => stopNbr));
  const before = known === undefined ? [] : await stopNumbersOf(tx, id);
  const released = before.filter((stopNbr) => !listed.has(stopNbr));
  await recordLoad(tx, input, { known, assignment, released });
  for (const stopNbr of released) await releaseStop(tx, { companyId, stopNbr, now });
  const outcome = await applyStopChanges(tx, {
    companyId,
    changes: changesOf(stops),
    fileTime: null,
    refuseLate: false,
    now,
    rules: plannedImportRules,
    load: { id, loadNbr, namedOnly: namedOnly(stops) },
    pathOf: (index) => `${path}.stops[${index}]`,
  });
  if (outcome.kind !== "applied") throw refusal(outcome.faults);
}
