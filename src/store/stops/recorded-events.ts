/**
 * Recorded events, in the order in which they were recorded. Some of them ask for a completion file
 * (specification/outbound.md#when-a-completion-file-is-due), which is kept with its deliveries in the same transaction:
 * that of the state change that the event tells of. So are the messages to customers that they cause.
 */
import { setImmediate } from "node:timers/promises";
import { type RecordedEventKind, recordedEvents } from "../../domain/outbound/recorded-events.ts";
import { killPoint } from "../../lib/kill-point.ts";
import { canComplete, insertCompletion } from "../outbound/completions.ts";
import type { Transaction } from "../database/group-commit.ts";
import { insertMessages } from "../outbound/messages.ts";
import { wantedEventsOf } from "../outbound/outbound-targets.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export interface RecordedEvent {
  readonly companyId: number;
  readonly kind: RecordedEventKind;
  readonly stopNbr?: string;
  readonly loadNbr?: string;
  readonly recordedAt: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Large imports record thousands of events: others get a turn of the event loop between. */
const eventsInTurn = 64;

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

function insertOne(tx: Transaction, event: RecordedEvent): Promise<unknown> {
  return insertEvent.run(tx, {
    companyId: event.companyId,
    code: recordedEvents[event.kind].code,
    stopNbr: event.stopNbr ?? null,
    loadNbr: event.loadNbr ?? null,
    recordedAt: event.recordedAt,
    data: event.data === undefined ? "{}" : JSON.stringify(event.data),
  });
}

/** Keeps a completion of the stop if the event asks for one. */
async function complete(tx: Transaction, event: RecordedEvent, isWanted: boolean): Promise<void> {
  const { companyId, stopNbr, recordedAt: now, data } = event;
  const { code } = recordedEvents[event.kind];
  if (stopNbr === undefined) return;
  const eventDTTM = typeof data?.["eventDTTM"] === "string" ? data["eventDTTM"] : undefined;
  await insertCompletion(tx, { companyId, stopNbr, code, isWanted, eventDTTM, now });
}

/**
 * Records the events of a state change in its transaction, after what it changes is written: those of one report together,
 * because a completion file tells of all of them. The queue finds what there is to deliver.
 */
export async function recordEvents(tx: Transaction, events: readonly RecordedEvent[]): Promise<void> {
  let count = 0;
  for (const event of events) {
    count += 1;
    if (count % eventsInTurn === 0) await setImmediate();
    await insertOne(tx, event);
    killPoint("event.recorded");
  }
  count = 0;
  for (const event of events) {
    count += 1;
    if (count % eventsInTurn === 0) await setImmediate();
    if (event.stopNbr === undefined && event.kind !== "loadInitiated") continue;
    const { code } = recordedEvents[event.kind];
    const wanted = await wantedEventsOf(tx, event.companyId);
    const isWanted = wanted.completion.has(code);
    if (wanted.message.has(code)) await insertMessages(tx, event);
    if (isWanted || canComplete(code)) await complete(tx, event, isWanted);
  }
}

/** Records one event in the transaction of the state change that it tells of. */
export async function recordEvent(tx: Transaction, event: RecordedEvent): Promise<void> {
  await recordEvents(tx, [event]);
}
