/** Which recorded events go by their age, and what a reader is told (specification/events.md#recorded-events). */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventsPruner } from "../../src/app/retention/event-pruner.ts";
import { Tally } from "../../src/app/retention/pruner.ts";
import type { LoadStatus } from "../../src/domain/load/load-status.ts";
import type { StopStatus } from "../../src/domain/stop/stop-status.ts";
import { DropgateError } from "../../src/lib/errors.ts";
import { createSealedNumbers, newSealingKey } from "../../src/lib/sealed-numbers.ts";
import { readEventList } from "../../src/operations/stops/event-list.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { connectionOf } from "../../src/store/database/prepared-query.ts";
import { findMark, firstMark, noteMark } from "../../src/store/ledger/file-retention.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { countOldOf, cutOffAfter, depsOf, pruneOldOf } from "../support/run-pruner.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { watchStatements } from "../support/watch-statements.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { endFailing, failStatements } from "../support/failing-statements.ts";

const now = Date.UTC(2026, 10, 5);
const keptDays = 30;
const eventNumbers = createSealedNumbers(newSealingKey(), "event");

let store: Store;

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  for (const code of ["ACME", "BETA"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
});

afterEach(() => store.close());

interface Rows {
  readonly stops?: Readonly<Record<string, StopStatus>>;
  readonly loads?: Readonly<Record<string, LoadStatus>>;
}

async function add({ stops = {}, loads = {} }: Rows, company_id = 1): Promise<void> {
  await store.write(company_id, async (tx) => {
    for (const [stop_nbr, stop_status] of Object.entries(stops))
      await tx
        .insertInto("stops")
        .values({
          ...{
            company_id,
            stop_nbr,
            stop_nbr_key: stop_nbr.toLowerCase(),
            stop_status,
            receive_status: "10",
          },
          ...{ body: "{}", execution: "{}", created_at: 1, updated_at: 1 },
        } as never)
        .execute();
    for (const [load_nbr, load_status] of Object.entries(loads))
      await tx
        .insertInto("loads")
        .values({
          ...{ company_id, load_nbr, load_status, driver: "{}", body: "{}", extra: "{}", execution: "{}" },
          ...{ created_at: 1, updated_at: 1 },
        })
        .execute();
  });
}

/** Records an event so many days ago; gives what readers know it by. */
async function record(
  daysAgo: number,
  { stop, load, company = 1 }: { readonly stop?: string; readonly load?: string; readonly company?: number },
): Promise<string> {
  return await store.write(company, async (tx) => {
    const row = await tx
      .insertInto("recorded_events")
      .values({
        ...{ company_id: company, stop_nbr: stop ?? null, load_nbr: load ?? null, event_code: 7053 },
        ...{ recorded_at: now - daysAgo * dayMs, data: "{}" },
      })
      .returning("id")
      .executeTakeFirstOrThrow();
    return eventNumbers.seal(row.id);
  });
}

/** How many went of ACME; what is counted before is the same. */
async function prune(): Promise<number> {
  const wanted = { store, now, before: now - keptDays * dayMs };
  const counted = (await countOldOf(eventsPruner, wanted)).get(1)?.count ?? 0;
  const gone = (await pruneOldOf(eventsPruner, wanted)).get(1)?.count ?? 0;
  expect(gone).toBe(counted);
  return gone;
}

async function read(parameters: Readonly<Record<string, string>>): Promise<readonly string[] | string> {
  const given = Object.entries(parameters).map(([name, value]) => ({ name, value }));
  try {
    const { Events } = await readEventList({ store, eventNumbers }, { companyId: 1, parameters: given });
    return Events.map(({ eventId }) => eventId);
  } catch (error) {
    if (error instanceof DropgateError) return error.message;
    throw error;
  }
}

