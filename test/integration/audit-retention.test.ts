/** What was asked for again or given up goes by its age, while nothing depends on it. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { auditPruner } from "../../src/app/retention/audit-pruner.ts";
import { type KindAmount, pruneOld } from "../../src/app/retention/run-retention.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import type { Config } from "../../src/config/schema.ts";
import { insertAudit } from "../../src/store/accounts/audit.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { connectionOf } from "../../src/store/database/prepared-query.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { countOldOf, cutOffAfter, depsOf, pruneOldOf } from "../support/run-pruner.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { watchStatements } from "../support/watch-statements.ts";
import { dayMs } from "../../src/lib/durations.ts";

const now = Date.UTC(2026, 10, 5);
const old = now - 40 * dayMs;
const young = now - 30 * dayMs;

let store: Store;

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  for (const code of ["ACME", "BETA"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
});

afterEach(() => store.close());

interface FileRow {
  readonly company?: number;
  readonly state?: string;
  readonly isFiled?: boolean;
  readonly askedAt?: number;
}

/** Files that were asked for again once; gives the ids of these requests. */
async function addFiles(...files: readonly FileRow[]): Promise<void> {
  await store.write("site", async (tx) => {
    for (const { company = 1, state = "applied", isFiled = true, askedAt = old } of files) {
      await sql`insert into files (company_id, name, size, channel, received_at, state, reasons, records_created,
        records_updated, records_deleted, source, location, is_filed)
        values (${company}, 'f', 1, 'sftp', ${old}, ${state}, '[]', 0, 0, 0, 'x', 'x', ${isFiled ? 1 : 0})`.execute(
        tx,
      );
      await sql`insert into file_repeats (file_id, asked_at, state, reasons)
        values ((select max(id) from files), ${askedAt}, 'refused', '[]')`.execute(tx);
    }
  });
}

interface DeliveryRow {
  readonly state: string;
  readonly fault?: string;
  readonly askedAt?: number;
}

async function addDeliveries(...deliveries: readonly DeliveryRow[]): Promise<void> {
  await store.write("site", async (tx) => {
    await sql`insert into outbound_targets (company_id, name, takes_completions, is_configured)
      values (1, 'outbound', 1, 1)`.execute(tx);
    for (const [number, { state, fault, askedAt = old }] of deliveries.entries()) {
      await sql`insert into deliveries (guid, company_id, target_id, kind, subject_id, order_key, line_nbr, name, state,
        due_at, fault, created_at) values (${String(number)}, 1, 1, 'completion', 1, 'x', ${number}, 'x', ${state}, 1,
        ${fault ?? null}, ${old})`.execute(tx);
      await sql`insert into delivery_repeats (delivery_id, asked_at, state, attempts)
        values ((select max(id) from deliveries), ${askedAt}, 'dead', 1)`.execute(tx);
    }
  });
}

/** What went by the id of the company; what is counted before is the same. */
async function prune() {
  const counted = await countOldOf(auditPruner, { store, now, before: young });
  const gone = await pruneOldOf(auditPruner, { store, now, before: young });
  expect(gone).toEqual(counted);
  return Object.fromEntries([...gone].map(([company, { count }]) => [company, count]));
}

async function configOf(text: string): Promise<Config> {
  const path = join(temporaryFolder(), "dropgate.yaml");
  await writeFile(path, text);
  const loaded = await loadConfig({ path, env: {}, cwd: "/" });
  if (loaded.kind === "faulty") throw new Error(JSON.stringify(loaded.faults));
  return loaded.config;
}

async function addAudit(...entries: readonly { company: number | null; at: number }[]): Promise<void> {
  await store.write("site", async (tx) => {
    for (const { company: companyId, at } of entries)
      await insertAudit(tx, { at, kind: "signedIn", userName: "anna", companyId });
  });
}

