/**
 * Recorded events of stops and loads that are over, group by group, each company by itself. A pass that is cut off notes how
 * far it has come; the next one goes on there, and the one after that begins with the oldest again, as does one after a
 * failure. A group that cannot be removed keeps no other. One that is too large for one unit goes part by part.
 */
import { setImmediate } from "node:timers/promises";
import { findMark, firstMark, type Mark, noteMark } from "../../store/ledger/file-retention.ts";
import {
  countGroup,
  type EventGroup,
  type EventOwner,
  findOldGroup,
  type GroupSearch,
  isLargeGroup,
  isStillNeeded,
  listOldEvents,
  newVisited,
  type OldEvent,
  removeGroups,
  type Visited,
} from "../../store/stops/event-retention.ts";
import { listUnneededEvents, pruneLargeGroup } from "./large-group-pruner.ts";
import { type Amount, type DueCompany, eachCompany, type PruneDeps, type Pruner } from "./pruner.ts";

const eventsAtOnce = 500;
/** Groups that go in one unit have so many stops and loads together; a larger one goes alone. */
const membersAtOnce = 50;

type EventDeps = Pick<PruneDeps, "store" | "isOurs">;

interface Walk {
  readonly company: DueCompany;
  readonly signal: AbortSignal;
  readonly from: Mark;
  /** Some groups; of those that are not over something stays. */
  readonly visit: (groups: readonly EventGroup[]) => Promise<void>;
  /** Hears how far it has come. */
  readonly passed?: (mark: Mark) => void;
}

/** The group of an event, unless something of it stays; `isAsked` is false when it was met before. */
async function groupOf(
  { store }: Pick<PruneDeps, "store">,
  event: OldEvent,
  { company, visited, giveWay }: Pick<Walk, "company"> & Required<Pick<GroupSearch, "giveWay" | "visited">>,
): Promise<{ readonly isAsked: boolean; readonly group?: EventGroup | undefined }> {
  const { companyId, stopNbr, loadNbr } = event;
  if (isVisited(visited, event)) return { isAsked: false };
  const own = { companyId, stopNbrs: listOf(stopNbr), loadNbrs: listOf(loadNbr) };
  if (await isStillNeeded(store.read, own)) {
    addAll(visited, own);
    return { isAsked: true };
  }
  const search = { before: company.before, visited, giveWay };
  return { isAsked: true, group: await findOldGroup(store.read, event, search) };
}

function membersOf(groups: readonly EventGroup[]): number {
  return groups.reduce((sum, { stopNbrs, loadNbrs }) => sum + stopNbrs.length + loadNbrs.length, 0);
}

function listOf(nbr: string | null): readonly string[] {
  return nbr === null ? [] : [nbr];
}

/** By what the group is found again. */
function ownerOf({ companyId, stopNbrs, loadNbrs }: EventGroup): EventOwner {
  return { companyId, stopNbr: stopNbrs[0] ?? null, loadNbr: loadNbrs[0] ?? null };
}

function addAll({ stops, loads }: Visited, { stopNbrs, loadNbrs }: EventGroup): void {
  for (const nbr of stopNbrs) stops.add(nbr);
  for (const nbr of loadNbrs) loads.add(nbr);
}

function isVisited({ stops, loads }: Visited, { stopNbr, loadNbr }: OldEvent): boolean {
  return (stopNbr === null || stops.has(stopNbr)) && (loadNbr === null || loads.has(loadNbr));
}

async function eachOldGroup(deps: Pick<PruneDeps, "store">, walk: Walk): Promise<void> {
  const { company, signal, visit, passed } = walk;
  const { id: companyId, before } = company;
  const visited = newVisited();
  const giveWay = async () => {
    await setImmediate();
    signal.throwIfAborted();
  };
  let { decidedAt: recordedAt, fileId: id } = walk.from;
  for (;;) {
    signal.throwIfAborted();
    const page = { companyId, before, after: { recordedAt, id }, limit: eventsAtOnce };
    const events = await listOldEvents(deps.store.read, page);
    const groups: EventGroup[] = [];
    for (const [index, event] of events.entries()) {
      signal.throwIfAborted();
      const { isAsked, group } = await groupOf(deps, event, { company, visited, giveWay });
      if (group !== undefined) groups.push(group);
      ({ recordedAt, id } = event);
      const isDue = membersOf(groups) >= membersAtOnce || index === events.length - 1;
      if (isDue) await visit(groups.splice(0));
      if (groups.length === 0) passed?.({ decidedAt: recordedAt, fileId: id });
      if (isAsked) await setImmediate();
    }
    await setImmediate();
    if (events.length < eventsAtOnce) return;
  }
}

/**
 * Removes groups in one unit, but for those of which something stays or has come meanwhile; gives how many events went. For the
 * site: one note has the newest of all companies.
 */
