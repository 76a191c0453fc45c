/** What the pages of the console ask of a ledger of years is answered by an index, for one company and for several. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { listChannels } from "../../src/store/ledger/daily-files.ts";
import { countFilePage } from "../../src/store/ledger/file-page-counts.ts";
import { readFilePage } from "../../src/store/ledger/file-pages.ts";
import type { PageSelection } from "../../src/store/ledger/file-ways.ts";
import { findFilesByContent, findFilesByName } from "../../src/store/ledger/find-files.ts";
import { readDeliveryPage } from "../../src/store/outbound/delivery-pages.ts";
import { listNewestExports, newestDeliveriesOf } from "../../src/store/outbound/exports.ts";
import { countLately, findOpenFault } from "../../src/store/outbound/target-counts.ts";
import { listHourCounts } from "../../src/store/ledger/file-rates.ts";
import { listOpenPlaces } from "../../src/store/ledger/file-queries.ts";
import { findFirstOfCode, listFaultCodes, listNewestOfCode } from "../../src/store/ledger/recent-faults.ts";
import { listOldestDeliveries } from "../../src/store/outbound/oldest-deliveries.ts";
import { listMembers } from "../../src/store/accounts/members.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import {
  findDeliveriesByName,
  findDeliveryByGuid,
  findDocuments,
} from "../../src/store/outbound/find-deliveries.ts";
import {
  findLoadsByNumber,
  findOrdersByNumber,
  findStopsByNumber,
} from "../../src/store/stops/find-numbers.ts";
import { plansOf } from "../support/query-plans.ts";
import { describeOnSqlite, itOnSqlite } from "../support/store-dialect.ts";

let store: Store;
let stateDir: string;

beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "dropgate-plans-"));
  store = await openStore(stateDir);
});
afterEach(async () => {
  await store.close();
  await rm(stateDir, { recursive: true });
});

/** One of each company: what waits is looked for by its target. */
async function addTargets(): Promise<void> {
  for (const id of [1, 2]) {
    await store.write("site", async (tx) => {
      await insertCompany(tx, { code: `C${id}`, createdAt: 1 });
      const target = { company_id: id, name: "t", takes_completions: 1, is_configured: 1 };
      await tx.insertInto("outbound_targets").values(target).execute();
    });
  }
}

const plan = (work: () => Promise<unknown>) => plansOf({ read: store.read, stateDir }, work);

