/**
 * Recorded events of stops and loads that are over, group by group, each company by itself. A pass that is cut off notes how
 * far it has come; the next one goes on there, and the one after that begins with the oldest again.
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
  removeGroup,
  type Visited,
} from "../../store/stops/event-retention.ts";
import { type DueCompany, eachCompany, type PruneDeps, type Pruner } from "./pruner.ts";

const eventsAtOnce = 500;

interface Walk {
  readonly company: DueCompany;
  readonly signal: AbortSignal;
  readonly from: Mark;
  readonly visit: (group: EventGroup) => Promise<void>;
  /** Hears how far it has come. */
  readonly passed?: (mark: Mark) => void;
}

/** Visits the group of an event, unless the stop or load itself stays; false when it was visited before. */
async function visitGroupOf(
  { store }: Pick<PruneDeps, "store">,
  event: OldEvent,
  { company, visited, visit }: Pick<Walk, "company" | "visit"> & { readonly visited: Visited },
): Promise<boolean> {
  const { companyId, stopNbr, loadNbr } = event;
  if (isVisited(visited, event)) return false;
  const own = { companyId, stopNbrs: listOf(stopNbr), loadNbrs: listOf(loadNbr) };
  if (await isStillNeeded(store.read, own)) addAll(visited, own);
  else {
    const group = await findOldGroup(store.read, event, { before: company.before, visited });
    if (group !== undefined && !(await isStillNeeded(store.read, group))) await visit(group);
  }
  return true;
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
  const { company, signal, passed } = walk;
  const { id: companyId, before } = company;
  const visited = newVisited();
  let { decidedAt: recordedAt, fileId: id } = walk.from;
  for (;;) {
    signal.throwIfAborted();
    const page = { companyId, before, after: { recordedAt, id }, limit: eventsAtOnce };
    const events = await listOldEvents(deps.store.read, page);
    for (const event of events) {
      signal.throwIfAborted();
      const isAsked = await visitGroupOf(deps, event, { ...walk, visited });
      ({ recordedAt, id } = event);
      passed?.({ decidedAt: recordedAt, fileId: id });
      if (isAsked) await setImmediate();
    }
    await setImmediate();
    if (events.length < eventsAtOnce) return;
  }
}

/** Removes a group, unless something came meanwhile that needs it. For the site: one note has the newest of all companies. */
async function pruneGroup(
  { store }: Pick<PruneDeps, "store">,
  { companyId, stopNbrs, loadNbrs }: EventGroup,
  before: number,
): Promise<number> {
  return await store.write("site", async (tx) => {
    const owner = { companyId, stopNbr: stopNbrs[0] ?? null, loadNbr: loadNbrs[0] ?? null };
    const now = await findOldGroup(tx, owner, { before, visited: newVisited() });
    return now === undefined || (await isStillNeeded(tx, now)) ? 0 : await removeGroup(tx, now);
  });
}

/** Goes on where the pass before was cut off; notes where this one is, or that it is done. */
async function fromMark(
  { store }: Pick<PruneDeps, "store">,
  companyId: number,
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
  } finally {
    const isElsewhere = reached.decidedAt !== from.decidedAt || reached.fileId !== from.fileId;
    if (isElsewhere) await store.write(companyId, (tx) => noteMark(tx, key, reached));
  }
}

export const eventsPruner: Pruner = {
  kind: "events",
  wouldGo: (deps, due, progress) =>
    eachCompany(due, progress, async (company) => {
      const visit = async (group: EventGroup) => {
        const { lastId: _, ...amount } = await countGroup(deps.store.read, group);
        progress.tally.add(company.id, { ...amount, bytes: 0 });
      };
      await eachOldGroup(deps, { company, signal: progress.signal, from: firstMark, visit });
    }),
  prune: (deps, due, progress) =>
    eachCompany(due, progress, async (company) => {
      const visit = async (group: EventGroup) => {
        const count = await pruneGroup(deps, group, company.before);
        progress.tally.add(company.id, { count, bytes: 0 });
      };
      await fromMark(deps, company.id, (from, passed) =>
        eachOldGroup(deps, { company, signal: progress.signal, from, visit, passed }),
      );
    }),
};