async function left(table: "file_repeats" | "delivery_repeats" | "audit"): Promise<readonly number[]> {
  const rows = await store.read.selectFrom(table).select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

test("requests for files go when they are old, unless the file is still under way, and of no other company", async () => {
  await addFiles(
    {},
    { askedAt: young },
    { state: "waiting", isFiled: false },
    { state: "retry" },
    { isFiled: false },
    { company: 2 },
    { state: "refused" },
  );
  expect(await prune()).toEqual({ 1: 2 });
  expect(await left("file_repeats")).toEqual([2, 3, 4, 5, 6]);
});

test("requests for deliveries go when they are old and it was delivered, never of one that waits or was given up", async () => {
  await addDeliveries(
    { state: "delivered" },
    { state: "delivered", askedAt: young },
    { state: "waiting" },
    { state: "behind" },
    { state: "dead" },
    { state: "dropped", fault: "givenUp" },
    { state: "dropped" },
  );
  expect(await prune()).toEqual({ 1: 2 });
  expect(await left("delivery_repeats")).toEqual([2, 3, 4, 5, 6]);
  expect(await store.read.selectFrom("deliveries").select("id").execute()).toHaveLength(7);
});

test("entries of the console go when they are old, those of no company by the age of the installation", async () => {
  await addAudit(
    { company: 1, at: old },
    { company: 1, at: young },
    { company: 2, at: old },
    { company: null, at: old },
  );
  expect(await prune()).toEqual({ 1: 1 });
  expect(await left("audit")).toEqual([2, 3, 4]);
  const config = await configOf("retention: { audit: 35 }");
  const told: KindAmount[] = [];
  const pass = { config, told: (some: readonly KindAmount[]) => void told.push(...some) };
  await pruneOld(depsOf({ store, now, before: young }), pass, new AbortController().signal);
  expect(await left("audit")).toEqual([2]);
  expect(told.filter(({ kind }) => kind === "audit").map(({ company, count }) => [company, count])).toEqual([
    ["BETA", 1],
    ["(operator)", 1],
  ]);
});

test("all of them go, however many steps it takes", async () => {
  await addFiles(...Array.from({ length: 450 }, (_, number) => (number % 3 === 0 ? { state: "retry" } : {})));
  expect(await prune()).toEqual({ 1: 300 });
  expect(await prune()).toEqual({});
  expect(await left("file_repeats")).toHaveLength(150);
});

test("nothing behind the first young one is read", async () => {
  await addFiles(...Array.from({ length: 700 }, (_, number) => ({ askedAt: number < 100 ? old : young })));
  const asked: string[] = [];
  const end = watchStatements(await connectionOf(store.read), (statement) => asked.push(statement));
  expect(await prune().finally(end)).toEqual({ 1: 100 });
  // One page to count and one to remove.
  expect(asked.filter((statement) => statement.includes(`from "file_repeats"`))).toHaveLength(2);
});

test("a pass that is cut off goes on in the next, in the same table, and none keeps the other from its turn", async () => {
  const stays = Array.from({ length: 1_000 }, () => ({ state: "retry" }));
  await addFiles(...stays, {});
  await addDeliveries(...Array.from({ length: 1_000 }, () => ({ state: "dead" })), { state: "delivered" });
  const places = new Map();
  const gone = async () =>
    2_002 - (await left("file_repeats")).length - (await left("delivery_repeats")).length;
  const wanted = { store, now, before: young, places };
  let passes = 0;
  for (; (await gone()) < 2; passes += 1) {
    expect(passes).toBeLessThan(20);
    const run = pruneOldOf(auditPruner, { ...wanted, signal: cutOffAfter(5) });
    await run.catch((error: unknown) => expect(error).toHaveProperty("name", "AbortError"));
  }
  expect(passes).toBeGreaterThan(2);
  // The one after it begins with the oldest again.
  await store.write("site", (tx) => tx.updateTable("files").set({ state: "applied" }).execute());
  while (places.size > 0) await pruneOldOf(auditPruner, wanted);
  await pruneOldOf(auditPruner, wanted);
  expect(await left("file_repeats")).toEqual([]);
});
