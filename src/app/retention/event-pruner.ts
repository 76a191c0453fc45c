/**
 * Recorded events of stops and loads that are over, group by group, each company by itself. A pass that is cut off notes how
 * far it has come; the next one goes on there, and the one after that begins with the oldest again, as does one after a
 * failure. A group that cannot be removed keeps no other.
 */
import { setImmediate } from "node:timers/promises";
import { findMark, firstMark, type Mark, noteMark } from "../../store/ledger/file-retention.ts";
import {
  countGroup,
  type EventGroup,
  findOldGroup,
  isStillNeeded,
  listOldEvents,
  newVisited,
  type OldEvent,
  removeGroups,
  type Visited,
} from "../../store/stops/event-retention.ts";
import { type DueCompany, eachCompany, type PruneDeps, type Pruner } from "./pruner.ts";

const eventsAtOnce = 500;
/** Groups that go in one unit have so many stops and loads together; a larger one goes alone. */
const membersAtOnce = 50;

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
  { company, visited }: Pick<Walk, "company"> & { readonly visited: Visited },
): Promise<{ readonly isAsked: boolean; readonly group?: EventGroup | undefined }> {
  const { companyId, stopNbr, loadNbr } = event;
  if (isVisited(visited, event)) return { isAsked: false };
  const own = { companyId, stopNbrs: listOf(stopNbr), loadNbrs: listOf(loadNbr) };
  if (await isStillNeeded(store.read, own)) {
    addAll(visited, own);
    return { isAsked: true };
  }
  return { isAsked: true, group: await findOldGroup(store.read, event, { before: company.before, visited }) };
}

function membersOf(groups: readonly EventGroup[]): number {
  return groups.reduce((sum, { stopNbrs, loadNbrs }) => sum + stopNbrs.length + loadNbrs.length, 0);
}

function listOf(nbr: string | null): readonly string[] {
  return nbr === null ? [] : [nbr];
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
  let { decidedAt: recordedAt, fileId: id } = walk.from;
  for (;;) {
    signal.throwIfAborted();
    const page = { companyId, before, after: { recordedAt, id }, limit: eventsAtOnce };
    const events = await listOldEvents(deps.store.read, page);
    const groups: EventGroup[] = [];
    for (const [index, event] of events.entries()) {
      signal.throwIfAborted();
      const { isAsked, group } = await groupOf(deps, event, { company, visited });
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
  { store }: Pick<PruneDeps, "store">,
  groups: readonly EventGroup[],
  before: number,
): Promise<number> {
  if (groups.length === 0) return 0;
  const counts = await store.write("site", async (tx) => {
    const over: EventGroup[] = [];
    for (const { companyId, stopNbrs, loadNbrs } of groups) {
      const owner = { companyId, stopNbr: stopNbrs[0] ?? null, loadNbr: loadNbrs[0] ?? null };
      const now = await findOldGroup(tx, owner, { before, visited: newVisited() });
      if (now !== undefined && !(await isStillNeeded(tx, now))) over.push(now);
    }
    return over.length === 0 ? [] : await removeGroups(tx, over);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Removes groups together, or each by itself when that fails; the errors of those that stay are gathered. */
async function pruneEach(
  deps: Pick<PruneDeps, "store">,
  groups: readonly EventGroup[],
  { before, signal, errors }: { before: number; signal: AbortSignal; errors: unknown[] },
): Promise<number> {
  try {
    return await pruneGroups(deps, groups, before);
  } catch (error) {
    signal.throwIfAborted();
    // That of several comes again with the group that it is of.
    if (groups.length <= 1) {
      errors.push(error);
      return 0;
    }
  }
  let count = 0;
  for (const group of groups) {
    signal.throwIfAborted();
    count += await pruneEach(deps, [group], { before, signal, errors });
  }
  return count;
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

export const eventsPruner: Pruner = {
  kind: "events",
  wouldGo: (deps, due, progress) =>
    eachCompany(due, progress, async (company) => {
      const visit = async (groups: readonly EventGroup[]) => {
        for (const group of groups) {
          if (await isStillNeeded(deps.store.read, group)) continue;
          const { lastId: _, ...amount } = await countGroup(deps.store.read, group);
          progress.tally.add(company.id, { ...amount, bytes: 0 });
        }
      };
      await eachOldGroup(deps, { company, signal: progress.signal, from: firstMark, visit });
    }),
  prune: (deps, due, progress) =>
    eachCompany(due, progress, async (company) => {
      const { signal, tally, failed } = progress;
      const { id: companyId, before } = company;
      const errors: unknown[] = [];
      const visit = async (groups: readonly EventGroup[]) => {
        const count = await pruneEach(deps, groups, { before, signal, errors });
        tally.add(companyId, { count, bytes: 0 });
      };
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
