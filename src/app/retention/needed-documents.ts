/**
 * Which documents something still needs: what names them by their GUIDs and is not over.
 *
 * To walk over all of that may take longer than a pass has time: a walk that is cut off goes on in a later pass. What has
 * changed since it began is looked at before each removal, and what has changed since that look in the removal itself.
 *
 * A load of an import moves from what waits to the stops and loads when it is applied. So what waits is read first: a
 * load that waits no more was applied before the stops are read. One that came later has a greater number, and what it
 * was applied to has changed since.
 */
import { performance } from "node:perf_hooks";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { minuteMs } from "../../lib/durations.ts";
import { portionsOf } from "../../lib/portions.ts";
import type { Reader, Store } from "../../store/database/database.ts";
import { findCompletions, listCompletions, type StoredCompletion } from "../../store/outbound/completions.ts";
import { findFirstWatermark } from "../../store/outbound/delivery-retention.ts";
import {
  findLastCompletion,
  findLastImport,
  firstPlace,
  listEmbeddingCompletions,
  listOpenTexts,
  listOpenWork,
  listOrderTexts,
  listWaitingLoads,
  type OpenWork,
  openRows,
  type Place,
  type PlacedText,
} from "../../store/stops/document-retention.ts";
import { type ItemKey, readWaitingItem } from "../../store/stops/imports.ts";

const rowsAtOnce = 200;
/** Open rows of which few have changed: two thousandths of a second. */
const lookedAtOnce = 2_000;
/** Waiting loads by their keys alone. */
const waitingAtOnce = 1_000;
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
  readonly clock: Clock;
}

interface Begun extends Pick<Scope, "companyId" | "clock"> {
  readonly store: Pick<Store, "read" | "write">;
}

const placeOf = ({ at, id }: PlacedText) => ({ at, id });
const textsOf = (rows: readonly { readonly text: string }[]) => rows.map(({ text }) => text);

/** Texts of waiting loads of the imports after one; a load may have thousands of stops, so one by one. */
async function* waitingTexts(
  { read, companyId }: Scope,
  afterImport: number,
): AsyncGenerator<readonly string[]> {
  const first: ItemKey = { importId: afterImport, position: lastOfAll };
  const list = (after: ItemKey) => listWaitingLoads(read, after, waitingAtOnce);
  for await (const keys of pagesOf(first, list, (key) => key)) {
    for (const key of keys) {
      if (key.companyId !== companyId) continue;
      const item = await readWaitingItem(read, key);
      if (item !== undefined) yield [item.body];
    }
    // So that who walks gives way, also over those of other companies.
    yield [];
  }
}

