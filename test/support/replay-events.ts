/** Works out the states of loads and stops from what was recorded and reported alone, without a look at either. */
import type { Store } from "../../src/store/database/database.ts";

export interface States {
  readonly loads: ReadonlyMap<string, number>;
  readonly stops: ReadonlyMap<string, string>;
}

interface ReplayedStop {
  status: string;
  loadNbr: string | null;
}

interface Replay {
  readonly loads: Map<string, { status: number; hasDriver: boolean }>;
  readonly stops: Map<string, ReplayedStop>;
}

interface Recorded {
  readonly event_code: number;
  readonly load_nbr: string | null;
  readonly stop_nbr: string | null;
  readonly data: string;
}

function loadOf(replay: Replay, loadNbr: string | null) {
  const key = loadNbr ?? "";
  const known = replay.loads.get(key) ?? { status: 10, hasDriver: false };
  replay.loads.set(key, known);
  return known;
}

function stopOf(replay: Replay, stopNbr: string | null): ReplayedStop {
  const key = stopNbr ?? "";
  const known = replay.stops.get(key) ?? { status: "10", loadNbr: null };
  replay.stops.set(key, known);
  return known;
}

function releaseStops(replay: Replay, loadNbr: string | null): void {
  for (const stop of replay.stops.values())
    if (stop.loadNbr === loadNbr) Object.assign(stop, { status: "10", loadNbr: null });
}

function replayUpdate(replay: Replay, { data }: Recorded): void {
  const { releasedStops = [] } = JSON.parse(data) as { readonly releasedStops?: readonly string[] };
  for (const stopNbr of releasedStops)
    Object.assign(stopOf(replay, stopNbr), { status: "10", loadNbr: null });
}

function replayLoad(replay: Replay, event: Recorded): void {
  const { event_code: code, load_nbr: loadNbr } = event;
  const load = loadOf(replay, loadNbr);
  if (code === 7024) replayUpdate(replay, event);
  if (code === 7001) load.hasDriver = true;
  if (code === 7002) load.hasDriver = false;
  if (code === 7004) load.status = 40;
  if (code === 7005) load.status = 90;
  if (code === 7033) {
    load.status = 99;
    releaseStops(replay, loadNbr);
  }
}

function isPickup({ data }: Recorded): boolean {
  return String(JSON.parse(data).reportedCode).startsWith("stop.pickup.");
}

function replayStop(replay: Replay, event: Recorded, isPickupOnly: (stopNbr: string) => boolean): void {
  const stop = stopOf(replay, event.stop_nbr);
  switch (event.event_code) {
    case 7028:
      Object.assign(stop, { status: "20", loadNbr: event.load_nbr });
      return;
    case 7044:
      Object.assign(stop, { status: "10", loadNbr: null });
      return;
    case 7007:
      stop.status = isPickup(event) ? "27" : "50";
      return;
    case 7009:
      stop.status = isPickup(event) && !isPickupOnly(event.stop_nbr ?? "") ? "30" : "90";
      return;
    case 7008:
      if (stop.status === "30") stop.status = "38";
      return;
    case 7021:
      stop.status = "80";
      return;
    case 7059:
      Object.assign(stop, { status: "99", loadNbr: null });
      return;
  }
}

/** The loads that have left their origin: the departure was reported, or something of a stop. */
async function departedLoads(store: Store): Promise<ReadonlySet<string>> {
  const rows = await store.read
    .selectFrom("reported_events")
    .innerJoin("loads", "loads.id", "reported_events.load_id")
    .select(["loads.load_nbr as loadNbr", "reported_events.event_code as code"])
    .execute();
  const isDeparture = (code: string) => code === "route.origin.depart" || code.startsWith("stop.");
  return new Set(rows.filter(({ code }) => isDeparture(code)).map(({ loadNbr }) => loadNbr));
}

export interface StopKinds {
  readonly isPickupOnly: (stopNbr: string) => boolean;
  readonly hasPickup: (stopNbr: string) => boolean;
}

/** Stops begin as unplanned (10) with their first event; loads in 10 and 20 are both told as 10. */
export async function replayEvents(store: Store, kinds: StopKinds): Promise<States> {
  const events = await store.read
    .selectFrom("recorded_events")
    .select(["event_code", "load_nbr", "stop_nbr", "data"])
    .orderBy("id")
    .execute();
  const replay: Replay = { loads: new Map(), stops: new Map() };
  for (const event of events) {
    if (event.stop_nbr === null) replayLoad(replay, event);
    else replayStop(replay, event, kinds.isPickupOnly);
  }
  const departed = await departedLoads(store);
  for (const [stopNbr, stop] of replay.stops)
    if (stop.status === "20" && departed.has(stop.loadNbr ?? ""))
      stop.status = kinds.hasPickup(stopNbr) ? "24" : "38";
  const loads = [...replay.loads].map(
    ([nbr, { status, hasDriver }]) => [nbr, status === 10 && hasDriver ? 30 : status] as const,
  );
  return {
    loads: new Map(loads),
    stops: new Map([...replay.stops].map(([nbr, { status }]) => [nbr, status])),
  };
}
