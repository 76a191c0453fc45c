/** What holds of all loads, stops and appointments of a store, whatever ways have led there. */
import { expect } from "vitest";
import type { StopExecution } from "../../src/domain/execution/stop-execution.ts";
import type { Stop } from "../../src/domain/stop/stop.ts";
import type { Store } from "../../src/store/database/database.ts";

export interface KeptCounts {
  /** Loads whose stops are visited in another order than that of their list. */
  readonly reordered: number;
  readonly documents: number;
  readonly appointments: number;
}

async function checkOrder(store: Store): Promise<number> {
  const rows = await store.read
    .selectFrom("stops")
    .select(["stop_nbr", "load_id", "load_position", "listed_position", "body"])
    .where("load_id", "is not", null)
    .orderBy("load_position")
    .execute();
  let reordered = 0;
  for (const stops of Map.groupBy(rows, ({ load_id }) => load_id).values()) {
    const numbers = stops.map(({ body }) => Number((JSON.parse(body) as Stop).stopSeq ?? Number.NaN));
    const listed = stops.map(({ listed_position }) => listed_position ?? -1);
    expect(stops.map(({ load_position }) => load_position)).toEqual(stops.map((_, place) => place));
    const isSequence = numbers.every(Number.isFinite) && new Set(numbers).size === numbers.length;
    const order = isSequence ? numbers : listed;
    const names = stops.map(({ stop_nbr }) => stop_nbr).join(" ");
    expect(order, names).toEqual(order.toSorted((one, other) => one - other));
    if (listed.some((place, index) => place < (listed[index - 1] ?? -1))) reordered += 1;
  }
  return reordered;
}

/** Each captured document is kept once, and was told by 7014. */
async function checkDocuments(store: Store): Promise<number> {
  const told = new Set<string>();
  const events = await store.read
    .selectFrom("recorded_events")
    .select(["stop_nbr", "data"])
    .where("event_code", "=", 7014)
    .execute();
  for (const { stop_nbr, data } of events) {
    const { documents } = JSON.parse(data) as { documents: { reference: string }[] };
    expect(documents.length, stop_nbr ?? "").toBeGreaterThan(0);
    for (const { reference } of documents) told.add(`${stop_nbr} ${reference}`);
  }
  let count = 0;
  for (const { stop_nbr, execution } of await store.read.selectFrom("stops").selectAll().execute()) {
    const { documents = [] } = JSON.parse(execution) as StopExecution;
    const names = documents.map(({ reference }) => `${stop_nbr} ${reference}`);
    expect(new Set(names).size, stop_nbr).toBe(names.length);
    for (const name of names) expect(told).toContain(name);
    count += names.length;
  }
  return count;
}

/** A stop with an appointment has its times, or those that were sent instead. */
async function checkAppointments(store: Store, sentTime: string): Promise<number> {
  const rows = await store.read
    .selectFrom("appointments")
    .innerJoin("stops", (join) =>
      join
        .onRef("stops.company_id", "=", "appointments.company_id")
        .onRef("stops.stop_nbr", "=", "appointments.order_nbr"),
    )
    .select(["stops.stop_nbr", "stops.body", "appointments.time_from"])
    .where("state", "=", "confirmed")
    .execute();
  for (const { stop_nbr, body, time_from } of rows) {
    const { to } = JSON.parse(body) as Stop;
    expect([time_from, sentTime], stop_nbr).toContain(to?.schedule?.timeFrom);
  }
  return rows.length;
}

/** Throws what does not hold; says how much there was to look at. `sentTime` is the one that stops come with. */
export async function checkKept(store: Store, sentTime: string): Promise<KeptCounts> {
  return {
    reordered: await checkOrder(store),
    documents: await checkDocuments(store),
    appointments: await checkAppointments(store, sentTime),
  };
}
