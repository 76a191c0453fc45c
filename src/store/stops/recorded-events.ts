/** Recorded events as rows; their consequences are in `operations/consequences`. */
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export interface EventRecord {
  readonly companyId: number;
  readonly code: number;
  readonly stopNbr: string | null;
  readonly loadNbr: string | null;
  /** Milliseconds UTC. */
  readonly recordedAt: number;
  /** JSON: the rest of the event. */
  readonly data: string;
}

const insertQuery = prepareQuery<EventRecord>((db, arg) =>
  db.insertInto("recorded_events").values({
    company_id: arg("companyId"),
    event_code: arg("code"),
    stop_nbr: arg("stopNbr"),
    load_nbr: arg("loadNbr"),
    recorded_at: arg("recordedAt"),
    data: arg("data"),
  }),
);

/** Stores an event after all others. */
export function insertRecordedEvent(tx: Transaction, event: EventRecord): Promise<unknown> {
  return insertQuery.run(tx, event);
}

interface StopKey {
  readonly companyId: number;
  readonly stopNbr: string;
}

/** An event by its place among all. */
export interface EventPlace {
  readonly id: number;
  readonly code: number;
}

/** Not ordered: SQLite would prepare the statement anew at each run. */
const eventsQuery = prepareQuery<StopKey, EventPlace>((db, arg) =>
  db
    .selectFrom("recorded_events")
    .select(["id", "event_code as code"])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** The events of a stop, in no order. */
export async function listEventPlaces(tx: Transaction, stop: StopKey): Promise<readonly EventPlace[]> {
  return (await eventsQuery.run(tx, stop)).rows;
}
