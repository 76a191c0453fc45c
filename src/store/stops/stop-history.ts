/** The history of a stop, for people: its present state and its recorded events. */
import type { Reader } from "../database/database.ts";
import { namedColumns } from "../database/named-rows.ts";

export interface StopLoad {
  readonly loadNbr: string;
  readonly status: number;
  /** Null without a driver, or when neither name nor user name is known. */
  readonly driver: string | null;
}

export interface StopSummary {
  readonly stopNbr: string;
  readonly status: string;
  readonly receiveStatus: string;
  readonly carrierCode: string | null;
  /** CCYYMMDDHHMMSS of the newest file applied. */
  readonly fileTime: number | null;
  /** The load that it is on. */
  readonly load: StopLoad | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** Name and user name, as far as they are known. `text` is the JSON of a load's driver. */
function driverOf(text: string): string | null {
  const driver = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const [name, user] = [textOf(driver["driverName"]), textOf(driver["driverUserName"])];
  if (name === "") return user === "" ? null : user;
  return user === "" ? name : `${name} (${user})`;
}

/** The stops of a company whose number is this one, without regard to case. */
export async function findStopSummaries(
  read: Reader,
  key: { readonly companyId: number; readonly stopNbr: string },
): Promise<readonly StopSummary[]> {
  const rows = await read
    .selectFrom("stops as s")
    .leftJoin("loads as l", "l.id", "s.load_id")
    .select(["s.stop_nbr as stopNbr", "s.stop_status as status"])
    .select(namedColumns("s.receive_status", "s.carrier_code", "s.file_time"))
    .select(namedColumns("s.created_at", "s.updated_at", "l.load_nbr", "l.load_status", "l.driver"))
    .where("s.company_id", "=", key.companyId)
    .where("s.stop_nbr_key", "=", key.stopNbr.toLowerCase())
    .execute();
  // Sorted here: an order would lead SQLite to an index by which it walks all stops of the company.
  return rows
    .toSorted((one, other) => (one.stopNbr < other.stopNbr ? -1 : 1))
    .map(({ loadNbr, loadStatus, driver, ...stop }) => ({
      ...stop,
      load: loadNbr === null ? null : { loadNbr, status: loadStatus ?? 0, driver: driverOf(driver ?? "{}") },
    }));
}

export interface StopHistoryEvent {
  readonly id: number;
  readonly code: number;
  readonly recordedAt: number;
  /** Local, as it was reported, with its zone; undefined for what the service recorded itself. */
  readonly eventDTTM?: string;
  readonly eventTz?: string;
}

function withReportedTime<Event extends { readonly data: string }>({ data, ...event }: Event) {
  const { eventDTTM, eventTz } = JSON.parse(data) as Readonly<Record<string, unknown>>;
  return {
    ...event,
    ...(typeof eventDTTM === "string" ? { eventDTTM } : {}),
    ...(typeof eventTz === "string" ? { eventTz } : {}),
  };
}

/** The newest recorded events of a stop, oldest first. */
export async function listStopEvents(
  read: Reader,
  key: { readonly companyId: number; readonly stopNbr: string; readonly limit: number },
): Promise<readonly StopHistoryEvent[]> {
  const rows = await read
    .selectFrom("recorded_events")
    .select(["id", "event_code as code", "recorded_at as recordedAt", "data"])
    .where("company_id", "=", key.companyId)
    .where("stop_nbr", "=", key.stopNbr)
    .orderBy("id", "desc")
    .limit(key.limit)
    .execute();
  return rows.map((row) => withReportedTime(row)).toReversed();
}

export interface LoadHistoryEvent extends StopHistoryEvent {
  /** The stop that it is about; null when it is about the load. */
  readonly stopNbr: string | null;
}

/** The newest recorded events of a load and of its stops on it, oldest first. */
export async function listLoadEvents(
  read: Reader,
  key: { readonly companyId: number; readonly loadNbr: string; readonly limit: number },
): Promise<readonly LoadHistoryEvent[]> {
  const rows = await read
    .selectFrom("recorded_events")
    .select(["id", "event_code as code", "recorded_at as recordedAt", "stop_nbr as stopNbr", "data"])
    .where("company_id", "=", key.companyId)
    .where("load_nbr", "=", key.loadNbr)
    .orderBy("id", "desc")
    .limit(key.limit)
    .execute();
  return rows.map((row) => withReportedTime(row)).toReversed();
}
