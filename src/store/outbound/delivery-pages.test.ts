/** Whatever the filter, pages give all deliveries of it once, the newest first. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  askedDeliveryStates,
  type DeliveryKind,
  deliveryStates,
} from "../../domain/outbound/delivery-state.ts";
import { dayMs } from "../../lib/durations.ts";
import { given } from "../../lib/given.ts";
import { insertCompany } from "../accounts/companies.ts";
import { openStore, type Store } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { type DeliveryPageSelection, type DeliveryPlace, readDeliveryPage } from "./delivery-pages.ts";
import { type ListedDelivery, listed, selectDeliveries } from "./delivery-queries.ts";

const start = Date.UTC(2026, 10, 5);
const companies = [1, 2, 3] as const;
const targets = ["host", "tms", "mail"] as const;
const kinds: readonly DeliveryKind[] = ["completion", "completion", "message", "export"];
/** More than are looked through at once. */
const planted = 2_400;
const limit = 60;
let stateDir = "";
let store: Store;
let all: readonly ListedDelivery[] = [];

/** Each third company, and targets, kinds and states that go round; some are made at the same moment. */
async function plant(tx: Transaction, nth: number): Promise<void> {
  const company_id = companies[nth % 3] ?? 1;
  const target_id = (company_id - 1) * targets.length + ((nth * 5) % 3) + 1;
  const [kind, stop] = [kinds[(nth * 7) % kinds.length] ?? "completion", `S${nth % 40}`];
  const about = { company_id, name: `${nth}.xml`, created_at: start, body: "{}", stop_nbr: stop };
  const rest = { format: 2, embeds_documents: 0, trigger_code: 1, first_event_id: 1, last_event_id: 1 };
  const made = { stop_status: "90", execution: "{}", driver: "{}" };
  if (kind === "completion")
    await tx
      .insertInto("completions")
      .values({ id: nth + 1, ...about, ...rest, ...made })
      .execute();
  if (kind === "message") {
    const message = { company_id, stop_nbr: stop, created_at: start, channel: "email" as const };
    const values = { id: nth + 1, ...message, event_code: 1, address: "a", facts: "{}" };
    await tx.insertInto("messages").values(values).execute();
  }
  await tx
    .insertInto("deliveries")
    .values({
      ...{ guid: `guid-${nth}`, company_id, target_id, kind, subject_id: nth + 1, order_key: stop },
      ...{ line_nbr: 0, name: `${nth % 5}${nth}_done.xml`, due_at: start, attempts: 1 },
      state: deliveryStates[(nth * 11) % deliveryStates.length] ?? "delivered",
      created_at: start + Math.floor(nth / 4) * (dayMs / 100),
    })
    .execute();
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "dropgate-deliveries-"));
  store = await openStore(stateDir);
  for (const code of ["A", "B", "C"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
  await store.write("site", async (tx) => {
    for (const company_id of companies)
      for (const name of targets)
        await tx
          .insertInto("outbound_targets")
          .values({ company_id, name, takes_completions: 1, is_configured: 1 })
          .execute();
    for (let nth = 0; nth < planted; nth += 1) await plant(tx, nth);
  });
  const rows = await selectDeliveries(store.read).execute();
  all = rows.map(listed).toSorted((one, other) => other.createdAt - one.createdAt || other.id - one.id);
});
afterAll(async () => {
  await store.close();
  await rm(stateDir, { recursive: true });
});

const codeOf = (companyId: number) => ["A", "B", "C"][companyId - 1];

function isWanted(one: ListedDelivery, wanted: DeliveryPageSelection): boolean {
  const { companyIds, target, state, kind, name, stopNbr, since = 0, until = Infinity } = wanted;
  return (
    companyIds.some((id) => codeOf(id) === one.company) &&
    (target === undefined || one.target === target) &&
    (state === undefined ||
      (state === "open" ? ["waiting", "behind"].includes(one.state) : one.state === state)) &&
    (kind === undefined || one.kind === kind) &&
    (name === undefined ||
      new RegExp(`^${name.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(one.name)) &&
    (stopNbr === undefined || (one.orderKey === stopNbr && one.kind !== "export")) &&
    one.createdAt >= since &&
    one.createdAt < until
  );
}

async function allPages(
  selection: DeliveryPageSelection,
  hasTime: () => boolean,
): Promise<readonly number[]> {
  const ids: number[] = [];
  let from: DeliveryPlace | undefined;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await readDeliveryPage(store.read, selection, { limit, hasTime, ...given({ from }) });
    ids.push(...page.entries.map(({ id }) => id));
    if (page.entries.length < limit && page.searchedTo === undefined) return ids;
    from = page.searchedTo ?? page.entries.at(-1);
  }
  throw new Error("the pages have no end");
}

const wanted: readonly Omit<DeliveryPageSelection, "companyIds">[] = [
  {},
  ...askedDeliveryStates.map((state) => ({ state })),
  { state: "open", target: "mail" },
  ...kinds.slice(1).map((kind) => ({ kind })),
  { target: "tms" },
  { target: "tms", state: "dropped", kind: "message" },
  { target: "mail", state: "dead", since: start + dayMs },
  { state: "waiting", kind: "completion" },
  { since: start + dayMs, until: start + 3 * dayMs, state: "delivered" },
  { name: "1*" },
  { name: "*7*done.xml", kind: "export" },
  { name: "11_done.xml" },
  { name: "1*", state: "behind" },
  { stopNbr: "S7" },
  { stopNbr: "S7", state: "delivered" },
];

describe.each([[[1]], [[1, 3]], [[1, 2, 3]]])("the pages of companies %j", (companyIds) => {
  test.each(wanted)("have all deliveries of %o once", async (rest) => {
    const selection = { companyIds, ...rest };
    const ids = all.filter((one) => isWanted(one, selection)).map(({ id }) => id);
    if (companyIds.length === 3 && rest.name !== "11_done.xml") expect(ids.length).toBeGreaterThan(3);
    expect(await allPages(selection, () => true)).toEqual(ids);
    expect(await allPages(selection, () => false)).toEqual(ids);
  });
});

test("a target that no company has, or no company, has no deliveries", async () => {
  const asked = { limit, hasTime: () => true };
  const nothing = { entries: [], searchedTo: undefined };
  expect(await readDeliveryPage(store.read, { companyIds: [1], target: "none" }, asked)).toEqual(nothing);
  expect(await readDeliveryPage(store.read, { companyIds: [] }, asked)).toEqual(nothing);
});

test("a page whose time is over says how far it has looked, and has made a step", async () => {
  const selection = { companyIds: [1], name: "*nobody*" };
  const first = await readDeliveryPage(store.read, selection, { limit, hasTime: () => false });
  const place = all.filter(({ company }) => company === "A")[499];
  expect(first.entries).toEqual([]);
  expect(first.searchedTo).toMatchObject({ id: place?.id, createdAt: place?.createdAt });
});
