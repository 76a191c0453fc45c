/** Recorded events, in the order in which they were recorded. */
import { type RecordedEventKind, recordedEvents } from "../domain/recorded-events.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { Transaction } from "./group-commit.ts";
import { prepareQuery } from "./prepared-query.ts";

export interface RecordedEvent {
  readonly companyId: number;
  readonly kind: RecordedEventKind;
  readonly stopNbr?: string;
  readonly loadNbr?: string;
  readonly recordedAt: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

interface EventArguments {
  readonly companyId: number;
  readonly code: number;
  readonly stopNbr: string | null;
  readonly loadNbr: string | null;
  readonly recordedAt: number;
  readonly data: string;
}

const insertEvent = prepareQuery<EventArguments>((db, arg) =>
  db.insertInto("recorded_events").values({
    company_id: arg("companyId"),
    event_code: arg("code"),
    stop_nbr: arg("stopNbr"),
    load_nbr: arg("loadNbr"),
    recorded_at: arg("recordedAt"),
    data: arg("data"),
  }),
);

/** Records one event in the transaction of the state change that it tells of. */
export async function recordEvent(tx: Transaction, event: RecordedEvent): Promise<void> {
  await insertEvent.run(tx, {
    companyId: event.companyId,
    code: recordedEvents[event.kind].code,
    stopNbr: event.stopNbr ?? null,
    loadNbr: event.loadNbr ?? null,
    recordedAt: event.recordedAt,
    data: JSON.stringify(event.data ?? {}),
  });
  killPoint("event.recorded");
}
