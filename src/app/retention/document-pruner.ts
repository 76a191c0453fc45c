/** Documents that nothing needs any more. Their contents are swept once no document of any company has them. */
import { setImmediate } from "node:timers/promises";
import {
  firstPlace,
  listOldDocuments,
  type OldDocument,
  type Place,
  removeDocuments,
} from "../../store/stops/document-retention.ts";
import { findNeeded, findNeededSince, type Needed } from "./needed-documents.ts";
import { type Amounts, type DueCompany, type PruneDeps, type Pruner, Tally } from "./pruner.ts";

const documentsAtOnce = 200;

/** Gives those that went, or would go. */
type Visit = (
  company: DueCompany,
  documents: readonly OldDocument[],
  needed: Needed,
) => Promise<readonly OldDocument[]>;

function withoutThose(
  documents: readonly OldDocument[],
  needed: ReadonlySet<string>,
): readonly OldDocument[] {
  return documents.filter(({ guid }) => !needed.has(guid.toLowerCase()));
}

async function eachOldOf(
  { store: { read }, now }: PruneDeps,
  { company, tally, signal }: { company: DueCompany; tally: Tally; signal: AbortSignal },
  visit: Visit,
): Promise<void> {
  const { id: companyId, before } = company;
  let needed: Needed | undefined;
  let after: Place = firstPlace;
  for (;;) {
    signal.throwIfAborted();
    const page = { companyId, before, after, limit: documentsAtOnce };
    const documents: readonly OldDocument[] = await listOldDocuments(read, page);
    const last = documents.at(-1);
    if (last === undefined) return;
    needed ??= await findNeeded({ read, companyId }, now, signal);
    const old = withoutThose(documents, needed.guids);
    const gone = old.length === 0 ? [] : await visit(company, old, needed);
    for (const { size: bytes, createdAt: at } of gone)
      tally.add(companyId, { count: 1, bytes, oldestAt: at, newestAt: at });
    after = { at: last.createdAt, id: last.id };
    await setImmediate();
  }
}

async function eachOld(
  deps: PruneDeps,
  { due, signal }: { readonly due: readonly DueCompany[]; readonly signal: AbortSignal },
  visit: Visit,
): Promise<Amounts> {
  const tally = new Tally();
  for (const company of due) await eachOldOf(deps, { company, tally, signal }, visit);
  return tally.amounts;
}

/** Removes those that nothing has come to need since the walk over what needs them began. */
function removeUnneeded({ store }: PruneDeps): Visit {
  return ({ id: companyId, before }, documents, needed) =>
    store.write(companyId, async (tx) => {
      const unneeded = withoutThose(documents, await findNeededSince({ read: tx, companyId }, needed));
      if (unneeded.length === 0) return [];
      const guids = unneeded.map(({ guid }) => guid);
      const gone = await removeDocuments(tx, { companyId, guids, before });
      return unneeded.filter(({ guid }) => gone.has(guid));
    });
}

export const documentsPruner: Pruner = {
  kind: "documents",
  wouldGo: (deps, due, signal) => eachOld(deps, { due, signal }, async (_, documents) => documents),
  prune: (deps, due, signal) => eachOld(deps, { due, signal }, removeUnneeded(deps)),
};