/** Texts of open stops, loads and orders that have changed since a time, milliseconds UTC; 0: of all. */
async function* openTexts({ read, companyId }: Scope, since: number): AsyncGenerator<readonly string[]> {
  const page = { companyId, since, limit: since === 0 ? rowsAtOnce : lookedAtOnce };
  for (const rows of openRows) {
    const list = (afterId: number) => listOpenTexts(read, rows, { ...page, afterId });
    for await (const some of pagesOf(0, list, idOf)) yield textsOf(some);
  }
  const from: Place = since === 0 ? firstPlace : { at: since - 1, id: lastOfAll };
  const list = (after: Place) => listOrderTexts(read, { companyId, after, limit: rowsAtOnce });
  for await (const some of pagesOf(from, list, placeOf)) yield textsOf(some);
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

/** Texts of completions that take the content of documents in, and of those that an export is still to report. */
async function* keptTexts(scope: Scope): AsyncGenerator<readonly string[]> {
  const { read, companyId } = scope;
  const page = { companyId, limit: completionsAtOnce };
  const embedding = (afterId: number) => listEmbeddingCompletions(read, { ...page, afterId });
  for await (const ids of pagesOf(0, embedding, (id) => id))
    yield (await findCompletions(read, ids)).map(textOfCompletion);
  const exported = await findFirstWatermark(read, companyId);
  if (exported !== undefined) yield* completionTexts(scope, { afterId: exported, lastId: lastOfAll });
}

/** Texts of completions that a delivery is still to bring, but for those deliveries that were met before. */
async function* outgoingTexts(scope: Scope, met: Set<number>): AsyncGenerator<readonly string[]> {
  const { read, companyId } = scope;
  for (const list of await listOpenWork(read, companyId)) {
    for await (const some of pagesOf(0, (afterId) => list(afterId, rowsAtOnce), idOf)) {
      const unmet = some.filter(({ id }) => !met.has(id));
      yield* textsOfWork(scope, unmet);
      for (const { id } of unmet) met.add(id);
    }
  }
}

async function* textsOfWork(scope: Scope, work: readonly OpenWork[]): AsyncGenerator<readonly string[]> {
  const ids = work.flatMap(({ window, subjectId }) => (window === undefined ? [subjectId] : []));
  for (const some of portionsOf(ids, completionsAtOnce))
    yield (await findCompletions(scope.read, some)).map(textOfCompletion);
  for (const { window } of work) if (window !== undefined) yield* completionTexts(scope, window);
}

/** All of it; first what becomes another: loads that wait, and what an export is to report before deliveries. */
async function* neededTexts(scope: Scope, met: Set<number>): AsyncGenerator<readonly string[]> {
  yield* waitingTexts(scope, 0);
  yield* openTexts(scope, 0);
  yield* keptTexts(scope);
  yield* outgoingTexts(scope, met);
}

interface Look {
  /** By the clock, milliseconds UTC, and by one that nobody sets. */
  readonly at: number;
  readonly steadyMs: number;
  /** The newest completion that was there. */
  readonly lastCompletion: number;
  /** The newest import that was there, of whatever company: it came with all of its loads. */
  readonly lastImport: number;
}

/** How long a change may be under way from its time to its commit. */
const commitMs = 2 * minuteMs;

/** The earliest time that something has which was committed since the look: the clock may have been set back meanwhile. */
function earliestSince({ at, steadyMs }: Look, now: number): number {
  const setBackMs = Math.max(0, performance.now() - steadyMs - (now - at));
  return Math.floor(at - setBackMs - commitMs);
}

/** Texts of what has changed or was made since a look. */
async function* textsSince(scope: Scope, look: Look): AsyncGenerator<readonly string[]> {
  yield* waitingTexts(scope, look.lastImport);
  yield* openTexts(scope, earliestSince(look, scope.clock.now()));
  yield* completionTexts(scope, { afterId: look.lastCompletion, lastId: lastOfAll });
}

async function lookNow({ store, companyId, clock }: Begun): Promise<Look> {
  // The time first: what was applied of a later import has changed after it.
  const [at, steadyMs] = [clock.now(), performance.now()];
  const lastCompletion = await findLastCompletion(store.read, companyId);
  // In a unit of the company: none of its imports has a number by then that is not committed (docs/decisions/0026).
  return { at, steadyMs, lastCompletion, lastImport: await store.write(companyId, findLastImport) };
}

function addGuids(found: Set<string>, texts: readonly string[]): void {
  for (const text of texts) for (const guid of text.match(guids) ?? []) found.add(guid.toLowerCase());
}

/** GUIDs, in small letters, that something of a company needs. */
export class NeededDocuments {
  readonly #begun: Begun;
  readonly #scope: Scope;
  readonly #found = new Set<string>();
  /** Open deliveries whose completions were read. */
  readonly #met = new Set<number>();
  /** Undefined when it has come to its end. */
  #walk: AsyncGenerator<readonly string[]> | undefined;
  #last: Look;

  private constructor(begun: Begun, last: Look) {
    const { store, companyId, clock } = begun;
    this.#begun = begun;
    this.#scope = { read: store.read, companyId, clock };
    this.#last = last;
    this.#walk = neededTexts(this.#scope, this.#met);
  }

  static async begin(begun: Begun): Promise<NeededDocuments> {
    return new NeededDocuments(begun, await lookNow(begun));
  }

  has(guid: string): boolean {
    return this.#found.has(guid.toLowerCase());
  }

  /** Goes on with the walk to its end. Rejects when aborted, and can be called again then. */
  async walk(signal: AbortSignal): Promise<void> {
    while (this.#walk !== undefined) {
      signal.throwIfAborted();
      const { done, value } = await this.#walk.next();
      if (done === true) this.#walk = undefined;
      else addGuids(this.#found, value);
      await setImmediate();
    }
  }

  /** Adds what has changed since the last look. Rejects when aborted. */
  async look(signal: AbortSignal): Promise<void> {
    const next = await lookNow(this.#begun);
    for (const texts of [textsSince(this.#scope, this.#last), outgoingTexts(this.#scope, this.#met)]) {
      for await (const some of texts) {
        signal.throwIfAborted();
        addGuids(this.#found, some);
        await setImmediate();
      }
    }
    this.#last = next;
  }

  /** What has come to be needed since the last look, for the transaction that removes the rest. */
  async findNewer(tx: Reader): Promise<ReadonlySet<string>> {
    const found = new Set<string>();
    for await (const some of textsSince({ ...this.#scope, read: tx }, this.#last)) addGuids(found, some);
    return found;
  }
}
