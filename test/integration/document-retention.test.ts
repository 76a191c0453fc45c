/** Documents go by their age when nothing that is open, and no completion, needs them. */
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { NeededDocuments } from "../../src/app/retention/needed-documents.ts";
import { documentsPruner } from "../../src/app/retention/document-pruner.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { findLastImport } from "../../src/store/stops/document-retention.ts";
import { saveDocuments } from "../../src/store/stops/documents.ts";
import { decideImportItem, insertImport, insertImportItem } from "../../src/store/stops/imports.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { countOldOf, cutOffAfter, pruneOldOf } from "../support/run-pruner.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dayMs } from "../../src/lib/durations.ts";

const now = Date.UTC(2026, 10, 5);
const before = now - 30 * dayMs;
let store: Store;

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  for (const code of ["ACME", "BETA"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
});

afterEach(() => store.close());

function guidOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

async function addDocument(number: number, daysAgo: number, companyId = 1): Promise<void> {
  const document = { guid: guidOf(number), sha256: String(number), size: 10, name: null };
  await store.write(companyId, (tx) =>
    saveDocuments(tx, { companyId, documents: [document], now: now - daysAgo * dayMs }),
  );
}

interface DeliveryOf {
  readonly kind?: "completion" | "export";
  readonly state: string;
}

/** A delivery of the last completion or export, made when all began. */
async function addDelivery({ kind = "completion", state }: DeliveryOf): Promise<void> {
  const subjects = sql.table(kind === "completion" ? "completions" : "exports");
  await store.write(1, async (tx) => {
    await sql`insert into outbound_targets (company_id, name, takes_completions, is_configured)
      values (1, 'outbound', 1, 1) on conflict do nothing`.execute(tx);
    await sql`insert into deliveries (guid, company_id, target_id, kind, subject_id, order_key, line_nbr, name, state,
      due_at, created_at) select coalesce(max(id), 0) || ${kind}, 1, 1, ${kind}, max(id), 'x', max(id), 'x', ${state}, 1,
      1 from ${subjects}`.execute(tx);
  });
}

async function addOrder(nbr: string, number: number, updatedAt = 1): Promise<void> {
  const body = JSON.stringify({ documents: [{ reference: guidOf(number) }] });
  await store.write(1, async (tx) => {
    await sql`insert into orders (company_id, order_nbr, body, is_cancelled, cancellation, created_at, updated_at)
      values (1, ${nbr}, ${body}, 0, '{}', 1, ${updatedAt})`.execute(tx);
  });
}

/** A store that commits something once before the first removal: between the look at what is needed and that. */
function withLate(commit: () => Promise<void>): {
  isCommitted: () => boolean;
  late: Pick<Store, "read" | "write">;
} {
  let isCommitted = false;
  const late: Pick<Store, "read" | "write"> = {
    read: store.read,
    write: async (companyId, work) => {
      if ((work as unknown) !== findLastImport) {
        if (!isCommitted) await commit();
        isCommitted = true;
      }
      return await store.write(companyId, work);
    },
  };
  return { isCommitted: () => isCommitted, late };
}

/** An import whose one load waits, and has a stop that names a document in its second line. */
async function addWaitingLoad(number: number, companyId = 1): Promise<number> {
  const stop = JSON.stringify({ documents: [{ reference: guidOf(number) }] });
  const entry = { companyId, serviceName: "load", userName: "host", receivedAt: 1 };
  return await store.write(companyId, async (tx) => {
    const importId = await insertImport(tx, { guid: `import of ${number}`, ...entry });
    await insertImportItem(tx, { importId, position: 0, loadNbr: "L", body: `{}\n${stop}` });
    return importId;
  });
}

const decideLoad = (importId: number, state: "applied" | "refused") =>
  store.write(1, (tx) => decideImportItem(tx, { importId, position: 0, state, faults: [], now }));

