/** What became of a stop, for people: its present state and its recorded events. */
import type { Reader } from "./database.ts";

export interface StopSummary {
  readonly stopNbr: string;
  readonly status: string;
  readonly receiveStatus: string;
  readonly carrierCode: string | null;
  /** CCYYMMDDHHMMSS of the newest file applied. */
  readonly fileTime: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** The stops of a company whose number is this one, without regard to case. */
export async function findStopSummaries(
  read: Reader,
  key: { readonly companyId: number; readonly stopNbr: string },
): Promise<readonly StopSummary[]> {
  const rows = await read
    .selectFrom("stops")
    .select(["stop_nbr", "stop_status", "receive_status", "carrier_code"])
    .select(["file_time", "created_at", "updated_at"])
    .where("company_id", "=", key.companyId)
    .where("stop_nbr_key", "=", key.stopNbr.toLowerCase())
    .orderBy("stop_nbr")
    .execute();
  return rows.map((row) => ({
    stopNbr: row.stop_nbr,
    status: row.stop_status,
    receiveStatus: row.receive_status,
    carrierCode: row.carrier_code,
    fileTime: row.file_time,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

export interface StopEvent {
  readonly id: number;
  readonly code: number;
  readonly recordedAt: number;
}

/** The newest recorded events of a stop, oldest first. */
export async function listStopEvents(
  read: Reader,
  key: { readonly companyId: number; readonly stopNbr: string; readonly limit: number },
): Promise<readonly StopEvent[]> {
  const rows = await read
    .selectFrom("recorded_events")
    .select(["id", "event_code", "recorded_at"])
    .where("company_id", "=", key.companyId)
    .where("stop_nbr", "=", key.stopNbr)
    .orderBy("id", "desc")
    .limit(key.limit)
    .execute();
  return rows.map((row) => ({ id: row.id, code: row.event_code, recordedAt: row.recorded_at })).toReversed();
}
