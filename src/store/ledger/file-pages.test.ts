/** Whatever the filter, pages give all entries of it once, in the order of arrival, forwards and backwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FileState, fileStates, isDecidedState } from "../../domain/files/file-state.ts";
import { dayMs } from "../../lib/durations.ts";
import { given } from "../../lib/given.ts";
import { insertCompany } from "../accounts/companies.ts";
import { openStore, type Store } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import type { ArrivalPlace, Direction } from "./arrival-place.ts";
import { countFilePage } from "./file-page-counts.ts";
import { readFilePage } from "./file-pages.ts";
import { notePruned } from "./file-retention.ts";
import type { PageSelection } from "./file-ways.ts";
import { enterFile, type LedgerEntry, markFiled, recordDecision, toLedgerEntry } from "./files.ts";

const start = Date.UTC(2026, 10, 5);
const companies = [1, 2, 3] as const;
/** More than are looked through at once. */
const planted = 1_800;
const limit = 60;
let stateDir = "";
let store: Store;
let entries: readonly LedgerEntry[] = [];

/** Each third company, way, user, state; arrivals go up and down, and some are at the same moment. */
async function plant(tx: Transaction, nth: number): Promise<void> {
  const companyId = companies[nth % 3] ?? 1;
  const state: FileState = fileStates[(nth * 7) % fileStates.length] ?? "applied";
  const name = `${nth % 5}${nth}_20261105_080000.xml`;
  const about = {
    userName: nth % 4 === 0 ? null : `user${nth % 4}`,
    channel: nth % 2 === 0 ? "sftp" : "remote:a",
  };
  const receivedAt = start + Math.floor(((nth * 37) % 400) / 4) * (dayMs / 10);
  const location = `in/${nth}`;
  const id = await enterFile(tx, {
    companyId,
    name,
    nameTime: null,
    size: 1,
    receivedAt,
    location,
    ...about,
  });
  if (!isDecidedState(state)) return;
  const faults =
    state === "refused" ? [{ code: nth % 4 === 0 ? "tooLong" : "xsdMismatch", message: "m" } as const] : [];
  const counts = { created: 0, updated: 0, deleted: 0 };
  const kept = {
    sha256: "a".repeat(64),
    size: 1,
    stopFunction: null,
    stopNbr: null,
    documentId: null,
    firstId: null,
  };
  await recordDecision(tx, { id, state, faults, ...counts, ...kept, decidedAt: receivedAt + 1, location });
  await markFiled(tx, [id]);
}

