/**
 * Completions: a stop as it was when an event asked for a file about it
 * (specification/outbound.md#when-a-completion-file-is-due). Each is made in the transaction of the event, with its
 * deliveries; the file is rendered from it later, each time to the same bytes.
 */
import { completionFileName, freeCompletionName } from "../../domain/outbound/completion-name.ts";
import { recordedEvents } from "../../domain/outbound/recorded-events.ts";
import { isDoneStopStatus } from "../../domain/stop/stop-status.ts";
import { localTimeOf } from "../../domain/time/zoned-time.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import {
  type EventRange,
  findSnapshot,
  insertCompletion,
  type NewCompletion,
} from "../../store/outbound/completions.ts";
import { insertCompletionDeliveries, listTakenNames } from "../../store/outbound/deliveries.ts";
import { findDrivenLoad } from "../../store/stops/loads.ts";
import { listEventPlaces } from "../../store/stops/recorded-events.ts";

/** An event that may ask for a completion file, recorded with all others of its report. */
export interface CompletionTrigger {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly code: number;
  /** Whether the configuration asks for a file with each event of this code; else only the completion of a stop does. */
  readonly isWanted: boolean;
  /** Local, when it was reported. */
  readonly eventDTTM: string | undefined;
  readonly now: number;
}

/** Events before a cancellation, and the cancellation itself, belong to an earlier stop of the same number. */
async function eventRange(tx: Transaction, trigger: CompletionTrigger): Promise<EventRange> {
  const cancelled = recordedEvents.stopCancelled.code;
  let [lastEventId, lastCancelled, cancelledBefore] = [0, 0, 0];
  for (const { id, code } of await listEventPlaces(tx, trigger)) {
    lastEventId = Math.max(lastEventId, id);
    if (code !== cancelled) continue;
    cancelledBefore = Math.max(cancelledBefore, Math.min(lastCancelled, id));
    lastCancelled = Math.max(lastCancelled, id);
  }
  // The event that asks for the file is part of its content.
  const endOfEarlier = trigger.code === cancelled ? cancelledBefore : lastCancelled;
  return { firstEventId: endOfEarlier + 1, lastEventId };
}

/** Inserts it under the name that it should have, or the next that is free; gives that name, and its id. */
async function insertNamed(
  tx: Transaction,
  completion: NewCompletion,
  isNameTaken: boolean,
): Promise<{ readonly name: string; readonly subjectId: number }> {
  const first = isNameTaken ? undefined : await insertCompletion(tx, completion);
  if (first !== undefined) return { name: completion.name, subjectId: first };
  const { companyId } = completion;
  const name = await freeCompletionName(completion.name, (range) =>
    listTakenNames(tx, { companyId, ...range }),
  );
  const subjectId = await insertCompletion(tx, { ...completion, name });
  if (subjectId === undefined) throw new Error(`the name ${name} was free and is now taken`);
  return { name, subjectId };
}

/**
 * Keeps the stop as it is now for a completion file and puts its deliveries in the queue, if the event asks for one: by the
 * configuration, or because it has brought the stop to its end.
 */
export async function keepCompletion(tx: Transaction, trigger: CompletionTrigger): Promise<void> {
  const { companyId, stopNbr, code, now } = trigger;
  const wished = completionFileName(stopNbr, trigger.eventDTTM ?? localTimeOf(now, "UTC"));
  const found = await findSnapshot(tx, { companyId, stopNbr, name: wished });
  if (found === undefined || !(trigger.isWanted || isDoneStopStatus(found.snapshot.stopStatus))) return;
  const range = await eventRange(tx, trigger);
  const load = await findDrivenLoad(tx, found.loadId);
  const completion = { ...found.snapshot, ...range, ...load, companyId, stopNbr, name: wished, code, now };
  const inserted = await insertNamed(tx, completion, found.isNameTaken);
  await insertCompletionDeliveries(tx, { companyId, ...inserted, orderKey: stopNbr, now });
}
