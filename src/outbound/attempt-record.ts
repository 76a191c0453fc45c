/** From the result of an attempt to its record (specification/outbound.md#retries), and to its line in the log. */
import { nextAttemptAt } from "../domain/outbound/retry-schedule.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { AttemptRecord } from "./record-attempts.ts";
import type { FailedOutcome } from "../domain/outbound/delivery-fault.ts";
import type { DeliveryKind } from "../domain/outbound/delivery-state.ts";
import type { DeliveryToRender } from "./delivery-to-render.ts";
import type { EndedAttempt } from "./target-attempts.ts";

export interface FinishedAttempt extends Omit<EndedAttempt, "pause"> {
  readonly row: DeliveryToRender;
  /** How often in a row the delivery has found its name taken. */
  readonly moves: number;
}

/** So many names of one stop are never taken but by a server that says so to every name. */
const maxMoves = 100;
const longestText = 2_000;

function nameFault({ row, moves }: FinishedAttempt): FailedOutcome | undefined {
  const failed = { kind: "failed", fault: "refused", scope: "delivery" } as const;
  if (row.kind === "export") {
    const message = `${row.name}: another file of that name is there, and an export keeps its name: remove that file, then ask for the delivery again`;
    return { ...failed, isPermanent: true, message };
  }
  if (moves < maxMoves) return undefined;
  const message = `${row.name} and the ${maxMoves} names before it are said to be taken: check how the target answers for names that are free`;
  return { ...failed, isPermanent: false, message };
}

/**
 * A fault of the whole target kills nothing, however long it lasts, and does not count towards the 72 hours: a dead letter
 * would be overtaken by the deliveries behind it as soon as the target is well.
 */
function failedRecord(attempt: FinishedAttempt, outcome: FailedOutcome): AttemptRecord {
  const { row, at, now, durationMs, random } = attempt;
  const { fault, isPermanent, retryAfterMs } = outcome;
  const faultText = outcome.message.slice(0, longestText);
  const base = { id: row.id, at, durationMs, fault, faultText };
  const failed = { failures: row.attempts + 1, now, random, retryAfterMs };
  if (outcome.scope === "target") {
    return { ...base, kind: "later", dueAt: nextAttemptAt(failed), isOfTarget: true };
  }
  if (isPermanent) return { ...base, kind: "dead" };
  const dueAt = nextAttemptAt({ ...failed, firstAttemptAt: row.firstAttemptAt ?? at });
  return dueAt === undefined
    ? { ...base, kind: "dead" }
    : { ...base, kind: "later", dueAt, isOfTarget: false };
}

export function attemptRecordOf(attempt: FinishedAttempt): AttemptRecord {
  const { row, result, at, durationMs } = attempt;
  const base = { id: row.id, at, durationMs };
  if (result.kind === "withheld") {
    const { why } = result;
    if (why.kind === "postponed") return { ...base, ...why };
    return { ...base, kind: "dropped", fault: why.fault, faultText: why.message.slice(0, longestText) };
  }
  const { outcome } = result;
  if (outcome.kind === "failed") return failedRecord(attempt, outcome);
  if (outcome.kind === "nameTaken") {
    const fault = nameFault(attempt);
    if (fault !== undefined) return failedRecord(attempt, fault);
    return { ...base, kind: "nameTaken", companyId: row.companyId, name: row.name };
  }
  const { sha256, size } = result.kind === "tried" ? result.rendered : { sha256: null, size: null };
  return { ...base, kind: "delivered", sha256, size };
}

interface LoggedAttempt {
  readonly row: DeliveryToRender;
  readonly record: AttemptRecord;
  readonly target: string;
}

const attemptTexts: Readonly<Record<AttemptRecord["kind"], readonly ["info" | "warn" | "error", string]>> = {
  delivered: ["info", "delivered"],
  nameTaken: ["info", "not delivered: the name is taken; it goes on under the next one"],
  postponed: ["info", "not sent yet"],
  dropped: ["warn", "not sent, and not going to be"],
  later: ["warn", "not delivered; it is tried again"],
  dead: ["error", "not delivered; it is a dead letter until somebody retries it"],
};

/** What the key of a line is, by which deliveries go out one after the other. */
const subjectNames: Readonly<Record<DeliveryKind, string>> = {
  completion: "stop",
  message: "stop",
  export: "export",
  alert: "receiver",
};

/** One line for each attempt, once its outcome is recorded. */
export function logAttempt(log: Logger, { row, record, target }: LoggedAttempt): void {
  const [level, text] = attemptTexts[record.kind];
  log[level](
    {
      delivery: row.guid,
      deliveryId: row.id,
      company: row.companyCode,
      target,
      [subjectNames[row.kind]]: row.orderKey,
      name: row.name,
      attempt: row.attempts + 1,
      outcome: record.kind,
      ms: record.durationMs,
      ...(record.kind === "delivered" ? { bytes: record.size } : {}),
      ...("fault" in record ? { fault: record.fault, message: record.faultText } : {}),
      ...("dueAt" in record ? { nextAttemptAt: isoTime(record.dueAt) } : {}),
    },
    text,
  );
}
