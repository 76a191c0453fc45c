/**
 * Every list of the console that has pages, by the same tests: links forth and back show each row once, whatever comes and
 * goes between two pages. Pages are asked for by the links of the page before, over the queries of the program.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ledgerNumbers } from "../../../../test/support/ledger-numbers.ts";
import { loadConfig } from "../../../config/load-config.ts";
import type { Config } from "../../../config/schema.ts";
import type { ConsoleRoute } from "../../../endpoints/http/console/console-route.ts";
import type { ConsoleServices, Scope } from "../../../endpoints/http/console/console-services.ts";
import { auditRoute } from "../../../endpoints/http/console/pages/audit/audit-page.ts";
import { deliveriesPage } from "../../../endpoints/http/console/pages/deliveries/deliveries-page.ts";
import { filesPage } from "../../../endpoints/http/console/pages/files/files-page.ts";
import { hostsRoutes } from "../../../endpoints/http/console/pages/hosts/hosts-page.ts";
import { loadPage } from "../../../endpoints/http/console/pages/load/load-page.ts";
import { usersRoute } from "../../../endpoints/http/console/pages/users/users-page.ts";
import { consoleRequest, consoleUser } from "../../../endpoints/http/console/testing/viewer.ts";
import { ledgerOfEachTest } from "../../../inbound/testing/ledger-fixture.ts";
import { insertAudit } from "../../../store/accounts/audit.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { enterFile, markFiled, recordDecision } from "../../../store/ledger/files.ts";
import { insertImport, insertImportItem } from "../../../store/stops/imports.ts";
import { queryTable } from "../query-table.ts";
import type { QueryFunction } from "../serve-queries.ts";

const start = Date.UTC(2026, 10, 5);
const ledger = ledgerOfEachTest();
let config: Config;

beforeEach(async () => {
  const folder = ledger.stateDir;
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ stateDir: folder }));
  const outcome = await loadConfig({ path, cwd: folder, env: {} });
  if (outcome.kind === "faulty") throw new Error("the configuration is faulty");
  ({ config } = outcome);
});

/** A list with pages. Rows have numbers: those of a greater number are shown first. */
interface Pages {
  readonly list: string;
  readonly route: ConsoleRoute;
  readonly path: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly rowsOfPage: number;
  /** Whether a page leads to that before it, and not only to the first. */
  readonly leadsBack?: true;
  /** What has to be there before there can be rows. */
  prepare?(tx: Transaction): Promise<unknown>;
  add(tx: Transaction, nth: number): Promise<unknown>;
  remove(tx: Transaction, nth: number): Promise<unknown>;
}

/** What shows the row of that number on a page, and nothing else does. */
const markOf = (nth: number) => `k${String(nth).padStart(5, "0")}`;
const fileOf = (nth: number) => `${markOf(nth)}_20261105_080000.xml`;

async function addFile(tx: Transaction, nth: number): Promise<void> {
  const name = fileOf(nth);
  const arrival = { receivedAt: start + nth, channel: "sftp", userName: "anna", location: `in/${nth}` };
  const { companyId } = ledger;
  const id = await enterFile(tx, { companyId, name, nameTime: null, size: 1, ...arrival });
  const counts = { created: 1, updated: 0, deleted: 0 };
  const about = { stopFunction: "01", stopNbr: null, documentId: null, firstId: null };
  const content = { sha256: "a".repeat(64), size: 1, faults: [], ...counts };
  const decision = { state: "applied", location: `out/${nth}`, decidedAt: start + nth } as const;
  await recordDecision(tx, { id, ...decision, ...about, ...content });
  await markFiled(tx, [id]);
}

const removeFile = (tx: Transaction, nth: number) =>
  tx.deleteFrom("files").where("name", "=", fileOf(nth)).execute();

const targetId = 1;

async function addDelivery(tx: Transaction, nth: number): Promise<void> {
  const of = { company_id: ledger.companyId, created_at: start + nth, name: `${markOf(nth)}.xml` };
  const made = { body: "{}", execution: "{}", driver: "{}", stop_nbr: "S1", stop_status: "90" };
  const cause = { trigger_code: 1, first_event_id: 1, last_event_id: 1, format: 2, embeds_documents: 0 };
  const row = { id: nth + 1, ...of, ...made, ...cause };
  await tx.insertInto("completions").values(row).execute();
  const kept = { guid: `guid-${nth}`, target_id: targetId, kind: "completion", subject_id: nth + 1 } as const;
  const line = { order_key: "S1", line_nbr: 0, due_at: start, attempts: 1, state: "delivered" } as const;
  await tx
    .insertInto("deliveries")
    .values({ ...of, ...kept, ...line })
    .execute();
}

/** The last names of the alphabet have the smallest numbers: users are shown in the order of their names. */
const userNameOf = (nth: number) => `u${99_999 - nth} ${markOf(nth)}`;

