/** Documents that nothing needs any more. Their contents are swept once no document of any company has them. */
import { setImmediate } from "node:timers/promises";
import {
  listNamingTexts,
  listOldDocuments,
  namingCount,
  type OldDocument,
  removeDocuments,
} from "../../store/stops/document-retention.ts";
import { type Amounts, type DueCompany, type PruneDeps, type Pruner, Tally } from "./pruner.ts";

const documentsAtOnce = 200;
const textsAtOnce = 200;
const guids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;

/** All GUIDs in what is not over, or still goes out. */
async function neededOf({ store }: PruneDeps, companyId: number, signal: AbortSignal) {
  const needed = new Set<string>();
  for (let naming = 0; naming < namingCount; naming++) {
    let afterId: number | undefined = 0;
    while (afterId !== undefined) {
      signal.throwIfAborted();
      const page = { companyId, afterId, limit: textsAtOnce };
      const rows: Awaited<ReturnType<typeof listNamingTexts>> = await listNamingTexts(
        store.read,
        naming,
        page,
      );
      for (const { text } of rows) for (const guid of text.match(guids) ?? []) needed.add(guid.toLowerCase());
      afterId = rows.length === textsAtOnce ? rows.at(-1)?.id : undefined;
      await setImmediate();
    }
  }
  return needed;
}

type Visit = (company: DueCompany, documents: readonly OldDocument[]) => Promise<void>;

async function eachOldOf(
  deps: PruneDeps,
  { company, tally, signal }: { company: DueCompany; tally: Tally; signal: AbortSignal },
  visit: Visit,
): Promise<void> {
  const { id: companyId, before } = company;
  let needed: ReadonlySet<string> | undefined;
  let afterId: number | undefined = 0;
  while (afterId !== undefined) {
    signal.throwIfAborted();
    const page = { companyId, before, afterId, limit: documentsAtOnce };
    const documents: readonly OldDocument[] = await listOldDocuments(deps.store.read, page);
    if (documents.length === 0) return;
    needed ??= await neededOf(deps, companyId, signal);
    const old = documents.filter(({ guid }) => needed?.has(guid.toLowerCase()) === false);
    if (old.length > 0) await visit(company, old);
    for (const { size: bytes, createdAt: at } of old)
      tally.add(companyId, { count: 1, bytes, oldestAt: at, newestAt: at });
    afterId = documents.length === documentsAtOnce ? documents.at(-1)?.id : undefined;
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

export const documentsPruner: Pruner = {
  kind: "documents",
  wouldGo: (deps, due, signal) => eachOld(deps, { due, signal }, async () => undefined),
  prune: (deps, due, signal) =>
    eachOld(deps, { due, signal }, async ({ id: companyId, before }, documents) => {
      const gone = documents.map(({ guid }) => guid);
      await deps.store.write(companyId, (tx) => removeDocuments(tx, { companyId, guids: gone, before }));
    }),
};