/** Applied to a stop that came with it. */
async function applyWaitingLoad(importId: number, number: number): Promise<void> {
  await addStop("L1", "10", { body: number });
  await store.write(1, (tx) => tx.updateTable("stops").set({ updated_at: now }).execute());
  await decideLoad(importId, "applied");
}

/** A stop whose events, body or execution name documents. */
async function addStop(
  nbr: string,
  status: string,
  named: { body?: number; execution?: number },
): Promise<void> {
  const json = (number: number | undefined) =>
    number === undefined ? "{}" : JSON.stringify({ documents: [{ reference: guidOf(number) }] });
  await store.write(1, async (tx) => {
    await sql`insert into stops (company_id, stop_nbr, stop_nbr_key, stop_status, receive_status, body, execution,
      created_at, updated_at) values (1, ${nbr}, ${nbr}, ${status}, '10', ${json(named.body)},
      ${json(named.execution)}, 1, 1)`.execute(tx);
  });
}

async function addCompletion(nbr: string, number: number, embeds: 0 | 1): Promise<void> {
  const data = JSON.stringify({ documents: [{ reference: guidOf(number).toUpperCase() }] });
  await store.write(1, async (tx) => {
    await sql`insert into recorded_events (company_id, stop_nbr, event_code, recorded_at, data)
      values (1, ${nbr}, 7014, 1, ${data})`.execute(tx);
    await sql`insert into completions (company_id, stop_nbr, name, format, embeds_documents, trigger_code,
      first_event_id, last_event_id, stop_status, body, execution, driver, created_at)
      values (1, ${nbr}, ${nbr}, 1, ${embeds}, 7009, 1, 99, '90', '{}', '{}', '{}', 1)`.execute(tx);
  });
}

async function prune(used: Pick<Store, "read" | "write"> = store): Promise<number> {
  const counted = await countOldOf(documentsPruner, { store: used, now, before });
  const gone = await pruneOldOf(documentsPruner, { store: used, now, before });
  if (used === store) expect(gone).toEqual(counted);
  expect(gone.get(1)?.bytes ?? 0).toBe(10 * (gone.get(1)?.count ?? 0));
  return gone.get(1)?.count ?? 0;
}

async function left(): Promise<readonly string[]> {
  const rows = await store.read.selectFrom("documents").select("sha256").orderBy("sha256").execute();
  return rows.map(({ sha256 }) => sha256);
}

test("old ones go, young ones and those of other companies stay, and one that came again is young", async () => {
  await addDocument(1, 31);
  await addDocument(2, 30);
  await addDocument(3, 60, 2);
  await addDocument(4, 60);
  await addDocument(4, 1);
  expect(await prune()).toBe(1);
  expect(await left()).toEqual(["2", "3", "4"]);
});

test("what an open stop, or a completion that takes contents in, names stays until that is over", async () => {
  for (let number = 1; number <= 6; number++) await addDocument(number, 60);
  await addStop("A", "50", { body: 1, execution: 2 });
  await addStop("B", "90", { body: 3 });
  await addCompletion("B", 4, 1);
  await addCompletion("C", 5, 0);
  expect(await prune()).toBe(3);
  expect(await left()).toEqual(["1", "2", "4"]);
  await store.write(1, async (tx) => {
    await tx.updateTable("stops").set({ stop_status: "90" }).execute();
    await tx.deleteFrom("completions").execute();
  });
  expect(await prune()).toBe(3);
});

test("all of them go, however many steps it takes", async () => {
  const documents = Array.from({ length: 450 }, (_, number) => ({
    ...{ guid: guidOf(number), sha256: String(number), size: 10, name: null },
  }));
  await store.write(1, (tx) => saveDocuments(tx, { companyId: 1, documents, now: 1 }));
  await addStop("A", "50", { body: 7 });
  expect(await prune()).toBe(449);
  expect(await left()).toEqual(["7"]);
});