describe("events go", () => {
  test("of stops and loads that are over, when the newest of them is old, and of no other company", async () => {
    await add({ stops: { A: "90", B: "99" }, loads: { L: 90 } });
    await add({ stops: { A: "90" } }, 2);
    await record(50, { stop: "A" });
    await record(40, { stop: "A", load: "L" });
    await record(40, { load: "L" });
    const young = await record(30, { stop: "B" });
    await record(50, { stop: "A", company: 2 });
    expect(await prune()).toBe(3);
    expect(await read({ stopNbr: "A" })).toEqual([]);
    expect(await read({ stopNbr: "B" })).toEqual([young]);
    expect(await store.read.selectFrom("recorded_events").select("company_id").execute()).toHaveLength(2);
  });

  test.each([
    ["a stop that is not done", { stops: { A: "80", B: "50" }, loads: { L: 90 } }, 40],
    ["a load that is under way", { stops: { A: "90", B: "90" }, loads: { L: 40 } }, 40],
    ["a young event of another stop of the load", { stops: { A: "90", B: "90" }, loads: { L: 90 } }, 29],
  ] as const)("not while the load has %s", async (_, rows, daysAgo) => {
    await add(rows as Rows);
    const first = await record(50, { stop: "A" });
    const second = await record(50, { stop: "A", load: "L" });
    await record(daysAgo, { stop: "B", load: "L" });
    expect(await prune()).toBe(0);
    expect(await read({ stopNbr: "A" })).toEqual([first, second]);
  });

  test("not while a completion is made of them, nor before an order has become a stop", async () => {
    await add({ stops: { A: "90" } });
    await record(50, { stop: "A" });
    await record(50, { stop: "O1" });
    await store.write(1, async (tx) => {
      await tx
        .insertInto("completions")
        .values({
          ...{
            company_id: 1,
            stop_nbr: "A",
            name: "a.xml",
            format: 1,
            embeds_documents: 0,
            trigger_code: 7009,
          },
          ...{ first_event_id: 1, last_event_id: 1, stop_status: "90", body: "{}", execution: "{}" },
          ...{ driver: "{}", created_at: 1 },
        })
        .execute();
      await tx
        .insertInto("orders")
        .values({
          ...{ company_id: 1, order_nbr: "O1", body: "{}", is_cancelled: 0, cancellation: "{}" },
          ...{ created_at: 1, updated_at: 1 },
        })
        .execute();
    });
    expect(await prune()).toBe(0);
    await store.write(1, async (tx) => {
      await tx.deleteFrom("completions").execute();
      await tx.updateTable("orders").set({ is_cancelled: 1 }).execute();
    });
    expect(await prune()).toBe(2);
  });

  test("in as many steps as there are, past those that stay", async () => {
    await store.write(1, async (tx) => {
      for (let number = 0; number < 1_200; number++)
        await tx
          .insertInto("recorded_events")
          .values({
            ...{ company_id: 1, stop_nbr: `S${number % 400}`, load_nbr: null, event_code: 7053 },
            ...{ recorded_at: now - 40 * dayMs + number, data: "{}" },
          })
          .execute();
    });
    const open = Object.fromEntries(Array.from({ length: 400 }, (_, number) => [`S${number}`, number % 2]));
    await add({
      stops: Object.fromEntries(Object.entries(open).map(([nbr, odd]) => [nbr, odd ? "90" : "10"])),
    });
    expect(await prune()).toBe(600);
    expect(await prune()).toBe(0);
  });
});

test("a pass reads no event of another company, which keeps its own", async () => {
  await add({ stops: { A: "90", B: "90", C: "10" } });
  await store.write(2, async (tx) => {
    for (let number = 0; number < 1_200; number++)
      await tx
        .insertInto("recorded_events")
        .values({
          ...{ company_id: 2, stop_nbr: "K", load_nbr: null, event_code: 7053 },
          ...{ recorded_at: now - 60 * dayMs, data: "{}" },
        })
        .execute();
  });
  await record(50, { stop: "A" });
  await record(45, { stop: "C" });
  await record(40, { stop: "B" });
  expect(await prune()).toBe(2);
  const asked: string[] = [];
  const end = watchStatements(await connectionOf(store.read), (statement) => asked.push(statement));
  expect(await prune().finally(end)).toBe(0);
  // One page to count and one to remove, and no search for what an open stop is linked with.
  const pages = asked.filter((statement) => /from "recorded_events".*order by "recorded_at"/.test(statement));
  expect(pages).toHaveLength(2);
  expect(asked.filter((statement) => statement.includes("max("))).toEqual([]);
  await store.write(1, (tx) => tx.updateTable("stops").set({ stop_status: "90" }).execute());
  expect(await prune()).toBe(1);
});

test("an event that was recorded while the clock was years ahead holds back none that came after it", async () => {
  await add({ stops: { A: "90", B: "90" } });
  const ahead = await record(-3_650, { stop: "A" });
  await record(40, { stop: "B" });
  expect(await prune()).toBe(1);
  expect(await read({ stopNbr: "A" })).toEqual([ahead]);
});

