/**
 * Applies changes to stops, all or nothing (specification/stop-states.md#imports-of-a-stop): those of one stop
 * document, of a stop or ASN import, or the stops that a load import lists.
 *
 * First it reads everything and plans in memory; it writes only when it refuses no change. A refusal is a value: the
 * caller keeps it in the same transaction.
 */
import type { KeptDocument } from "../../domain/documents/document-content.ts";
import type { RecordedEventKind } from "../../domain/outbound/recorded-events.ts";
import { type StopChange, stopChangeOf } from "../../domain/stop/stop-change.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import {
  cancelledStopStatus,
  importRules,
  initialStopStatus,
  type StopImportRules,
  stopStatusNames,
} from "../../domain/stop/stop-status.ts";
import { type Fault, maxKeptFaults } from "../../lib/errors.ts";
import { saveDocuments } from "../../store/stops/documents.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { requireAlone } from "../../store/database/groups/side-by-side.ts";
import { findStoredLoadById } from "../../store/stops/load-queries.ts";
import { cancellationOf, utcDateTime } from "./cancellation-request.ts";
import { completeLoadWithoutStop } from "../loads/complete-load.ts";
import { changeWithTimesOf } from "./kept-appointment.ts";
import { orderStopsOfLoad } from "./order-stops.ts";
import { releaseAppointment } from "../consequences/release-appointment.ts";
import { findAppointment } from "../../store/appointments/appointments.ts";
import { isPartner } from "../../store/accounts/partners.ts";
import { recordEvents } from "../consequences/record-events.ts";
import {
  cancelStop,
  findKnownStop,
  type KnownStop,
  readStopText,
  saveStop,
  type StopRecord,
} from "../../store/stops/stops.ts";

export interface StopChanges {
  readonly companyId: number;
  /** Iterated once: so the caller can make them one by one. */
  readonly changes: Iterable<StopChange>;
  /** Time in the name of the file (CCYYMMDDHHMMSS), null for documents that have none. */
  readonly fileTime: number | null;
  /** Whether a file older than one applied before is refused (954). */
  readonly refuseLate: boolean;
  readonly now: number;
  /** What the import does to a stop in each state; those of the stop import when absent. */
  readonly rules?: StopImportRules;
  /** The load whose import lists the stops, in this order. */
  readonly load?: {
    readonly id: number;
    readonly loadNbr: string;
    /** Stops that the import names by their number alone, which are planned as they are. */
    readonly namedOnly: ReadonlySet<string>;
  };
  /** Where the change stands in the request, for the faults of JSON. */
  readonly pathOf?: (index: number) => string;
}

export interface RecordCounts {
  readonly created: number;
  readonly updated: number;
  readonly deleted: number;
}

export type StopChangesOutcome =
  | { readonly kind: "applied"; readonly counts: RecordCounts }
  | { readonly kind: "refused"; readonly faults: readonly Fault[] }
  | { readonly kind: "superseded"; readonly faults: readonly Fault[] };

type Step =
  | { readonly kind: "save"; readonly record: StopRecord; readonly isNew: boolean }
  | {
      readonly kind: "cancel";
      readonly stopNbr: string;
      readonly execution: string;
      readonly fileTime: number | null;
      /** The load that it is taken from. */
      readonly loadId: number | null;
    };

type Place = Pick<KnownStop, "loadId" | "loadPosition" | "listedPosition">;

const offLoad: Place = { loadId: null, loadPosition: null, listedPosition: null };

interface Change extends StopChange {
  readonly position: number;
}

interface Plan {
  readonly input: StopChanges;
  /** What each stop will be after the steps so far; a document may name a stop twice. */
  readonly stops: Map<string, KnownStop>;
  readonly steps: Step[];
  readonly documents: KeptDocument[];
  /** Loads whose stops may get another order. */
  readonly loads: Set<number>;
  readonly events: {
    readonly kind: RecordedEventKind;
    readonly stopNbr: string;
    readonly loadNbr?: string;
  }[];
  readonly faults: Fault[];
  /** Whether nothing but the stops is changed: no load, which other stops are on, and no appointment, which takes a slot. */
  isOfItsStopsAlone: boolean;
}