/** How rows of tables that grow are reached; a subquery of some places may be scanned. */
const reached = (steps: readonly string[]) =>
  steps.filter((step) => /^(?:SEARCH|SCAN) (?!p\b|\(?subquery|CONSTANT)/i.test(step));

const page = { limit: 50, hasTime: () => true };
const from = { receivedAt: 1_000, id: 7 };
const entry = /^SEARCH files USING INTEGER PRIMARY KEY/;

const pages = [
  [{}, /files_by_arrival \(company_id=\? AND received_at/],
  [{ states: ["applied"] }, /files_by_arrival \(company_id=\? AND received_at/],
  [{ states: ["refused"] }, /files_refused_by_arrival \(company_id=\? AND state=\? AND received_at/],
  [
    { states: ["superseded", "duplicate"], userName: "u" },
    /files_refused_by_arrival \(company_id=\? AND state=\?/,
  ],
  [{ states: ["waiting", "retry"] }, /files_open \(state=\?/],
  [{ reasons: ["xsdMismatch"], channel: "sftp" }, /PRIMARY KEY \(company_id=\? AND code=\? AND received_at/],
  [{ name: "4711*" }, /files_by_name \(company_id=\? AND name>\? AND name<\?/],
  [{ name: "*11*", since: 5, until: 900 }, /files_by_arrival \(company_id=\? AND received_at/],
  [{ isPruned: true }, /files_by_arrival \(company_id=\? AND received_at/],
] as const satisfies readonly (readonly [Omit<PageSelection, "companyIds">, RegExp])[];

// The plans are SQLite's, in its words.
describeOnSqlite.each([[[1]], [[1, 2]]])("of companies %j an index serves", (companyIds) => {
  test.each(pages)("the pages of %o", async (selection, index) => {
    for (const direction of ["older", "newer"] as const) {
      for (const place of [{}, { from }]) {
        const asked = { ...page, ...place, direction };
        const steps = reached(
          await plan(() => readFilePage(store.read, { companyIds, ...selection }, asked)),
        );
        const others = steps.filter((step) => !entry.test(step) && !step.includes("retention_marks"));
        expect(others.length).toBeGreaterThan(0);
        for (const step of others) expect(step).toMatch(index);
      }
    }
  });

  test("how many there are, by days or as far as a bound", async () => {
    const days = await plan(() => countFilePage(store.read, { companyIds, since: 0, until: 86_400_000 }));
    expect(reached(days).join("\n")).toMatch(/daily_files USING PRIMARY KEY \(company_id=\? AND day/);
    expect(reached(days).join("\n")).toContain("files USING INDEX files_open");
    const faults = await plan(() => countFilePage(store.read, { companyIds, reasons: ["tooLong"] }));
    expect(reached(faults)[0]).toMatch(/file_faults USING PRIMARY KEY \(company_id=\? AND code=\?/);
    const [channels] = reached(await plan(() => listChannels(store.read, { companyIds, since: 1 })));
    expect(channels).toMatch(/daily_files USING PRIMARY KEY \(company_id=\? AND day/);
  });

  test.each([
    [{}, /deliveries_by_age \(company_id=\? AND created_at/],
    [{ target: "t" }, /deliveries_by_age \(company_id=\? AND created_at/],
    [{ state: "dropped", kind: "message" }, /deliveries_by_age \(company_id=\? AND created_at/],
    [{ state: "waiting" }, /deliveries_oldest \(target_id=\? AND id</],
    [{ state: "behind", kind: "export" }, /deliveries_oldest \(target_id=\? AND id</],
    [{ state: "dead", target: "t" }, /deliveries_dead \(target_id=\? AND id</],
    [{ name: "4711*" }, /deliveries_name \(company_id=\? AND name>\? AND name<\?/],
    [{ name: "*11*", since: 5, until: 900 }, /deliveries_by_age \(company_id=\? AND created_at/],
  ] as const)("the pages of deliveries, %o", async (selection, index) => {
    await addTargets();
    const asked = { ...page, from: { createdAt: 1_000, id: 7 } };
    const steps = reached(
      await plan(() => readDeliveryPage(store.read, { companyIds, ...selection }, asked)),
    );
    const some = steps.filter((step) => / d\b/.test(step) && !step.includes("d USING INTEGER PRIMARY KEY"));
    expect(some.length).toBeGreaterThan(0);
    for (const step of some) expect(step).toMatch(index);
  });

  test("the deliveries of a stop, how targets stand, and exports", async () => {
    await addTargets();
    const [companyId = 0] = companyIds;
    const asked = [
      () => readDeliveryPage(store.read, { companyIds, stopNbr: "4711" }, page),
      () => countLately(store.read, { companyId, since: 5 }),
      () => findOpenFault(store.read, 1),
      () => listNewestExports(store.read, { companyId, limit: 5 }),
      () => listNewestExports(store.read, { companyId, limit: 5, before: 7 }),
      () => newestDeliveriesOf(store.read, [1, 2]),
    ];
    for (const work of asked)
      for (const step of reached(await plan(work)))
        expect(step).toMatch(/^SEARCH|outbound_targets|SCAN (names|newest|oldest)$/);
  });

  test("what the box finds", async () => {
    const named = { companyIds, beginnings: ["4711"], limit: 5 };
    const numbered = { companyIds, numbers: ["4711", "S1"], limit: 5 };
    const content = { companyIds, sha256: "0123456789", limit: 5, hasTime: () => true };
    const guid = "00000000-0000-4000-8000-000000000001";
    const asked = [
      () => findFilesByName(store.read, named),
      () => findDeliveriesByName(store.read, named),
      () => findDeliveryByGuid(store.read, { companyIds, guid }),
      () => findDocuments(store.read, { companyIds, guid, limit: 5 }),
      () => findDocuments(store.read, { companyIds, sha256: "0123456789", limit: 5 }),
      () => findStopsByNumber(store.read, numbered),
      () => findLoadsByNumber(store.read, numbered),
      () => findOrdersByNumber(store.read, numbered),
    ];
    for (const work of asked) for (const step of reached(await plan(work))) expect(step).toMatch(/^SEARCH/);
    const contents = await plan(() => findFilesByContent(store.read, content));
    expect(contents.join("\n")).toMatch(/files_by_content \(company_id=\? AND id>\? AND id<\?\)/);
  });
});

itOnSqlite(
  "what page 1 asks of refused files and of hours, what waits, and users of a name, are answered by an index",
  async () => {
    await addTargets();
    const span = { companyId: 1, code: "xsdMismatch", since: 5, until: 900 } as const;
    const asked = [
      () => listFaultCodes(store.read, 1),
      () => listNewestOfCode(store.read, span, 5),
      () => findFirstOfCode(store.read, span),
      () => listHourCounts(store.read, { companyIds: [1, 2], since: 5, until: 900 }),
      () => listOldestDeliveries(store.read, { targetIds: [1, 2], afterId: 7, limit: 5 }),
      () => listOpenPlaces(store.read, { companyIds: [1, 2], limit: 5 }),
      () => listMembers(store.read, { companyIds: [1, 2], beginnings: ["a", "A"], limit: 5 }),
      () => listMembers(store.read, { companyIds: undefined, beginnings: ["a", "A"], limit: 5 }),
    ];
    for (const work of asked) {
      const steps = reached(await plan(work)).filter((step) => !/^SCAN (?:codes|p)$/.test(step));
      for (const step of steps) expect(step).toMatch(/^SEARCH/);
    }
  },
);

/** Milliseconds of processor time of twenty pages. */
async function cpuMsOfPages(direction: "older" | "newer", receivedAt: number): Promise<number> {
  const began = process.cpuUsage();
  for (let nth = 0; nth < 20; nth += 1) {
    const asked = { ...page, direction, from: { receivedAt, id: receivedAt } };
    const { entries } = await readFilePage(store.read, { companyIds: [1, 2] }, asked);
    expect(entries).toHaveLength(page.limit);
  }
  const { user, system } = process.cpuUsage(began);
  return (user + system) / 1_000;
}

test("a page back costs no more than a page on, however many entries lie behind it", async () => {
  const rows = 100_000;
  await store.write("site", async (tx) => {
    await insertCompany(tx, { code: "C", createdAt: 1 });
    await sql`with recursive n(i) as (select 1 union all select i + 1 from n where i < ${rows})
      insert into files (id, company_id, name, size, channel, received_at, state, reasons, records_created, records_updated,
        records_deleted, source, location, is_filed)
      select i, 1, i || '.xml', 1, 'sftp', i, 'applied', '[]', 1, 0, 0, 's', 'l' || i, 1 from n`.execute(tx);
  });
  // The first ones make the code warm.
  for (const direction of ["older", "newer"] as const) await cpuMsOfPages(direction, rows - 1_000);
  const floor = Math.max(1, await cpuMsOfPages("older", rows - 1_000));
  const took = await cpuMsOfPages("newer", rows - 1_000);
  expect(took / floor).toBeLessThan(3);
});
