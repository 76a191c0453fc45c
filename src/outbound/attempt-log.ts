/** One line for each attempt, once its outcome is recorded. */
import { isoTime } from "../lib/iso-time.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { AttemptRecord } from "./record-attempts.ts";
import type { DeliveryToRender } from "./delivery-to-render.ts";

interface LoggedAttempt {
  readonly row: DeliveryToRender;
  readonly record: AttemptRecord;
  readonly target: string;
}

export function logAttempt(log: Logger, { row, record, target }: LoggedAttempt): void {
  const fields = {
    delivery: row.guid,
    deliveryId: row.id,
    company: row.companyCode,
    target,
    ...(row.kind === "export" ? { export: row.orderKey } : { stop: row.orderKey }),
    name: row.name,
    attempt: row.attempts + 1,
    outcome: record.kind,
    ms: record.durationMs,
  };
  switch (record.kind) {
    case "delivered":
      log.info({ ...fields, bytes: record.size }, "delivered");
      return;
    case "nameTaken":
      log.info(fields, "not delivered: the name is taken; it goes on under the next one");
      return;
    case "postponed":
      log.info({ ...fields, nextAttemptAt: isoTime(record.dueAt) }, "not sent yet");
      return;
    case "dropped": {
      const { fault, faultText: message } = record;
      log.warn({ ...fields, fault, message }, "not sent, and not going to be");
      return;
    }
    case "later": {
      const { fault, faultText: message, dueAt } = record;
      const nextAttemptAt = isoTime(dueAt);
      log.warn({ ...fields, fault, message, nextAttemptAt }, "not delivered; it is tried again");
      return;
    }
    case "dead": {
      const { fault, faultText: message } = record;
      log.error(
        { ...fields, fault, message },
        "not delivered; it is a dead letter until somebody retries it",
      );
    }
  }
}