test("what came again with a clock that is behind is no older for it", async () => {
  await addDocument(1, 10);
  await addDocument(1, 60);
  expect(await prune()).toBe(0);
});

test.each([
  ["waits", "waiting"],
  ["waits behind another", "behind"],
  ["is dead", "dead"],
])("a completion whose delivery %s keeps what it names, until that is over", async (_, state) => {
  for (const number of [1, 2]) await addDocument(number, 60);
  await addCompletion("A", 1, 0);
  await addDelivery({ state });
  await addCompletion("B", 2, 0);
  await addDelivery({ state: "delivered" });
  expect(await prune()).toBe(1);
  expect(await left()).toEqual(["1"]);
  await store.write(1, (tx) => tx.updateTable("deliveries").set({ state: "delivered" }).execute());
  expect(await prune()).toBe(1);
});

test("completions that an export has still to report or to deliver keep what they name", async () => {
  for (const number of [1, 2, 3]) await addDocument(number, 60);
  for (const number of [1, 2, 3]) await addCompletion(`S${number}`, number, 0);
  await store.write(1, async (tx) => {
    await sql`insert into exports (company_id, name, sequence_nbr, after_completion_id, last_completion_id, form,
      created_at) values (1, 'daily', 1, 1, 2, 'files', 1)`.execute(tx);
    await sql`insert into export_schedules (company_id, name, schedule, next_due_at, watermark)
      values (1, 'daily', '{}', 1, 2)`.execute(tx);
  });
  await addDelivery({ kind: "export", state: "waiting" });
  expect(await prune()).toBe(1);
  expect(await left()).toEqual(["2", "3"]);
  await store.write(1, async (tx) => {
    await tx.updateTable("deliveries").set({ state: "delivered" }).execute();
    await tx.updateTable("export_schedules").set({ watermark: 3 }).execute();
  });
  expect(await prune()).toBe(2);
});

test("an order that is not over keeps what it names, until its stop is over", async () => {
  for (let number = 0; number < 450; number++) await addOrder(`O${number}`, number);
  for (const number of [0, 449]) await addDocument(number, 60);
  expect(await prune()).toBe(0);
  await addStop("O0", "90", {});
  await store.write(1, (tx) =>
    tx.updateTable("orders").set({ is_cancelled: 1 }).where("order_nbr", "=", "O449").execute(),
  );
  expect(await prune()).toBe(2);
});

test("a load that waits keeps what it names of its company, until it is decided", async () => {
  for (const number of [1, 2, 3]) await addDocument(number, 60);
  const first = await addWaitingLoad(1);
  const second = await addWaitingLoad(2);
  await addWaitingLoad(3, 2);
  expect(await prune()).toBe(1);
  expect(await left()).toEqual(["1", "2"]);
  await decideLoad(first, "refused");
  await applyWaitingLoad(second, 2);
  expect(await prune()).toBe(1);
  expect(await left()).toEqual(["2"]);
});

test("each of thousands of loads that wait keeps what it names", async () => {
  const document = (number: number) => ({
    guid: guidOf(number),
    sha256: String(number),
    size: 10,
    name: null,
  });
  const documents = Array.from({ length: 2_500 }, (_, number) => document(number));
  await store.write(1, async (tx) => {
    await saveDocuments(tx, { companyId: 1, documents, now: 1 });
    const entry = { companyId: 1, serviceName: "load", userName: "host", receivedAt: 1 };
    for (const guid of ["one", "two"]) {
      const importId = await insertImport(tx, { guid, ...entry });
      for (let position = 0; position < 1_249; position += 1) {
        const body = guidOf(2 * position + (guid === "one" ? 0 : 1));
        await insertImportItem(tx, { importId, position, loadNbr: "L", body });
      }
    }
  });
  expect(await prune()).toBe(2);
  expect(await left()).toHaveLength(2_498);
});

