/** Recorded events of stops and loads that are over, group by group. */
import { setImmediate } from "node:timers/promises";
import {
  countGroup,
  type EventGroup,
  findOldGroup,
  isStillNeeded,
  listOldEvents,
  newVisited,
  removeGroup,
  type Visited,
} from "../../store/stops/event-retention.ts";
import { type DueCompany, type PruneDeps, type Pruner, Tally } from "./pruner.ts";

const eventsAtOnce = 500;

interface OldGroup {
  readonly group: EventGroup;
  readonly before: number;
}

/** All companies in one go: events are in the order of their ids for all of them together. */
async function eachOldGroup(
  { store }: Pick<PruneDeps, "store">,
  { due, signal }: { readonly due: readonly DueCompany[]; readonly signal: AbortSignal },
  visit: (old: OldGroup) => Promise<void>,
): Promise<void> {
  const companies = new Map(due.map(({ id, before }) => [id, { before, visited: newVisited() }]));
  const newest = Math.max(...due.map(({ before }) => before));
  let afterId: number | undefined = 0;
  while (afterId !== undefined) {
    const page = await listOldEvents(store.read, { afterId, before: newest, limit: eventsAtOnce });
    for (const event of page.events) {
      const company = companies.get(event.companyId);
      if (company === undefined || isVisited(company.visited, event)) continue;
      signal.throwIfAborted();
      const group = await findOldGroup(store.read, event, company);
      if (group !== undefined) await visit({ group, before: company.before });
      await setImmediate();
    }
    afterId = page.lastId;
    signal.throwIfAborted();
    await setImmediate();
  }
}

function isVisited(
  { stops, loads }: Visited,
  { stopNbr, loadNbr }: { stopNbr: string | null; loadNbr: string | null },
) {
  return (stopNbr === null || stops.has(stopNbr)) && (loadNbr === null || loads.has(loadNbr));
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
      if (await isStillNeeded(deps.store.read, group)) return;
      const { lastId: _, ...amount } = await countGroup(deps.store.read, group);
      tally.add(group.companyId, { ...amount, bytes: 0 });
    });
    return tally.amounts;
  },
  async prune(deps, due, signal) {
    const tally = new Tally();
    await eachOldGroup(deps, { due, signal }, async (old) => {
      if (await isStillNeeded(deps.store.read, old.group)) return;
      tally.add(old.group.companyId, { count: await pruneGroup(deps, old), bytes: 0 });
    });
    return tally.amounts;
  },
};