async function addUser(tx: Transaction, nth: number): Promise<void> {
  const times = { created_at: start, updated_at: start };
  const user = { user_name: userNameOf(nth), is_enabled: 1, must_change_password: 0, ...times };
  const { id } = await tx.insertInto("users").values(user).returning("id").executeTakeFirstOrThrow();
  const membership = { company_id: ledger.companyId, user_id: id, user_name: userNameOf(nth) };
  await tx
    .insertInto("memberships")
    .values({ ...membership, roles: '["DI_Inquiry"]', profile: "{}" })
    .execute();
}

async function removeUser(tx: Transaction, nth: number): Promise<void> {
  await tx.deleteFrom("memberships").where("user_name", "=", userNameOf(nth)).execute();
  await tx.deleteFrom("users").where("user_name", "=", userNameOf(nth)).execute();
}

async function addImport(tx: Transaction, nth: number): Promise<void> {
  const { companyId } = ledger;
  const entry = { guid: `guid-${nth}`, companyId, serviceName: "default", userName: markOf(nth) };
  const importId = await insertImport(tx, { ...entry, receivedAt: start + nth });
  await insertImportItem(tx, { importId, position: 0, loadNbr: "L1", body: "{}" });
}

async function removeImport(tx: Transaction, nth: number): Promise<void> {
  const row = await tx
    .selectFrom("imports")
    .select("id")
    .where("guid", "=", `guid-${nth}`)
    .executeTakeFirstOrThrow();
  await tx.deleteFrom("import_items").where("import_id", "=", row.id).execute();
  await tx.deleteFrom("imports").where("id", "=", row.id).execute();
}

const [hostsPage] = hostsRoutes;
if (hostsPage === undefined) throw new Error("there is no page for host developers");
const ofFiles = { add: addFile, remove: removeFile, rowsOfPage: 50 };

const lists: readonly Pages[] = [
  { list: "files", route: filesPage, path: "/console/files", leadsBack: true, ...ofFiles },
  { list: "files of one state", route: filesPage, path: "/console/files?state=applied", ...ofFiles },
  { list: "receipts of the user", route: hostsPage, path: "/console/hosts?company=ACME", ...ofFiles },
  {
    ...{ list: "receipts of all", route: hostsPage, path: "/console/hosts?company=ACME&of=company" },
    ...ofFiles,
  },
  {
    ...{ list: "deliveries", route: deliveriesPage, path: "/console/deliveries?target=host", rowsOfPage: 50 },
    prepare: (tx) =>
      tx
        .insertInto("outbound_targets")
        .values({
          ...{ id: targetId, company_id: ledger.companyId, name: "host" },
          ...{ takes_completions: 1, is_configured: 1 },
        })
        .execute(),
    add: addDelivery,
    remove: (tx, nth) => tx.deleteFrom("deliveries").where("guid", "=", `guid-${nth}`).execute(),
  },
  {
    ...{ list: "users", route: usersRoute, path: "/console/users?company=ACME", rowsOfPage: 50 },
    ...{ add: addUser, remove: removeUser },
  },
  {
    ...{ list: "the audit", route: auditRoute, path: "/console/audit?user=anna", rowsOfPage: 50 },
    add: (tx, nth) =>
      insertAudit(tx, {
        ...{ at: start + nth, kind: "signedIn", userName: "anna", companyId: ledger.companyId },
        reason: markOf(nth),
      }),
    remove: (tx, nth) => tx.deleteFrom("audit").where("reason", "=", markOf(nth)).execute(),
  },
  {
    ...{ list: "imports of a load", route: loadPage, path: "/console/loads/ACME/L1", rowsOfPage: 20 },
    params: { companyCode: "ACME", loadNbr: "L1" },
    prepare: (tx) =>
      tx
        .insertInto("loads")
        .values({
          ...{ company_id: ledger.companyId, load_nbr: "L1", load_status: 10, driver: "{}", body: "{}" },
          ...{ extra: "{}", execution: "{}", created_at: start, updated_at: start },
        })
        .execute(),
    ...{ add: addImport, remove: removeImport },
  },
];

const queries: Readonly<Record<string, QueryFunction>> = queryTable;

const services = {
  basePath: () => "",
  servers: () => ({ http: { scheme: "http", port: 8080, basePath: "" } }),
  ask: (name: string, scope: Scope, asked: unknown) => {
    const query = queries[name];
    if (query === undefined) throw new Error(`there is no query ${name}`);
    const { stateDir, store } = ledger;
    const context = { read: store.read, stateDir, config, ledgerNumbers, now: start + 100_000 };
    return query({ ...context, timeLeftMs: () => 60_000 }, scope, asked as never);
  },
} as unknown as ConsoleServices;

