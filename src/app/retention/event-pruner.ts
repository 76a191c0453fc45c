/** Recorded events of stops and loads that are over, group by group. */
import { setImmediate } from "node:timers/promises";
import { findMark, noteMark } from "../../store/ledger/file-retention.ts";
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
import { type DueCompany, type PruneDeps, type Pruner, Tally } from "./pruner.ts";

const eventsAtOnce = 500;

interface OldGroup {
  readonly group: EventGroup;
  readonly before: number;
}

/** What is known of a company on the way. */
interface Walked {
  readonly before: number;
  readonly visited: Visited;
  readonly gone: Visited;
  /** No event of the company has this number or a lower one. */
  from: number;
  isFirstMet: boolean;
}

async function startOf({ store }: Pick<PruneDeps, "store">, due: readonly DueCompany[]) {
  const companies = new Map<number, Walked>();
  for (const { id: companyId, before } of due) {
    const { fileId: from } = await findMark(store.read, { companyId, kind: "events" });
    companies.set(companyId, {
      ...{ before, visited: newVisited(), gone: newVisited(), from, isFirstMet: false },
    });
  }
  return companies;
}

/** Visits the group of an event, unless it was visited or the stop or load itself stays; `visit` says whether it went. */
async function visitGroupOf(
  { store }: Pick<PruneDeps, "store">,
  { event, company }: { readonly event: OldEvent; readonly company: Walked },
  visit: (old: OldGroup) => Promise<boolean>,
): Promise<void> {
  const { companyId, stopNbr, loadNbr } = event;
  const { before, visited, gone } = company;
  if (isVisited(visited, event)) return;
  const own = { companyId, stopNbrs: listOf(stopNbr), loadNbrs: listOf(loadNbr) };
  if (await isStillNeeded(store.read, own)) return addAll(visited, own);
  const group = await findOldGroup(store.read, event, company);
  if (group !== undefined && (await visit({ group, before }))) addAll(gone, group);
}

function listOf(nbr: string | null): readonly string[] {
  return nbr === null ? [] : [nbr];
}

function addAll({ stops, loads }: Visited, { stopNbrs, loadNbrs }: EventGroup): void {
  for (const nbr of stopNbrs) stops.add(nbr);
  for (const nbr of loadNbrs) loads.add(nbr);
}

/**
 * All companies in one go: events are in the order of their ids for all of them together. Begins behind what went earlier;
 * gives for each company the number behind which its first event is.
 */
async function eachOldGroup(
  deps: Pick<PruneDeps, "store">,
  { due, signal }: { readonly due: readonly DueCompany[]; readonly signal: AbortSignal },
  visit: (old: OldGroup) => Promise<boolean>,
): Promise<ReadonlyMap<number, Pick<Walked, "from">>> {
  const companies = await startOf(deps, due);
  const newest = Math.max(...due.map(({ before }) => before));
  let afterId: number | undefined = Math.min(...[...companies.values()].map(({ from }) => from));
  while (afterId !== undefined) {
    const page = await listOldEvents(deps.store.read, { afterId, before: newest, limit: eventsAtOnce });
    for (const event of page.events) {
      const company = companies.get(event.companyId);
      if (company === undefined) continue;
      signal.throwIfAborted();
      await visitGroupOf(deps, { event, company }, visit);
      company.isFirstMet ||= !isMember(company.gone, event);
      if (!company.isFirstMet) company.from = Math.max(company.from, event.id);
      await setImmediate();
    }
    afterId = page.lastId;
    signal.throwIfAborted();
    await setImmediate();
  }
  return companies;
}

type Numbers = Pick<OldEvent, "stopNbr" | "loadNbr">;

function isVisited({ stops, loads }: Visited, { stopNbr, loadNbr }: Numbers): boolean {
  return (stopNbr === null || stops.has(stopNbr)) && (loadNbr === null || loads.has(loadNbr));
}

function isMember({ stops, loads }: Visited, { stopNbr, loadNbr }: Numbers): boolean {
  return (stopNbr !== null && stops.has(stopNbr)) || (loadNbr !== null && loads.has(loadNbr));
}

/** Notes how far nothing is left of each company, so that no pass reads again what others keep there. */
async function noteStarts(
  { store }: Pick<PruneDeps, "store">,
  walked: ReadonlyMap<number, Pick<Walked, "from">>,
): Promise<void> {
  for (const [companyId, { from: fileId }] of walked) {
    const key = { companyId, kind: "events" } as const;
    if ((await findMark(store.read, key)).fileId < fileId)
      await store.write(companyId, (tx) => noteMark(tx, key, { decidedAt: 0, fileId }));
  }
}

/** Removes a group, unless something came meanwhile that needs it. For the site: one note has the newest of all companies. */
async function pruneGroup({ store }: Pick<PruneDeps, "store">, { group, before }: OldGroup): Promise<number> {
  const { companyId, stopNbrs, loadNbrs } = group;
  return await store.write("site", async (tx) => {
    const owner = { companyId, stopNbr: stopNbrs[0] ?? null, loadNbr: loadNbrs[0] ?? null };
    const now = await findOldGroup(tx, owner, { before, visited: newVisited() });
    return now === undefined || (await isStillNeeded(tx, now)) ? 0 : await removeGroup(tx, now);
  });
}

export const eventsPruner: Pruner = {
  kind: "events",
  async wouldGo(deps, due, signal) {
    const tally = new Tally();
    await eachOldGroup(deps, { due, signal }, async ({ group }) => {
      if (await isStillNeeded(deps.store.read, group)) return false;
      const { lastId: _, ...amount } = await countGroup(deps.store.read, group);
      tally.add(group.companyId, { ...amount, bytes: 0 });
      return true;
    });
    return tally.amounts;
  },
  async prune(deps, due, signal) {
    const tally = new Tally();
    const walked = await eachOldGroup(deps, { due, signal }, async (old) => {
      if (await isStillNeeded(deps.store.read, old.group)) return false;
      const count = await pruneGroup(deps, old);
      tally.add(old.group.companyId, { count, bytes: 0 });
      return count > 0;
    });
    await noteStarts(deps, walked);
    return tally.amounts;
  },
};