test("a pass that is cut off goes on in the next, however much stays before what may go", async () => {
  const open = Array.from({ length: 600 }, (_, number) => `S${number}`);
  await add({ stops: { A: "90", ...Object.fromEntries(open.map((nbr) => [nbr, "10" as const])) } });
  for (const stop of open) await record(50, { stop });
  await record(40, { stop: "A" });
  const wanted = { store, now, before: now - keptDays * dayMs };
  let passes = 0;
  for (let gone = 0; gone === 0; passes += 1) {
    expect(passes).toBeLessThan(20);
    const run = pruneOldOf(eventsPruner, { ...wanted, signal: cutOffAfter(100) });
    await run.catch((error: unknown) => expect(error).toHaveProperty("name", "AbortError"));
    gone = 601 - (await store.read.selectFrom("recorded_events").select("id").execute()).length;
  }
  expect(passes).toBeGreaterThan(1);
  // The one after it begins with the oldest again.
  await store.write(1, (tx) => tx.updateTable("stops").set({ stop_status: "90" }).execute());
  expect((await pruneOldOf(eventsPruner, wanted)).get(1)?.count).toBe(600);
});

describe("a group that cannot be removed", () => {
  const wanted = () => ({ store, now, before: now - keptDays * dayMs });
  const left = async () =>
    (await store.read.selectFrom("recorded_events").select("stop_nbr").orderBy("id").execute()).map(
      ({ stop_nbr }) => stop_nbr,
    );

  beforeEach(async () => {
    await add({ stops: { A: "90", B: "90", C: "90" } });
    await record(50, { stop: "A" });
    await record(45, { stop: "B" });
    await record(40, { stop: "C" });
    const event = "delete on recorded_events";
    const message = "this row cannot be removed";
    await store.write("site", (tx) => failStatements(tx, { event, when: "old.stop_nbr = 'B'", message }));
  });

  test("is told, and those of the same step go all the same", async () => {
    await expect(pruneOldOf(eventsPruner, wanted())).rejects.toThrow("this row cannot be removed");
    expect(await left()).toEqual(["B"]);
    await store.write("site", (tx) => endFailing(tx));
    expect((await pruneOldOf(eventsPruner, wanted())).get(1)?.count).toBe(1);
  });

  test("does not have the next pass begin where one was cut off before", async () => {
    const key = { companyId: 1, kind: "events" } as const;
    await store.write(1, (tx) => noteMark(tx, key, { decidedAt: now - 48 * dayMs, fileId: 0 }));
    await expect(pruneOldOf(eventsPruner, wanted())).rejects.toThrow("this row cannot be removed");
    expect([await left(), await findMark(store.read, key)]).toEqual([["A", "B"], firstMark]);
  });

  test("is told also when the pass is cut off after it", async () => {
    const told: unknown[] = [];
    const cutOff = new AbortController();
    const due = [{ id: 1, code: "ACME", before: wanted().before, days: keptDays }];
    const failed = (_: unknown, error: unknown) => void told.push(error);
    const progress = { tally: new Tally(), signal: cutOff.signal, failed };
    await add({ stops: { D: "90" } });
    await record(35, { stop: "D" });
    // Cut off between the groups of the step.
    const write: Store["write"] = async (owner, work) => {
      const done = await store.write(owner, work);
      if ((await left()).join() === "B,D") cutOff.abort();
      return done;
    };
    const pass = eventsPruner.prune(
      { ...depsOf(wanted()), store: { read: store.read, write } },
      due,
      progress,
    );
    await expect(pass).rejects.toHaveProperty("name", "AbortError");
    expect(told).toMatchObject([{ message: expect.stringContaining("this row cannot be removed") }]);
  });
});

describe("a reader that goes on from the last event that it knows", () => {
  const gone = expect.stringContaining("since names an event that is kept no longer");

  test("is told that it is gone, and reads all that is kept without it", async () => {
    await add({ stops: { A: "90" } });
    const first = await record(50, { stop: "A" });
    const last = await record(40, { stop: "A" });
    const before = await read({ stopNbr: "A", since: first });
    expect(before).toEqual([last]);
    expect(await prune()).toBe(2);
    expect(await read({ stopNbr: "A", since: first })).toEqual(gone);
    const reopened = await record(1, { stop: "A" });
    expect(await read({ stopNbr: "A", since: first })).toEqual(gone);
    // Nothing came after the last one but what is there.
    expect(await read({ stopNbr: "A", since: last })).toEqual([reopened]);
    expect(await read({ stopNbr: "A" })).toEqual([reopened]);
    expect(await read({ stopNbr: "A", since: "2020-01-01T00:00:00" })).toEqual([reopened]);
  });

  test("is answered where nothing of the stop or load went, however old its position is", async () => {
    await add({ stops: { A: "90", B: "10" }, loads: { L: 90 } });
    const known = await record(60, { stop: "B" });
    await record(50, { stop: "A", load: "L" });
    const next = await record(45, { stop: "B" });
    expect(await prune()).toBe(1);
    expect(await read({ stopNbr: "B", since: known })).toEqual([next]);
    // An event of another stop says nothing of what went of the load.
    expect(await read({ loadNbr: "L", since: known })).toEqual(gone);
  });
});
