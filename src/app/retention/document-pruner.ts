/** Documents that nothing needs any more. Their contents are swept once no document of any company has them. */
import { setImmediate } from "node:timers/promises";
import {
  firstPlace,
  listOldDocuments,
  type OldDocument,
  type Place,
  removeDocuments,
} from "../../store/stops/document-retention.ts";
import { NeededDocuments } from "./needed-documents.ts";
import { type DueCompany, eachCompany, type Progress, type PruneDeps, type Pruner } from "./pruner.ts";

/** Many, as each step looks at all that is open. */
const documentsAtOnce = 1_000;

/** Gives those that went, or would go. */
type Visit = (
  company: DueCompany,
  documents: readonly OldDocument[],
  needed: NeededDocuments,
) => Promise<readonly OldDocument[]>;

/** What is needed of a company, found now or, where a pass was cut off, since then. */
async function neededOf(
  { store, clock, walks }: PruneDeps,
  { id: companyId }: DueCompany,
  signal: AbortSignal,
): Promise<NeededDocuments> {
  const needed = walks?.get(companyId) ?? (await NeededDocuments.begin({ store, companyId, clock }));
  walks?.set(companyId, needed);
  await needed.walk(signal);
  return needed;
}

async function eachOldOf(
  deps: PruneDeps,
  { company, progress }: { readonly company: DueCompany; readonly progress: Progress },
  visit: Visit,
): Promise<void> {
  const { id: companyId, before } = company;
  const { signal, tally } = progress;
  let needed: NeededDocuments | undefined;
  let after: Place = firstPlace;
  for (;;) {
    signal.throwIfAborted();
    const page = { companyId, before, after, limit: documentsAtOnce };
    const documents: readonly OldDocument[] = await listOldDocuments(deps.store.read, page);
    const last = documents.at(-1);
    if (last === undefined) return;
    needed ??= await neededOf(deps, company, signal);
    const known = needed;
    const old = documents.filter(({ guid }) => !known.has(guid));
    const gone = old.length === 0 ? [] : await visit(company, old, known);
    for (const { size: bytes, createdAt: at } of gone)
      tally.add(companyId, { count: 1, bytes, oldestAt: at, newestAt: at });
    after = { at: last.createdAt, id: last.id };
    await setImmediate();
  }
}

/** Removes those that nothing has come to need since the walk over what needs them began. */
function removeUnneeded({ store }: PruneDeps, { signal }: Progress): Visit {
  return async ({ id: companyId, before }, documents, needed) => {
    await needed.look(signal);
    const left = documents.filter(({ guid }) => !needed.has(guid));
    return await store.write(companyId, async (tx) => {
      const newer = await needed.findNewer(tx);
      const unneeded = left.filter(({ guid }) => !newer.has(guid.toLowerCase()));
      if (unneeded.length === 0) return [];
      const guids = unneeded.map(({ guid }) => guid);
      const gone = await removeDocuments(tx, { companyId, guids, before });
      return unneeded.filter(({ guid }) => gone.has(guid));
    });
  };
}

export const documentsPruner: Pruner = {
  kind: "documents",
  wouldGo: (deps, due, progress) =>
    eachCompany(due, progress, (company) =>
      eachOldOf({ ...deps, walks: undefined }, { company, progress }, async (_, documents) => documents),
    ),
  prune: (deps, due, progress) =>
    eachCompany(due, progress, async (company) => {
      let isCutOff = false;
      try {
        await eachOldOf(deps, { company, progress }, removeUnneeded(deps, progress));
      } catch (error) {
        isCutOff = error === progress.signal.reason;
        throw error;
      } finally {
        // What a pass has found that is over, or has failed, is not what holds in the next one.
        if (!isCutOff) deps.walks?.delete(company.id);
      }
    }),
};
