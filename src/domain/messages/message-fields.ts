/** The placeholders of customer messages: the fixed list, and where their values come from (docs/messages.md). */
import { given } from "../../lib/given.ts";
import { isLocalDateTime, isTimeZone } from "../time/local-time.ts";
import type { Address, Contact, Party } from "../stop/party.ts";
import type { PartyExecution, StopExecution } from "../execution/stop-execution.ts";
import type { Stop } from "../stop/stop.ts";
import { partyOf, visitsOf } from "../execution/stop-visits.ts";
import { localTimeOf, momentOf } from "../time/zoned-time.ts";

/** The values that are stored when an event causes a message: texts as they came, times local in `zone`. */
export interface MessageFacts {
  readonly stopNbr: string;
  readonly loadNbr?: string;
  readonly driverName?: string;
  readonly contact?: Contact;
  readonly address?: Address;
  readonly references?: Readonly<Record<string, string>>;
  /** IANA zone, or abbreviation, of the times. */
  readonly zone: string;
  readonly eventDTTM?: string;
  readonly etaDTTM?: string;
  /** The arrival that was announced before, when it has moved. */
  readonly previousEtaDTTM?: string;
  readonly windowFromDTTM?: string;
  readonly windowToDTTM?: string;
}

interface Field {
  readonly meaning: string;
  value(facts: MessageFacts, format: TimeFormat): string | undefined | null;
}

interface TimeFormat {
  date(local: string): string;
  time(local: string): string;
}

function timeField(
  meaning: string,
  key: "eventDTTM" | "etaDTTM" | "previousEtaDTTM" | "windowFromDTTM" | "windowToDTTM",
  part: keyof TimeFormat,
): Field {
  return {
    meaning,
    value: (facts, format) => {
      const local = facts[key];
      return local === undefined ? undefined : format[part](local);
    },
  };
}

function addressField(meaning: string, key: keyof Address): Field {
  return {
    meaning,
    value: ({ address }) => (address?.[key] === undefined ? undefined : String(address[key])),
  };
}

function referenceField(meaning: string, key: string): Field {
  return { meaning, value: ({ references }) => references?.[key] };
}

/** The references in the order in which one is taken for tracking. */
const trackingOrder = ["proNumber", "shipmentNbr", "bol", "reference1"] as const;
const referenceKeys = [...trackingOrder, "reference2", "accountNumber"] as const;

const fields = {
  "stop.stopNbr": { meaning: "number of the stop", value: ({ stopNbr }) => stopNbr },
  "stop.contact.contactName": {
    meaning: "name of the contact at the stop",
    value: ({ contact }) => contact?.contactName,
  },
  "stop.contact.phone": { meaning: "telephone of the contact", value: ({ contact }) => contact?.phone },
  "stop.address.name": addressField("name in the address", "name"),
  "stop.address.addr1": addressField("street", "addr1"),
  "stop.address.addr2": addressField("second line of the street", "addr2"),
  "stop.address.city": addressField("city", "city"),
  "stop.address.state": addressField("state", "state"),
  "stop.address.zip": addressField("postal code", "zip"),
  "stop.address.country": addressField("country", "country"),
  "stop.shipmentNbr": referenceField("number of the shipment", "shipmentNbr"),
  "stop.bol": referenceField("bill of lading", "bol"),
  "stop.proNumber": referenceField("PRO number", "proNumber"),
  "stop.reference1": referenceField("first reference", "reference1"),
  "stop.reference2": referenceField("second reference", "reference2"),
  "stop.accountNumber": referenceField("account of the customer", "accountNumber"),
  "tracking.reference": {
    meaning: `what the customer can track by: the first that there is of ${trackingOrder.join(", ")}, else the number of the stop`,
    value: ({ references, stopNbr }) =>
      trackingOrder.map((key) => references?.[key]).find((value) => value !== undefined) ?? stopNbr,
  },
  "load.loadNbr": { meaning: "number of the load", value: ({ loadNbr }) => loadNbr },
  "driver.driverName": { meaning: "name of the driver", value: ({ driverName }) => driverName },
  "eta.date": timeField("date of the planned arrival", "etaDTTM", "date"),
  "eta.time": timeField("time of the planned arrival", "etaDTTM", "time"),
  "eta.previousDate": timeField("date of the arrival that was announced before", "previousEtaDTTM", "date"),
  "eta.previousTime": timeField("time of the arrival that was announced before", "previousEtaDTTM", "time"),
  "window.date": timeField("date of the appointment or time window", "windowFromDTTM", "date"),
  "window.from": timeField("beginning of the appointment or time window", "windowFromDTTM", "time"),
  "window.to": timeField("end of the appointment or time window", "windowToDTTM", "time"),
  "event.date": timeField("date on which it happened", "eventDTTM", "date"),
  "event.time": timeField("time at which it happened", "eventDTTM", "time"),
  "time.zone": { meaning: "the time zone of all these times", value: ({ zone }) => zone },
} satisfies Readonly<Record<string, Field>>;

const allFields: readonly (readonly [string, Field])[] = Object.entries(fields);

export const messageFieldNames: ReadonlySet<string> = new Set(Object.keys(fields));

/** Names with their meanings, for the documentation. */
export const messageFieldMeanings: readonly (readonly [name: string, meaning: string])[] = allFields.map(
  ([name, { meaning }]) => [name, meaning],
);