async function pruneGroups(
  { store, isOurs = () => true }: EventDeps,
  groups: readonly EventGroup[],
  before: number,
): Promise<number> {
  if (groups.length === 0) return 0;
  const counts = await store.write("site", async (tx) => {
    const over: EventGroup[] = [];
    for (const group of groups.filter(({ companyId }) => isOurs(companyId))) {
      const now = await findOldGroup(tx, ownerOf(group), { before, visited: newVisited() });
      if (now !== undefined && !(await isStillNeeded(tx, now))) over.push(now);
    }
    return over.length === 0 ? [] : await removeGroups(tx, over);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

interface Removal {
  /** Milliseconds UTC. */
  readonly before: number;
  readonly signal: AbortSignal;
  /** Gathers those of groups that stay. */
  readonly errors: unknown[];
  /** Hears after each unit how many events went. */
  readonly told: (count: number) => void;
}

/** Removes groups together, or each by itself when that fails. */
async function pruneEach(deps: EventDeps, groups: readonly EventGroup[], removal: Removal): Promise<void> {
  const { before, signal, errors, told } = removal;
  try {
    told(await pruneGroups(deps, groups, before));
    return;
  } catch (error) {
    signal.throwIfAborted();
    // That of several comes again with the group that it is of.
    if (groups.length <= 1) {
      errors.push(error);
      return;
    }
  }
  for (const group of groups) {
    signal.throwIfAborted();
    await pruneEach(deps, [group], removal);
  }
}

/** Removes groups, small ones together, large ones part by part. */
async function pruneAll(deps: EventDeps, groups: readonly EventGroup[], removal: Removal): Promise<void> {
  const { before, signal, errors, told } = removal;
  await pruneEach(
    deps,
    groups.filter((group) => !isLargeGroup(group)),
    removal,
  );
  for (const group of groups.filter(isLargeGroup)) {
    try {
      await pruneLargeGroup(deps, { owner: ownerOf(group), before, signal, told });
    } catch (error) {
      signal.throwIfAborted();
      errors.push(error);
    }
  }
}

/** Goes on where the pass before was cut off; notes where this one is, or that the next begins with the oldest again. */
async function fromMark(
  { store }: Pick<PruneDeps, "store">,
  { companyId, signal }: { readonly companyId: number; readonly signal: AbortSignal },
  work: (from: Mark, passed: (mark: Mark) => void) => Promise<void>,
): Promise<void> {
  const key = { companyId, kind: "events" } as const;
  const from = await findMark(store.read, key);
  let reached = from;
  try {
    await work(from, (mark) => {
      reached = mark;
    });
    reached = firstMark;
  } catch (error) {
    if (!signal.aborted) reached = firstMark;
    throw error;
  } finally {
    const isElsewhere = reached.decidedAt !== from.decidedAt || reached.fileId !== from.fileId;
    if (isElsewhere) await store.write(companyId, (tx) => noteMark(tx, key, reached));
  }
}

/** How many events of the group would go. */
async function countOf(
  deps: Pick<PruneDeps, "store">,
  group: EventGroup,
  signal: AbortSignal,
): Promise<Pick<Amount, "count" | "oldestAt" | "newestAt">> {
  if (isLargeGroup(group)) {
    const events = (await listUnneededEvents(deps, group, signal)) ?? [];
    const times = events.map(({ recordedAt }) => recordedAt).toSorted((one, other) => one - other);
    return { count: times.length, oldestAt: times.at(0), newestAt: times.at(-1) };
  }
  if (await isStillNeeded(deps.store.read, group)) return { count: 0 };
  const { lastId: _, ...amount } = await countGroup(deps.store.read, group);
  return amount;
}

export const eventsPruner: Pruner = {
  kind: "events",
  wouldGo: (deps, due, progress) =>
    eachCompany(due, progress, async (company) => {
      const { signal, tally } = progress;
      const visit = async (groups: readonly EventGroup[]) => {
        for (const group of groups)
          tally.add(company.id, { ...(await countOf(deps, group, signal)), bytes: 0 });
      };
      await eachOldGroup(deps, { company, signal, from: firstMark, visit });
    }),
  prune: (deps, due, progress) =>
    eachCompany(due, progress, async (company) => {
      const { signal, tally, failed } = progress;
      const { id: companyId, before } = company;
      const errors: unknown[] = [];
      const told = (count: number) => tally.add(companyId, { count, bytes: 0 });
      const visit = (groups: readonly EventGroup[]) =>
        pruneAll(deps, groups, { before, signal, errors, told });
      try {
        await fromMark(deps, { companyId, signal }, (from, passed) =>
          eachOldGroup(deps, { company, signal, from, visit, passed }),
        );
      } catch (error) {
        if (errors.length > 0) failed?.(company, errors[0]);
        throw error;
      }
      if (errors.length > 0) throw errors[0];
    }),
};
