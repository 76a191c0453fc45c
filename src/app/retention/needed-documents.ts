/** Which documents something still needs: what names them by their GUIDs and is not over. */
import { setImmediate } from "node:timers/promises";
import type { Reader } from "../../store/database/database.ts";
import { findCompletions, listCompletions, type StoredCompletion } from "../../store/outbound/completions.ts";
import { findFirstWatermark } from "../../store/outbound/delivery-retention.ts";
import {
  findLastCompletion,
  firstPlace,
  listEmbeddingCompletions,
  listOpenTexts,
  listOpenWork,
  listOrderTexts,
  openRows,
  type Place,
} from "../../store/stops/document-retention.ts";
import { minuteMs } from "../../lib/durations.ts";

const rowsAtOnce = 200;
/** With their events, so that nobody waits for them. */
const completionsAtOnce = 50;
const guids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const lastOfAll = Number.MAX_SAFE_INTEGER;

/** How a page is asked for, and where the next one begins; `last` is undefined for an empty page. */
async function* pagesOf<Row, At>(
  first: At,
  list: (after: At) => Promise<readonly Row[]>,
  placeOf: (row: Row) => At,
): AsyncGenerator<readonly Row[]> {
  let after = first;
  for (;;) {
    const rows = await list(after);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    after = placeOf(last);
  }
}

const idOf = ({ id }: { readonly id: number }) => id;
const textOfCompletion = ({ body, execution, events }: StoredCompletion) =>
  [body, execution, ...events.map(({ data }) => data)].join(" ");

interface Scope {
  readonly read: Reader;
  readonly companyId: number;
}

/** Texts of open stops, loads and orders that have changed since a time, milliseconds UTC. */
async function* openTexts({ read, companyId }: Scope, since: number): AsyncGenerator<readonly string[]> {
  const page = { companyId, limit: rowsAtOnce };
  for (const rows of openRows) {
    const list = (afterId: number) => listOpenTexts(read, rows, { ...page, afterId, since });
    for await (const some of pagesOf(0, list, idOf)) yield some.map(({ text }) => text);
  }
  const from: Place = since === 0 ? firstPlace : { at: since - 1, id: lastOfAll };
  const list = (after: Place) => listOrderTexts(read, { ...page, after });
  for await (const some of pagesOf(from, list, ({ at, id }) => ({ at, id })))
    yield some.map(({ text }) => text);
}

/** Texts of the completions after one and up to another. */
async function* completionTexts(
  { read, companyId }: Scope,
  { afterId, lastId }: { readonly afterId: number; readonly lastId: number },
): AsyncGenerator<readonly string[]> {
  const list = (after: number) =>
    listCompletions(read, { companyId, afterId: after, lastId, limit: completionsAtOnce });
  for await (const some of pagesOf(afterId, list, idOf)) yield some.map(textOfCompletion);
}

/** Texts of completions that are still to be made: for a delivery that is not over, or an export that is to come. */
async function* outgoingTexts(scope: Scope): AsyncGenerator<readonly string[]> {
  const { read, companyId } = scope;
  const page = { companyId, limit: completionsAtOnce };
  const embedding = (afterId: number) => listEmbeddingCompletions(read, { ...page, afterId });
  for await (const ids of pagesOf(0, embedding, (id) => id))
    yield (await findCompletions(read, ids)).map(textOfCompletion);
  for (const list of await listOpenWork(read, companyId)) {
    for await (const some of pagesOf(0, (afterId) => list(afterId, completionsAtOnce), idOf)) {
      const ids = some.flatMap(({ window, subjectId }) => (window === undefined ? [subjectId] : []));
      yield (await findCompletions(read, ids)).map(textOfCompletion);
      for (const { window } of some) if (window !== undefined) yield* completionTexts(scope, window);
    }
  }
  const exported = await findFirstWatermark(read, companyId);
  if (exported !== undefined) yield* completionTexts(scope, { afterId: exported, lastId: lastOfAll });
}

async function addGuids(
  found: Set<string>,
  texts: AsyncGenerator<readonly string[]>,
  between: () => Promise<void>,
): Promise<void> {
  for await (const some of texts) {
    for (const text of some) for (const guid of text.match(guids) ?? []) found.add(guid.toLowerCase());
    await between();
  }
}

/** GUIDs, in small letters, that were needed at a time, and from where to look for what came since. */
export interface Needed {
  readonly guids: ReadonlySet<string>;
  /** Milliseconds UTC. */
  readonly since: number;
  readonly lastCompletion: number;
}

/** How long a change may take from its time to its commit, with a clock that is set back a little. */
const commitMs = 10 * minuteMs;

/** All GUIDs in what is not over, or still goes out; `now` is not later than the begin of the walk. */
export async function findNeeded(scope: Scope, now: number, signal: AbortSignal): Promise<Needed> {
  const found = new Set<string>();
  const lastCompletion = await findLastCompletion(scope.read, scope.companyId);
  const between = async () => {
    signal.throwIfAborted();
    await setImmediate();
  };
  await addGuids(found, openTexts(scope, 0), between);
  await addGuids(found, outgoingTexts(scope), between);
  return { guids: found, since: now - commitMs, lastCompletion };
}

/** GUIDs in what has changed or was made since; for the transaction that removes what nothing needs. */
export async function findNeededSince(
  scope: Scope,
  { since, lastCompletion }: Needed,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const goOn = async () => undefined;
  await addGuids(found, openTexts(scope, since), goOn);
  await addGuids(found, completionTexts(scope, { afterId: lastCompletion, lastId: lastOfAll }), goOn);
  return found;
}