interface ShownPage {
  /** Numbers of the rows, in their order. */
  readonly rows: readonly number[];
  /** Addresses, undefined where there is no such link. */
  readonly older: string | undefined;
  readonly newer: string | undefined;
  readonly newest: string | undefined;
}

async function shownAt({ route, params = {} }: Pages, address: string): Promise<ShownPage> {
  const { searchParams: query } = new URL(address, "http://console.invalid");
  const user = consoleUser({ companies: [{ id: ledger.companyId, code: "ACME", roles: ["MemberAdmin"] }] });
  const answer = await route.run(services, consoleRequest({ user, params, query, target: address }));
  const body = String(answer.body);
  const pager = /<nav class="pager".*?<\/nav>/s.exec(body)?.[0] ?? "";
  const linkOf = (form: RegExp) => form.exec(pager)?.[1]?.replaceAll("&amp;", "&");
  const rows = [...body.matchAll(/<tr\b.*?<\/tr>/gs)].flatMap(([row]) => /\bk(\d{5})/.exec(row)?.[1] ?? []);
  return {
    rows: rows.map(Number),
    older: linkOf(/rel="next" href="([^"]+)"/),
    newer: linkOf(/rel="prev" href="([^"]+)"/),
    newest: linkOf(/<li><a href="([^"]+)">Newest</),
  };
}

const inStore = (work: (tx: Transaction) => Promise<unknown>) => ledger.store.write("site", work);

/** Numbers from `first` down, so many. */
const down = (first: number, count: number) => Array.from({ length: count }, (_, index) => first - index);

/** Rows of the numbers 1 to `count`, all at once. */
async function fill(pages: Pages, count: number): Promise<void> {
  await inStore(async (tx) => {
    await pages.prepare?.(tx);
    for (let nth = 1; nth <= count; nth += 1) await pages.add(tx, nth);
  });
}

/** The page that a link of this one leads to. */
function follow(pages: Pages, link: string | undefined): Promise<ShownPage> {
  if (link === undefined) throw new Error("the page has no such link");
  return shownAt(pages, link);
}

describe.each(lists.map((pages) => [pages.list, pages] as const))("pages of %s", (_list, pages) => {
  const { rowsOfPage: size, path } = pages;
  const count = 2 * size + 3;

  test("show each row once to the last page, which leads no further, and lead back to the newest", async () => {
    await fill(pages, count);
    const first = await shownAt(pages, path);
    expect([first.rows, first.newest, first.newer]).toEqual([down(count, size), undefined, undefined]);
    const second = await follow(pages, first.older);
    expect(second.rows).toEqual(down(count - size, size));
    const last = await follow(pages, second.older);
    expect([last.rows, last.older]).toEqual([down(3, 3), undefined]);
    expect((await follow(pages, last.newest)).rows).toEqual(first.rows);
    expect((await follow(pages, second.newest)).rows).toEqual(first.rows);
  });

  test("lead no further from a page that is full, when there is no more", async () => {
    await fill(pages, 2 * size);
    const second = await follow(pages, (await shownAt(pages, path)).older);
    expect([second.rows, second.older]).toEqual([down(size, size), undefined]);
  });

  test("go on where the page before ended, though newer rows have come since", async () => {
    await fill(pages, count);
    const first = await shownAt(pages, path);
    await inStore((tx) => pages.add(tx, count + 1));
    const second = await follow(pages, first.older);
    expect(second.rows).toEqual(down(count - size, size));
    expect((await follow(pages, second.newest)).rows).toEqual(down(count + 1, size));
  });

  test("go on where the page before ended, though rows on both sides of it are gone", async () => {
    await fill(pages, count);
    const first = await shownAt(pages, path);
    const end = count - size;
    for (const nth of [end + 2, end + 1, end]) await inStore((tx) => pages.remove(tx, nth));
    expect((await follow(pages, first.older)).rows).toEqual(down(end - 1, size));
  });

  if (pages.leadsBack)
    test("lead back to the rows before, which become the first page when there are fewer", async () => {
      await fill(pages, count);
      const second = await follow(pages, (await shownAt(pages, path)).older);
      const third = await follow(pages, second.older);
      expect((await follow(pages, third.newer)).rows).toEqual(second.rows);
      const first = await follow(pages, second.newer);
      expect([first.rows, first.newer, first.newest]).toEqual([down(count, size), undefined, undefined]);
      await inStore((tx) => pages.add(tx, count + 1));
      const before = await follow(pages, second.newer);
      expect(before.rows).toEqual(down(count, size));
      expect((await follow(pages, before.newer)).rows).toEqual(down(count + 1, size));
      for (const nth of down(count - size, 5)) await inStore((tx) => pages.remove(tx, nth));
      expect((await follow(pages, third.newer)).rows).toEqual([
        ...down(count - size + 5, 5),
        ...down(count - size - 5, size - 5),
      ]);
    });
});