/** The name of a field as the request has it: XML or JSON. */
function fieldOf(plan: Plan, name: "StopNbr" | "CarrierCode"): string {
  if (plan.input.pathOf === undefined) return name;
  return name === "StopNbr" ? "stopNbr" : "carrierCode";
}

function refuse(plan: Plan, { stopNbr, position }: Change, fault: Omit<Fault, "stopNbr">): void {
  const path = plan.input.pathOf?.(position);
  const told = path === undefined ? {} : { path, message: `${path}: ${fault.message}` };
  plan.faults.push({ ...fault, stopNbr, ...told });
}

/** A file newer than this one has been applied: its time stays the one to compare with. */
function newestFileTime(plan: Plan, known: KnownStop | undefined): number | null {
  const { fileTime } = plan.input;
  const before = known?.fileTime ?? null;
  return before === null || (fileTime !== null && fileTime > before) ? fileTime : before;
}

function executionWith(known: KnownStop, change: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...JSON.parse(known.execution), ...change });
}

function planCancellation(plan: Plan, change: Change, known: KnownStop | undefined): void {
  const { stopNbr } = change;
  if (known === undefined || known.status === cancelledStopStatus) {
    refuse(plan, change, {
      code: "stopNotFound",
      message: `${fieldOf(plan, "StopNbr")} ${stopNbr}: there is no such stop to delete; check the number, or whether it was deleted before`,
    });
    return;
  }
  const why = { reasonCode: "", reasonComments: "deleted by the host" };
  const cancellation = cancellationOf(why, plan.input.now);
  const execution = executionWith(known, { cancellation });
  const fileTime = newestFileTime(plan, known);
  plan.steps.push({ kind: "cancel", stopNbr, execution, fileTime, loadId: known.loadId });
  plan.events.push({ kind: "stopCancelled", stopNbr });
  plan.stops.set(stopNbr, { ...known, status: cancelledStopStatus, execution, fileTime, ...offLoad });
  if (known.loadId !== null) plan.loads.add(known.loadId);
}

interface Assignment {
  readonly carrierCode: string | null;
  readonly assignmentCriteria: string | null;
}

/** Function 03 without a carrier unassigns; 01 without an assignment leaves the one that is there. */
function assignmentOf(change: StopChange, known: KnownStop | undefined): Assignment {
  const { carrierCode, assignmentCriteria, hasStopAssignment } = change.index;
  if (change.function === "03" || hasStopAssignment) {
    const isAssigned = carrierCode !== undefined && carrierCode !== "";
    return isAssigned
      ? { carrierCode, assignmentCriteria: assignmentCriteria ?? null }
      : { carrierCode: null, assignmentCriteria: null };
  }
  return { carrierCode: known?.carrierCode ?? null, assignmentCriteria: known?.assignmentCriteria ?? null };
}

function receiptOfGoods(
  plan: Plan,
  change: Change,
  known: KnownStop | undefined,
): Pick<KnownStop, "receiveStatus" | "receiveDttm"> {
  const wasReceived = known?.receiveStatus === "10";
  if (!change.index.markAsReceived || wasReceived) {
    return { receiveStatus: wasReceived ? "10" : "00", receiveDttm: known?.receiveDttm ?? null };
  }
  plan.events.push({ kind: "stopReceived", stopNbr: change.stopNbr });
  return {
    receiveStatus: "10",
    receiveDttm: change.index.receivedDttm ?? utcDateTime(plan.input.now),
  };
}

/** A planned stop stays on its load, until a load import lists it elsewhere; any other state is off the load. */
function placeOf(
  plan: Plan,
  { position, stopNbr }: Change,
  before: { readonly known: KnownStop | undefined; readonly status: string },
): Place {
  const { load } = plan.input;
  const { known, status } = before;
  if (load === undefined) {
    return status === "20" && known !== undefined ? known : offLoad;
  }
  if (known?.loadId !== load.id) plan.events.push({ kind: "stopPlanned", stopNbr, loadNbr: load.loadNbr });
  return { loadId: load.id, loadPosition: position, listedPosition: position };
}