beforeAll(async () => {
  stateDir = await mkdtemp(join(tmpdir(), "dropgate-pages-"));
  store = await openStore(stateDir);
  for (const code of ["A", "B", "C"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
  await store.write("site", async (tx) => {
    for (let nth = 0; nth < planted; nth += 1) await plant(tx, nth);
    await tx
      .updateTable("files")
      .set({ pruned_days: 5 })
      .where("received_at", "<", start + dayMs)
      .where("is_filed", "=", 1)
      .execute();
    // Whatever the order of the passes.
    for (const decidedBefore of [start, start + dayMs + 1, start + 1])
      for (const companyId of companies) await notePruned(tx, { companyId, decidedBefore });
  });
  const rows = await store.read.selectFrom("files").selectAll().execute();
  entries = rows
    .map(toLedgerEntry)
    .toSorted((one, other) => other.receivedAt - one.receivedAt || other.id - one.id);
});
afterAll(async () => {
  await store.close();
  await rm(stateDir, { recursive: true });
});

function isWanted(entry: LedgerEntry, wanted: PageSelection): boolean {
  const {
    companyIds,
    states,
    isPruned,
    reasons,
    channel,
    userName,
    name,
    since = 0,
    until = Infinity,
  } = wanted;
  const prefix = name?.replace("*", "");
  return (
    companyIds.includes(entry.companyId) &&
    (states === undefined || states.includes(entry.state)) &&
    (isPruned === undefined || entry.prunedDays !== null) &&
    (reasons === undefined || entry.faults.some(({ code }) => reasons.includes(code))) &&
    (channel === undefined || entry.channel.split(":")[0] === channel) &&
    (userName === undefined || entry.userName === userName) &&
    (prefix === undefined || entry.name.startsWith(prefix)) &&
    entry.receivedAt >= since &&
    entry.receivedAt < until
  );
}

async function allPages(
  wanted: PageSelection,
  direction: Direction,
  hasTime = () => true,
): Promise<readonly number[]> {
  const ids: number[] = [];
  let from: ArrivalPlace | undefined;
  for (let pages = 0; pages < 1_000; pages += 1) {
    const place = from === undefined ? {} : { from };
    const page = await readFilePage(store.read, wanted, { direction, limit, hasTime, ...place });
    ids.push(...page.entries.map(({ id }) => id));
    const isFull = page.entries.length === limit;
    if (!isFull && page.searchedTo === undefined) return ids;
    from = page.searchedTo ?? page.entries.at(-1);
  }
  throw new Error("the pages have no end");
}

const wanted: readonly Omit<PageSelection, "companyIds">[] = [
  {},
  ...fileStates.map((state) => ({ states: [state] })),
  { states: ["waiting", "retry"] },
  { states: ["refused", "applied"], userName: "user1" },
  { reasons: ["xsdMismatch"] },
  { reasons: ["xsdMismatch", "tooLong"], channel: "remote", since: start + dayMs },
  { channel: "remote" },
  { userName: "user2", until: start + 2 * dayMs },
  { isPruned: true },
  { name: "1*" },
  { name: "1*", states: ["refused"] },
  { since: start + dayMs, until: start + 3 * dayMs, states: ["superseded"] },
];

describe.each([[[1]], [[1, 3]], [[1, 2, 3]], [[9]]])("the pages of companies %j", (companyIds) => {
  test.each(wanted)("have all files of %o once, either way", async (rest) => {
    const selection = { companyIds, ...rest };
    const ids = entries.filter((entry) => isWanted(entry, selection)).map(({ id }) => id);
    if (companyIds.length === 3) expect(ids.length).toBeGreaterThan(rest.states?.[0] === "retry" ? -1 : 3);
    expect(await allPages(selection, "older")).toEqual(ids);
    expect(await allPages(selection, "newer")).toEqual(ids.toReversed());
    expect(await allPages(selection, "older", () => false)).toEqual(ids);
  });
});

test("a page whose time is over says how far it has looked, and has made a step", async () => {
  const selection = { companyIds: [1], userName: "nobody" };
  const asked = { direction: "older" as const, limit, hasTime: () => false };
  const first = await readFilePage(store.read, selection, asked);
  const place = entries.filter(({ companyId }) => companyId === 1)[499];
  expect(first).toEqual({ entries: [], searchedTo: { receivedAt: place?.receivedAt, id: place?.id } });
  const { searchedTo } = await readFilePage(store.read, selection, {
    ...asked,
    ...given({ from: first.searchedTo }),
  });
  expect(searchedTo).toBeUndefined();
});

describe("the count", () => {
  const countOf = (rest: Omit<PageSelection, "companyIds">) =>
    countFilePage(store.read, { companyIds: [1, 3], ...rest });
  const lengthOf = (rest: Omit<PageSelection, "companyIds">) =>
    entries.filter((entry) => isWanted(entry, { companyIds: [1, 3], ...rest })).length;

  test.each([
    {},
    { states: ["refused"] },
    { states: ["waiting", "retry"] },
    { channel: "remote" },
    { since: start + dayMs, until: start + 2 * dayMs },
    { reasons: ["xsdMismatch"], since: start + dayMs },
  ] as const)("of %o is exact", async (rest) => {
    expect(lengthOf(rest)).toBeGreaterThan(3);
    expect(await countOf(rest)).toEqual({ kind: "exact", count: lengthOf(rest) });
  });

  test("is not told where all entries would have to be read", async () => {
    for (const rest of [
      { userName: "user1" },
      { name: "*1*" },
      { isPruned: true as const },
      { since: start + 1 },
    ])
      expect(await countOf(rest)).toBeUndefined();
  });

  test("says when entries of these days may be kept no longer", async () => {
    await store.write("site", (tx) =>
      tx
        .insertInto("pruned_entries")
        .values({
          company_id: 1,
          applied: 1,
          refused: 0,
          duplicate: 0,
          superseded: 0,
          decided_until: start,
          pruned_at: start,
          pruned_days: 1,
        })
        .execute(),
    );
    expect(await countOf({})).toMatchObject({ kind: "ever" });
    expect(await countOf({ since: start + dayMs })).toMatchObject({ kind: "exact" });
    expect(await countOf({ states: ["waiting"] })).toMatchObject({ kind: "exact" });
  });
});
