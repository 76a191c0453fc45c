/**
 * The consequences of an event, all in the transaction of the state change:
 *
 *     it is recorded ──> messages to customers, when the configuration asks for them (`tell-customers.ts`)
 *                    ──> a completion file, when the configuration asks for one, or a stop is done by it (`keep-completion.ts`)
 *
 * Their deliveries are rows of the same transaction, and the delivery queue finds them there: a crash loses none of them,
 * and nothing goes out about a change that did not happen.
 */
import { endsStop, recordedEvents } from "../../domain/outbound/recorded-events.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { forEach } from "../../store/database/groups/side-by-side.ts";
import { wantedEventsOf } from "../../store/outbound/outbound-targets.ts";
import { insertRecordedEvent } from "../../store/stops/recorded-events.ts";
import { keepCompletion } from "./keep-completion.ts";
import type { RecordedEvent } from "./recorded-event.ts";
import { tellCustomers } from "./tell-customers.ts";

function keepEvent(tx: Transaction, event: RecordedEvent): Promise<unknown> {
  return insertRecordedEvent(tx, {
    companyId: event.companyId,
    code: recordedEvents[event.kind].code,
    stopNbr: event.stopNbr ?? null,
    loadNbr: event.loadNbr ?? null,
    recordedAt: event.recordedAt,
    data: event.data === undefined ? "{}" : JSON.stringify(event.data),
  });
}

async function complete(tx: Transaction, event: RecordedEvent, isWanted: boolean): Promise<void> {
  const { companyId, stopNbr, recordedAt: now, data } = event;
  const { code } = recordedEvents[event.kind];
  if (stopNbr === undefined) return;
  const eventDTTM = typeof data?.["eventDTTM"] === "string" ? data["eventDTTM"] : undefined;
  await keepCompletion(tx, { companyId, stopNbr, code, isWanted, eventDTTM, now });
}

/** Of the events of loads, only the start of one causes messages to customers. */
function hasConsequences({ stopNbr, kind }: RecordedEvent): boolean {
  return stopNbr !== undefined || kind === "loadInitiated";
}

/**
 * Records the events of a state change in its transaction, after the change is written: the events of one report
 * together, because a completion file contains all of them. The queue finds the deliveries.
 */
export async function recordEvents(tx: Transaction, events: readonly RecordedEvent[]): Promise<void> {
  await forEach(tx, events, (event) => keepEvent(tx, event));
  for (const event of events) {
    if (!hasConsequences(event)) continue;
    const { code } = recordedEvents[event.kind];
    const wanted = await wantedEventsOf(tx, event.companyId);
    const isWanted = wanted.completion.has(code);
    if (wanted.message.has(code)) await tellCustomers(tx, event);
    if (isWanted || endsStop(code)) await complete(tx, event, isWanted);
  }
}

/** Records one event in the transaction of its state change. */
export async function recordEvent(tx: Transaction, event: RecordedEvent): Promise<void> {
  await recordEvents(tx, [event]);
}