/** Notes the loads that the stop leaves, joins, or is on with another `stopSeq`. */
function noteLoads(plan: Plan, known: KnownStop | undefined, record: KnownStop): void {
  const isSame = known?.loadId === record.loadId && known.stopSeq === record.stopSeq;
  if (isSame && plan.input.load === undefined) return;
  for (const stop of [known, record]) if (stop?.loadId != null) plan.loads.add(stop.loadId);
}

function planImport(plan: Plan, change: Change, known: KnownStop | undefined): void {
  const { stopNbr, index } = change;
  const rule = (plan.input.rules ?? importRules)[known?.status ?? "none"];
  if (rule.kind === "refuse") {
    const state = known === undefined ? "" : `${known.status} (${stopStatusNames[known.status]})`;
    const message = `${fieldOf(plan, "StopNbr")} ${stopNbr}: the stop is ${state} and cannot be changed; ${rule.remedy}`;
    refuse(plan, change, { code: rule.code, message });
    return;
  }
  const isNew = rule.kind === "create";
  // A cancelled stop is created anew: nothing of the old one but its history goes on.
  const before = isNew ? undefined : known;
  const status = rule.to === "initial" ? initialStopStatus(index.hasTimeWindow) : rule.to;
  for (const kind of rule.events) plan.events.push({ kind, stopNbr });
  const { loadId, loadPosition, listedPosition } = placeOf(plan, change, { known: before, status });
  const record: StopRecord = {
    companyId: plan.input.companyId,
    stopNbr,
    status,
    ...{ loadId, loadPosition, listedPosition, stopSeq: index.stopSeq ?? null },
    ...assignmentOf(change, before),
    shipmentNbr: index.shipmentNbr ?? null,
    sealNbr: index.sealNbr ?? null,
    bol: index.bol ?? null,
    reference1: index.reference1 ?? null,
    reference2: index.reference2 ?? null,
    body: change.stopJson,
    routed: change.routedJson ?? null,
    execution: before?.status === "80" || before === undefined ? "{}" : before.execution,
    fileTime: newestFileTime(plan, known),
    createdAt: before?.createdAt ?? plan.input.now,
    updatedAt: plan.input.now,
    ...receiptOfGoods(plan, change, before),
  };
  plan.steps.push({ kind: "save", record, isNew });
  noteLoads(plan, before, record);
  plan.stops.set(stopNbr, record);
}

/** A stop that is there, which the load import names by its number alone, with the place in the order that it may have. */
async function asItIs(tx: Transaction, plan: Plan, change: Change): Promise<Change> {
  const { companyId } = plan.input;
  const kept = JSON.parse(await readStopText(tx, { companyId, stopNbr: change.stopNbr })) as Stop;
  const { stopSeq } = JSON.parse(change.stopJson) as Stop;
  const { index, ...whole } = stopChangeOf("01", stopSeq === undefined ? kept : { ...kept, stopSeq });
  // Its carrier stands beside it, and may be another one by now.
  return { ...change, ...whole, index: { ...index, hasStopAssignment: false } };
}

/** The change with what it leaves as it is: of a stop that is only named everything, of any the times of its appointment. */
async function changeToApply(
  tx: Transaction,
  plan: Plan,
  { change, known }: { readonly change: Change; readonly known: KnownStop | undefined },
): Promise<Change> {
  if (known === undefined || known.status === cancelledStopStatus) return change;
  const isNamedOnly = plan.input.load?.namedOnly.has(change.stopNbr) === true;
  if (isNamedOnly) return await asItIs(tx, plan, change);
  const appointment = await findAppointment(tx, plan.input.companyId, change.stopNbr);
  return appointment === undefined ? change : changeWithTimesOf(change, appointment);
}

async function checkCarrier(tx: Transaction, plan: Plan, change: Change): Promise<void> {
  const { carrierCode, hasStopAssignment } = change.index;
  if (!(change.function === "03" || hasStopAssignment) || carrierCode === undefined || carrierCode === "")
    return;
  if (await isPartner(tx, plan.input.companyId, carrierCode)) return;
  refuse(plan, change, {
    code: "partnerNotFound",
    message: `${fieldOf(plan, "CarrierCode")} ${carrierCode}: there is no such business partner; import it or correct the code, then send the stop again${plan.input.pathOf === undefined ? " (a file under a new time)" : ""}`,
  });
}

