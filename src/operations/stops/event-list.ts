/** The recorded events of a stop or a load (specification/events.md#list-of-recorded-events). */
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import { normaliseLocalDateTime, readInstant } from "../../domain/time/local-time.ts";
import { recordedEventName } from "../../domain/outbound/recorded-events.ts";
import { DropgateError, type Fault } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { type EventSelection, listEvents, type StoredEvent } from "../../store/stops/recorded-events.ts";
import { isPositionKnown } from "../../store/stops/event-retention.ts";
import { findStoredLoad } from "../../store/stops/load-queries.ts";
import { findStoredStop } from "../../store/stops/stop-queries.ts";
import { utcDateTime } from "./cancellation-request.ts";
import { loadNotFound, stopNotFound } from "../not-found.ts";
import type { NamedValue } from "../legacy/legacy-filter.ts";
import type { ReadDeps } from "../operation-deps.ts";
import { refusal } from "../request-body.ts";

export interface EventListDeps extends ReadDeps {
  /** What the ids of events are shown as: the numbers themselves count the events of all companies. */
  readonly eventNumbers: SealedNumbers;
}

export interface EventListQuery {
  readonly companyId: number;
  /** `stopNbr` or `loadNbr`, `since`, `limit`. */
  readonly parameters: readonly NamedValue[];
}

export const defaultEventLimit = 500;
export const maxEventLimit = 5_000;

const names = ["stopNbr", "loadNbr", "since", "limit"] as const;
type Name = (typeof names)[number];

type Values = Partial<Record<Name, string>>;

function readValues(parameters: readonly NamedValue[]): Values {
  const values: Values = {};
  const faults: Fault[] = [];
  for (const { name, value } of parameters) {
    const known = names.find((one) => one.toLowerCase() === name.toLowerCase());
    if (known === undefined) {
      const path = name.slice(0, 60);
      const message = `${path} is no parameter of this operation. Send stopNbr or loadNbr, and since and limit if wanted.`;
      faults.push({ code: "unknownFilter", path, message });
    } else if (values[known] !== undefined) {
      const message = `${known} stands twice in the query. Send it once.`;
      faults.push({ code: "wrongType", path: known, message });
    } else values[known] = value;
  }
  if (faults.length > 0) throw refusal(faults);
  return values;
}

function limitOf({ limit }: Values): number {
  if (limit === undefined) return defaultEventLimit;
  const number = Number(limit);
  if (/^\d{1,6}$/.test(limit) && number >= 1 && number <= maxEventLimit) return number;
  const message = `limit must be a whole number from 1 to ${maxEventLimit}.`;
  throw refusal([{ code: "wrongType", path: "limit", message }]);
}

/** The id of the last event that is known, or a time in UTC. */
function sinceOf({ since }: Values, numbers: SealedNumbers): Pick<EventSelection, "afterId" | "from"> {
  if (since === undefined) return {};
  const afterId = numbers.open(since);
  if (afterId !== undefined) return { afterId };
  const local = normaliseLocalDateTime(since);
  const from = readInstant(since) ?? (local === undefined ? undefined : Date.parse(`${local}Z`));
  if (from !== undefined) return { from };
  const message =
    "since is neither the eventId of the last known event nor a date-time in UTC such as 2026-11-05T08:00:00.";
  throw refusal([{ code: "badDate", path: "since", message }]);
}

async function checkThere(
  { store }: EventListDeps,
  companyId: number,
  { stopNbr, loadNbr }: Values,
): Promise<void> {
  if (stopNbr !== undefined && (await findStoredStop(store.read, { companyId, stopNbr })) === undefined)
    throw stopNotFound(stopNbr);
  if (loadNbr !== undefined && (await findStoredLoad(store.read, { companyId, loadNbr })) === undefined)
    throw loadNotFound(loadNbr);
}

function eventOf({ id, code, stopNbr, loadNbr, recordedAt, data }: StoredEvent, numbers: SealedNumbers) {
  return {
    eventId: numbers.seal(id),
    eventCode: code,
    eventName: recordedEventName(code),
    ...(loadNbr === null ? {} : { loadNbr }),
    ...(stopNbr === null ? {} : { stopNbr }),
    eventDTTM: utcDateTime(recordedAt),
    eventTz: "UTC",
    // The event's own time and place have precedence over those that the service noted.
    ...(JSON.parse(data) as Readonly<Record<string, unknown>>),
  };
}

/** Readers go on from the last event that they know: what came after it and is gone must not be missing in silence. */
async function checkPosition({ store }: EventListDeps, { afterId, ...of }: EventSelection): Promise<void> {
  if (afterId === undefined || (await isPositionKnown(store.read, { ...of, afterId }))) return;
  const message =
    "since names an event that is kept no longer, so that events after it may be gone as well. Send the query without " +
    "since, or with a time in UTC: it answers with all that is kept.";
  throw refusal([{ code: "badDate", path: "since", message }]);
}

/**
 * The events in the order in which they were recorded, oldest first. Throws 901 when neither a stop nor a load is named,
 * 910 for an unknown parameter, 902 or 904 for a bad one or a position that is gone, 921 or 920 when there is none of that number.
 */
export async function readEventList(deps: EventListDeps, query: EventListQuery) {
  const values = readValues(query.parameters);
  const { stopNbr, loadNbr } = values;
  if (stopNbr === undefined && loadNbr === undefined) {
    throw new DropgateError("missing", "stopNbr and loadNbr are missing. Send one of them in the query.");
  }
  const selection: EventSelection = {
    companyId: query.companyId,
    ...given({ stopNbr, loadNbr }),
    ...sinceOf(values, deps.eventNumbers),
    limit: limitOf(values),
  };
  await checkPosition(deps, selection);
  const events = await listEvents(deps.store.read, selection);
  if (events.length === 0) await checkThere(deps, query.companyId, values);
  return { Events: events.map((event) => eventOf(event, deps.eventNumbers)) };
}
