/**
 * Applies the instructions of one stop document, all or nothing (decisions 3 and 5).
 *
 * First everything is looked up and planned in memory; only when no instruction is refused is anything written. A
 * refusal is a value: the caller keeps it in the same transaction.
 */
import type { RecordedEventKind } from "../domain/recorded-events.ts";
import type { StopChange } from "../domain/stop-change.ts";
import { importRules, initialStopStatus, stopStatusNames } from "../domain/stop-status.ts";
import { type Fault, maxFaults } from "../lib/errors.ts";
import type { Transaction } from "../store/group-commit.ts";
import { findPartner } from "../store/partners.ts";
import { recordEvent } from "../store/recorded-events.ts";
import { cancelStop, findKnownStop, type KnownStop, type StopRecord, saveStop } from "../store/stops.ts";

export interface StopChanges {
  readonly companyId: number;
  readonly changes: readonly StopChange[];
  /** Time in the name of the file (CCYYMMDDHHMMSS), null for documents that have none. */
  readonly fileTime: number | null;
  /** Whether a file older than one applied before is refused (954). */
  readonly refuseLate: boolean;
  readonly now: number;
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
    };

interface Plan {
  readonly input: StopChanges;
  /** What each stop will be after the steps so far; a document may name a stop twice. */
  readonly stops: Map<string, KnownStop>;
  readonly steps: Step[];
  readonly events: { readonly kind: RecordedEventKind; readonly stopNbr: string }[];
  readonly faults: Fault[];
}

function refuse(plan: Plan, stopNbr: string, fault: Omit<Fault, "stopNbr">): void {
  plan.faults.push({ ...fault, stopNbr });
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

function planCancellation(plan: Plan, change: StopChange, known: KnownStop | undefined): void {
  const { stopNbr } = change;
  if (known === undefined || known.status === "99") {
    refuse(plan, stopNbr, {
      code: "stopNotFound",
      message: `StopNbr ${stopNbr}: there is no such stop to delete; check the number, or whether it was deleted before`,
    });
    return;
  }
  const cancelDTTM = new Date(plan.input.now).toISOString().slice(0, 19);
  const cancellation = {
    reasonCode: "",
    reasonDesc: "deleted by the host",
    cancelDTTM,
    cancelTimeZone: "UTC",
  };
  const execution = executionWith(known, { cancellation });
  const fileTime = newestFileTime(plan, known);
  plan.steps.push({ kind: "cancel", stopNbr, execution, fileTime });
  plan.events.push({ kind: "stopCancelled", stopNbr });
  plan.stops.set(stopNbr, { ...known, status: "99", execution, fileTime });
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
  change: StopChange,
  known: KnownStop | undefined,
): Pick<KnownStop, "receiveStatus" | "receiveDttm"> {
  const wasReceived = known?.receiveStatus === "10";
  if (!change.index.markAsReceived || wasReceived) {
    return { receiveStatus: wasReceived ? "10" : "00", receiveDttm: known?.receiveDttm ?? null };
  }
  plan.events.push({ kind: "stopReceived", stopNbr: change.stopNbr });
  const now = new Date(plan.input.now).toISOString().slice(0, 19);
  return { receiveStatus: "10", receiveDttm: change.index.receivedDttm ?? now };
}

function planImport(plan: Plan, change: StopChange, known: KnownStop | undefined): void {
  const { stopNbr, index } = change;
  const rule = importRules[known?.status ?? "none"];
  if (rule.kind === "refuse") {
    const state = known === undefined ? "" : `${known.status} (${stopStatusNames[known.status]})`;
    refuse(plan, stopNbr, {
      code: rule.code,
      message: `StopNbr ${stopNbr}: the stop is ${state} and cannot be changed; send what is still to be done under another stop number`,
    });
    return;
  }
  const isNew = rule.kind === "create";
  // A cancelled stop is created anew: nothing of the old one but its history goes on.
  const before = isNew ? undefined : known;
  const record: StopRecord = {
    companyId: plan.input.companyId,
    stopNbr,
    status: rule.to === "initial" ? initialStopStatus(index.hasTimeWindow) : rule.to,
    ...assignmentOf(change, before),
    shipmentNbr: index.shipmentNbr ?? null,
    sealNbr: index.sealNbr ?? null,
    bol: index.bol ?? null,
    reference1: index.reference1 ?? null,
    reference2: index.reference2 ?? null,
    body: change.stopJson,
    execution: before?.status === "80" || before === undefined ? "{}" : before.execution,
    fileTime: newestFileTime(plan, known),
    createdAt: before?.createdAt ?? plan.input.now,
    updatedAt: plan.input.now,
    ...receiptOfGoods(plan, change, before),
  };
  for (const kind of rule.events) plan.events.push({ kind, stopNbr });
  plan.steps.push({ kind: "save", record, isNew });
  plan.stops.set(stopNbr, record);
}

async function checkCarrier(tx: Transaction, plan: Plan, change: StopChange): Promise<void> {
  const { carrierCode, hasStopAssignment } = change.index;
  if (!(change.function === "03" || hasStopAssignment) || carrierCode === undefined || carrierCode === "")
    return;
  if ((await findPartner(tx, plan.input.companyId, carrierCode)) !== undefined) return;
  refuse(plan, change.stopNbr, {
    code: "partnerNotFound",
    message: `CarrierCode ${carrierCode}: there is no such business partner; import it or correct the code, then send the stop again (a file under a new time)`,
  });
}

function isLate(plan: Plan, known: KnownStop | undefined): boolean {
  const { fileTime, refuseLate } = plan.input;
  return refuseLate && fileTime !== null && known?.fileTime != null && fileTime < known.fileTime;
}

async function planAll(tx: Transaction, plan: Plan): Promise<readonly Fault[]> {
  const late: Fault[] = [];
  for (const change of plan.input.changes) {
    const { stopNbr } = change;
    const known = plan.stops.get(stopNbr) ?? (await findKnownStop(tx, plan.input.companyId, stopNbr));
    if (isLate(plan, known)) {
      const message = `a newer file for stop ${stopNbr} (time ${known?.fileTime}) has been applied; send the stop again under a new time`;
      late.push({ code: "superseded", message, stopNbr });
      continue;
    }
    if (change.function === "02") {
      planCancellation(plan, change, known);
    } else {
      await checkCarrier(tx, plan, change);
      planImport(plan, change, known);
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
  for (const event of plan.events) await recordEvent(tx, { companyId, ...event, recordedAt: now });
  return counts;
}

/** Applies the changes in their order within the transaction, or writes nothing and says why. */
export async function applyStopChanges(tx: Transaction, input: StopChanges): Promise<StopChangesOutcome> {
  const plan: Plan = { input, stops: new Map(), steps: [], events: [], faults: [] };
  const late = await planAll(tx, plan);
  if (plan.faults.length > 0)
    return { kind: "refused", faults: [...plan.faults, ...late].slice(0, maxFaults) };
  if (late.length > 0) return { kind: "superseded", faults: late.slice(0, maxFaults) };
  return { kind: "applied", counts: await write(tx, plan) };
}