/** A stop is moved from another load, unless that one is under way. */
async function checkOtherLoad(
  tx: Transaction,
  plan: Plan,
  change: Change,
  known: KnownStop | undefined,
): Promise<void> {
  const { load } = plan.input;
  if (load === undefined || known?.loadId == null || known.loadId === load.id) return;
  const other = await findStoredLoadById(tx, { id: known.loadId });
  if (other === undefined || (other.status !== 40 && other.status !== 70)) return;
  const message = `${fieldOf(plan, "StopNbr")} ${change.stopNbr}: the stop is on load ${other.loadNbr}, which is under way; take it out of this load`;
  refuse(plan, change, { code: "stopInTransit", message });
}

function isLate(plan: Plan, known: KnownStop | undefined): boolean {
  const { fileTime, refuseLate } = plan.input;
  return refuseLate && fileTime !== null && known?.fileTime != null && fileTime < known.fileTime;
}

async function planAll(tx: Transaction, plan: Plan): Promise<readonly Fault[]> {
  const late: Fault[] = [];
  let position = 0;
  for (const listed of plan.input.changes) {
    const change: Change = { ...listed, position };
    const { stopNbr, documents = [] } = change;
    position += 1;
    plan.documents.push(...documents);
    const known =
      plan.stops.get(stopNbr) ?? (await findKnownStop(tx, { companyId: plan.input.companyId, stopNbr }));
    if (known?.loadId != null || change.function === "02") plan.isOfItsStopsAlone = false;
    if (isLate(plan, known)) {
      const message = `a newer file for stop ${stopNbr} (time ${known?.fileTime}) has been applied; send the stop again under a new time`;
      late.push({ code: "superseded", message, stopNbr });
      continue;
    }
    if (change.function === "02") {
      planCancellation(plan, change, known);
    } else {
      await checkCarrier(tx, plan, change);
      await checkOtherLoad(tx, plan, change, known);
      planImport(plan, await changeToApply(tx, plan, { change, known }), known);
    }
  }
  return late;
}

async function write(tx: Transaction, plan: Plan): Promise<RecordCounts> {
  const { companyId, now } = plan.input;
  const counts = { created: 0, updated: 0, deleted: 0 };
  for (const step of plan.steps) {
    if (step.kind === "cancel") {
      const { stopNbr, execution, fileTime } = step;
      await cancelStop(tx, { companyId, stopNbr, execution, fileTime, updatedAt: now });
      counts.deleted += 1;
    } else {
      await saveStop(tx, step.record);
      counts[step.isNew ? "created" : "updated"] += 1;
    }
  }
  for (const loadId of plan.loads) await orderStopsOfLoad(tx, loadId);
  if (plan.documents.length > 0) await saveDocuments(tx, { companyId, documents: plan.documents, now });
  const events = plan.events.map((event) => ({ companyId, ...event, recordedAt: now }));
  await recordEvents(tx, events);
  for (const step of plan.steps)
    if (step.kind === "cancel") await releaseAppointment(tx, { companyId, orderNbr: step.stopNbr, now });
  const left = plan.steps.map((step) => (step.kind === "cancel" ? step.loadId : null));
  for (const loadId of new Set(left)) {
    if (loadId !== null) await completeLoadWithoutStop(tx, { companyId, loadId, now });
  }
  return counts;
}

/** Applies the changes in their order within the transaction, or writes nothing and says why. */
export async function applyStopChanges(tx: Transaction, input: StopChanges): Promise<StopChangesOutcome> {
  const plan: Plan = {
    input,
    stops: new Map(),
    steps: [],
    documents: [],
    loads: new Set(),
    events: [],
    faults: [],
    isOfItsStopsAlone: input.load === undefined,
  };
  const late = await planAll(tx, plan);
  if (plan.faults.length > 0)
    return { kind: "refused", faults: [...plan.faults, ...late].slice(0, maxKeptFaults) };
  if (late.length > 0) return { kind: "superseded", faults: late.slice(0, maxKeptFaults) };
  if (!plan.isOfItsStopsAlone) requireAlone(tx);
  return { kind: "applied", counts: await write(tx, plan) };
}
