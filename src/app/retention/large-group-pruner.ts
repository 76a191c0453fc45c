/**
 * A group of events with too many stops and loads for one unit of work. It goes some events at a time, the oldest first by
 * their ids: who goes on from an event that is still there then reads all that came after it, and who goes on from one that
 * is gone is told so. A part whose stops and loads are needed again, or of whose group something was recorded meanwhile, is
 * the end for this pass: the next one asks anew what is over.
 */
import { setImmediate } from "node:timers/promises";
import { portionsOf } from "../../lib/portions.ts";
import {
  type EventGroup,
  type EventOwner,
  findOldGroup,
  isStillNeeded,
  newVisited,
} from "../../store/stops/event-retention.ts";
import {
  findLastEventId,
  findMembers,
  findMembersSince,
  type GroupEvent,
  listGroupEvents,
  removeEvents,
} from "../../store/stops/large-event-groups.ts";
import type { PruneDeps } from "./pruner.ts";

const eventsAtOnce = 200;
const membersAtOnce = 200;

type Deps = Pick<PruneDeps, "store" | "isOurs">;

/** The group in parts, each small enough for one query. */
function* partsOf({ companyId, stopNbrs, loadNbrs }: EventGroup): Generator<EventGroup> {
  for (const some of portionsOf(stopNbrs, membersAtOnce)) yield { companyId, stopNbrs: some, loadNbrs: [] };
  for (const some of portionsOf(loadNbrs, membersAtOnce)) yield { companyId, stopNbrs: [], loadNbrs: some };
}

/** All events of a group of which nothing is needed any more, in the order of their ids; undefined when something is. */
export async function listUnneededEvents(
  { store }: Pick<Deps, "store">,
  group: EventGroup,
  signal: AbortSignal,
): Promise<readonly GroupEvent[] | undefined> {
  const events: GroupEvent[] = [];
  for (const part of partsOf(group)) {
    signal.throwIfAborted();
    if (await isStillNeeded(store.read, part)) return undefined;
    events.push(...(await listGroupEvents(store.read, part)));
    await setImmediate();
  }
  return events.toSorted((one, other) => one.id - other.id);
}

/** The stops and loads of a group, to be asked for. */
function membershipOf({ stopNbrs, loadNbrs }: EventGroup): (some: EventGroup) => boolean {
  const [stops, loads] = [new Set(stopNbrs), new Set(loadNbrs)];
  return (some) => some.stopNbrs.some((nbr) => stops.has(nbr)) || some.loadNbrs.some((nbr) => loads.has(nbr));
}

export interface LargeGroup {
  /** Of one of its events. */
  readonly owner: EventOwner;
  /** Milliseconds UTC. */
  readonly before: number;
  readonly signal: AbortSignal;
  /** Hears after each unit how many events went. */
  readonly told: (count: number) => void;
}

/** Removes the group as far as nothing comes in between. Rejects when aborted; what was removed by then stays removed. */
export async function pruneLargeGroup(
  { store, isOurs = () => true }: Deps,
  { owner, before, signal, told }: LargeGroup,
): Promise<void> {
  const { companyId } = owner;
  // What is recorded from here on may be of the group: looked at in each unit. In a unit of the company, as none of its
  // events has a number then that is not committed (docs/decisions/0026).
  let seenId = await store.write(companyId, findLastEventId);
  const giveWay = async () => {
    await setImmediate();
    signal.throwIfAborted();
  };
  const group = await findOldGroup(store.read, owner, { before, visited: newVisited(), giveWay });
  if (group === undefined) return;
  const events = (await listUnneededEvents({ store }, group, signal)) ?? [];
  const isOfGroup = membershipOf(group);
  for (const some of portionsOf(events, eventsAtOnce)) {
    signal.throwIfAborted();
    const ids = some.map(({ id }) => id);
    // For the site: one note has the newest of all companies.
    const done = await store.write("site", async (tx) => {
      if (!isOurs(companyId)) return undefined;
      const lastId = await findLastEventId(tx);
      if (isOfGroup(await findMembersSince(tx, companyId, seenId))) return undefined;
      if (await isStillNeeded(tx, await findMembers(tx, companyId, ids))) return undefined;
      return { lastId, count: await removeEvents(tx, companyId, ids) };
    });
    if (done === undefined) return;
    seenId = done.lastId;
    told(done.count);
    await setImmediate();
  }
}