const commits: readonly (readonly [what: string, commit: () => Promise<void>])[] = [
  [
    "a stop",
    async () => {
      await addStop("A", "10", { body: 1 });
      await store.write(1, (tx) => tx.updateTable("stops").set({ updated_at: now }).execute());
    },
  ],
  ["an order", () => addOrder("O", 1, now)],
  ["a completion of a stop that is over", () => addCompletion("A", 1, 0)],
  ["a load of an import", async () => void (await addWaitingLoad(1))],
];

test.each(commits)("%s that comes while the pass is under way keeps what it names", async (_, commit) => {
  for (const number of [1, 2]) await addDocument(number, 60);
  const { isCommitted, late } = withLate(commit);
  expect(await prune(late)).toBe(1);
  expect(isCommitted()).toBe(true);
  expect(await left()).toEqual(["1"]);
});

test("a load that is applied between the walk and the removal keeps what it names", async () => {
  for (const number of [1, 2, 3]) await addDocument(number, 60);
  const known = await addWaitingLoad(1);
  // One more comes and is applied at once: no walk and no look has seen it wait.
  const { isCommitted, late } = withLate(async () => {
    await applyWaitingLoad(known, 1);
    const quick = await addWaitingLoad(2);
    await decideLoad(quick, "applied");
    await addOrder("O", 2, now);
  });
  expect(await prune(late)).toBe(1);
  expect(isCommitted()).toBe(true);
  expect(await left()).toEqual(["1", "2"]);
});

describe("a pass that is cut off on its walk over what needs documents", () => {
  const orders = 20_000;
  const cutOff = async (walks: Map<number, NeededDocuments>) => {
    const run = pruneOldOf(documentsPruner, { store, now, before, walks, signal: cutOffAfter(20) });
    await expect(run).rejects.toHaveProperty("name", "AbortError");
  };

  beforeEach(async () => {
    for (const number of [1, 2]) await addDocument(number, 60);
    await store.write(1, async (tx) => {
      await sql`insert into orders (company_id, order_nbr, body, is_cancelled, cancellation, created_at, updated_at)
        with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${orders})
        select 1, 'N' || n, '{}', 0, '{}', 1, n from numbers`.execute(tx);
    });
  });

  test("goes on in the next, and comes to an end", async () => {
    const walks = new Map<number, NeededDocuments>();
    let passes = 0;
    for (; (await left()).length > 0; passes += 1) {
      expect(passes).toBeLessThan(20);
      const run = pruneOldOf(documentsPruner, { store, now, before, walks, signal: cutOffAfter(20) });
      await run.catch((error: unknown) => expect(error).toHaveProperty("name", "AbortError"));
    }
    expect(passes).toBeGreaterThan(2);
    expect(walks.size).toBe(0);
  });

  test("keeps what loads name that came meanwhile and wait, or waited and were applied meanwhile", async () => {
    await addDocument(3, 60);
    const known = await addWaitingLoad(1);
    const walks = new Map<number, NeededDocuments>();
    await cutOff(walks);
    await addWaitingLoad(2);
    await cutOff(walks);
    await applyWaitingLoad(known, 1);
    const gone = await pruneOldOf(documentsPruner, { store, now, before, walks });
    expect(gone.get(1)?.count).toBe(1);
    expect(await left()).toEqual(["1", "2"]);
  });

  test("keeps what came to be needed meanwhile, also when the clock was set back", async () => {
    const walks = new Map<number, NeededDocuments>();
    await cutOff(walks);
    const setBack = now - 20 * 60 * 60_000;
    // Behind the place that the walk has come to.
    await addOrder("A", 1, 1);
    await store.write(1, (tx) =>
      tx.updateTable("orders").set({ updated_at: setBack }).where("order_nbr", "=", "A").execute(),
    );
    await cutOff(walks);
    const clock = { now: () => setBack + 1_000 };
    await pruneOldOf(documentsPruner, { store, now: clock.now(), clock, before, walks });
    expect(await left()).toEqual(["1"]);
  });
});