/** A message with one of these announces the arrival to the customer. */
export const fieldNamesThatTellEta: readonly string[] = ["eta.date", "eta.time"];

function timeFormat(locale: string): TimeFormat {
  const options = { timeZone: "UTC" } as const;
  const date = new Intl.DateTimeFormat(locale, { ...options, dateStyle: "medium" });
  const time = new Intl.DateTimeFormat(locale, { ...options, timeStyle: "short" });
  const write = (format: Intl.DateTimeFormat, local: string) => {
    const at = Date.parse(`${local}Z`);
    return Number.isNaN(at) ? local : format.format(at);
  };
  return { date: (local) => write(date, local), time: (local) => write(time, local) };
}

/** The values of all placeholders; what is not known is empty. */
export function messageValues(facts: MessageFacts, locale: string): ReadonlyMap<string, string> {
  const format = timeFormat(locale);
  return new Map(allFields.map(([name, { value }]) => [name, value(facts, format) ?? ""]));
}

/** Where a message comes from. */
export interface MessageSource {
  readonly stop: Stop;
  readonly execution: StopExecution;
  readonly loadNbr: string | null;
  readonly driverName: string | undefined;
  /** Of stops that name none. */
  readonly defaultZone: string;
  /** `visit`, `reportedCode`, `eventDTTM` and `eventTz` of the event, as far as there are any. */
  readonly event: Readonly<Record<string, unknown>>;
  readonly recordedAt: number;
  /** Milliseconds UTC. */
  readonly previousEtaAt?: number;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function referencesOf(stop: Stop): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const key of referenceKeys) {
    const value = stop[key];
    if (value !== undefined && String(value) !== "") found[key] = String(value);
  }
  return found;
}

/** Whether the event is about the visit at the pickup, of a stop that may have a drop-off too. */
function isOfPickup({ visit, reportedCode }: MessageSource["event"]): boolean {
  return visit === "pickup" || String(reportedCode ?? "").startsWith("stop.pickup.");
}

/** The receiver: whom the driver visits for a pickup, else whom the delivery is for. */
function toldParty({ stop, event }: MessageSource): Party | undefined {
  return partyOf(stop, visitsOf(stop, {}), isOfPickup(event) ? "from" : "to");
}

function moved(local: string | undefined, from: string | undefined, to: string): string | undefined {
  if (local === undefined || !isLocalDateTime(local)) return undefined;
  const zone = from !== undefined && isTimeZone(from) ? from : to;
  return localTimeOf(momentOf(local, zone), to);
}

/** The visit that a message is about: that of a pickup only, or the one of the event, else the delivery. */
function toldVisit({ stop, execution, event }: Pick<MessageSource, "stop" | "execution" | "event">) {
  const isPickup = isOfPickup(event) || visitsOf(stop, {}) === "pickupOnly";
  return (isPickup ? execution.from : execution.to) ?? {};
}

/** The planned arrival as a moment (milliseconds UTC), as far as it is known. */
export function etaOf(source: Pick<MessageSource, "stop" | "execution" | "event">): number | undefined {
  const { plannedEtaDTTM, plannedEtaTz }: PartyExecution = toldVisit(source);
  return plannedEtaDTTM === undefined ? undefined : momentOf(plannedEtaDTTM, plannedEtaTz ?? "UTC");
}

function timesOf(source: MessageSource, zone: string, party: Party | undefined): Partial<MessageFacts> {
  const { event, recordedAt, previousEtaAt } = source;
  const eta = etaOf(source);
  const { timeFrom, timeTo, timeZone } = party?.schedule ?? {};
  const reported = moved(textOf(event["eventDTTM"]), textOf(event["eventTz"]), zone);
  return given({
    eventDTTM: reported ?? localTimeOf(recordedAt, zone),
    etaDTTM: eta === undefined ? undefined : localTimeOf(eta, zone),
    previousEtaDTTM: previousEtaAt === undefined ? undefined : localTimeOf(previousEtaAt, zone),
    windowFromDTTM: moved(timeFrom, timeZone, zone),
    windowToDTTM: moved(timeTo, timeZone, zone),
  });
}

/**
 * The values to store for a message about the stop as it is now. Never throws: it is called in the middle of a state
 * change.
 */
export function messageFactsOf(source: MessageSource): MessageFacts {
  const { stop, loadNbr, driverName, event } = source;
  const party = toldParty(source);
  const zones = [party?.schedule?.timeZone, toldVisit(source).plannedEtaTz, textOf(event["eventTz"])];
  const zone = zones.find((one) => one !== undefined && isTimeZone(one)) ?? source.defaultZone;
  return {
    stopNbr: stop.stopNbr,
    ...given({ loadNbr: loadNbr ?? undefined, driverName }),
    ...given({ contact: party?.contact, address: party?.address }),
    references: referencesOf(stop),
    zone,
    ...timesOf(source, zone, party),
  };
}

const noValues: ReadonlySet<string> = new Set(["false", "no", "n", "0"]);

/** Whether the stop's custom attribute `noMessages` wants none by this channel. */
export function isRefusedByStop(stop: Pick<Stop, "customAttributes">, channel: "email" | "sms"): boolean {
  const wish = (stop.customAttributes ?? []).find(
    ({ keyField }) => keyField?.trim().toLowerCase() === "nomessages",
  );
  if (wish === undefined) return false;
  const value = (wish.keyValue ?? "").trim().toLowerCase();
  if (value === "email" || value === "sms") return value === channel;
  return !noValues.has(value);
}
