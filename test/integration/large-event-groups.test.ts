/** Recorded events of stops and loads that are linked by the thousand (specification/events.md#recorded-events). */
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventsPruner } from "../../src/app/retention/event-pruner.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { isPositionKnown } from "../../src/store/stops/event-retention.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { countOldOf, cutOffAfter, pruneOldOf } from "../support/run-pruner.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { dayMs } from "../../src/lib/durations.ts";

const now = Date.UTC(2026, 10, 5);
const before = now - 30 * dayMs;
/** More than are found in one unit of work. */
const stops = 1_500;

let store: Store;

beforeEach(async () => {
  store = await openFreshStore(temporaryFolder());
  await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
  // Each stop left a load for the next one: S1 L1, S1 L2, S2 L2, S2 L3 and so on; then the first load and the first stop once more.
  await store.write(1, async (tx) => {
    await sql`with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${2 * stops - 1})
      insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
      select 1, 'S' || (n / 2 + 1), 'L' || ((n + 1) / 2 + 1), 7053, cast(${now - 90 * dayMs} as bigint) + n, '{}' from numbers`.execute(
      tx,
    );
    await sql`insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
      values (1, null, 'L1', 7053, ${now - 40 * dayMs}, '{}'), (1, 'S1', null, 7053, ${now - 40 * dayMs}, '{}')`.execute(
      tx,
    );
  });
});

afterEach(() => store.close());

const all = 2 * stops + 2;

async function left(): Promise<readonly number[]> {
  return (await store.read.selectFrom("recorded_events").select("id").orderBy("id").execute()).map(
    ({ id }) => id,
  );
}

async function prune(
  of: { readonly write?: Store["write"]; readonly signal?: AbortSignal } = {},
): Promise<number> {
  const { write = store.write, signal } = of;
  const wanted = { store: { read: store.read, write }, now, before };
  const gone = await pruneOldOf(eventsPruner, signal === undefined ? wanted : { ...wanted, signal });
  return gone.get(1)?.count ?? 0;
}

/** Does something when so many units are written that remove. */
function afterUnits(units: number, act: () => Promise<unknown>): Store["write"] {
  let left = units;
  return async (owner, work) => {
    const done = await store.write(owner, work);
    if (owner === "site") left -= 1;
    if (owner === "site" && left === 0) await act();
    return done;
  };
}

async function record(stop: string): Promise<void> {
  await store.write(1, (tx) =>
    sql`insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
      values (1, ${stop}, null, 7053, ${now}, '{}')`.execute(tx),
  );
}

test("they go some at a time, and what is counted before is the same", async () => {
  const counted = (await countOldOf(eventsPruner, { store, now, before })).get(1);
  expect(counted).toEqual({ count: all, bytes: 0, oldestAt: now - 90 * dayMs, newestAt: now - 40 * dayMs });
  let most = 0;
  const write: Store["write"] = async (owner, work) => {
    const had = (await left()).length;
    const done = await store.write(owner, work);
    most = Math.max(most, had - (await left()).length);
    return done;
  };
  expect([await prune({ write }), await left()]).toEqual([all, []]);
  expect(most).toBe(200);
});

test("those of a group of which anything is young, or not over, stay together", async () => {
  await record("S1400");
  expect([await prune(), (await left()).length]).toEqual([0, all + 1]);
  await store.write(1, (tx) => tx.deleteFrom("recorded_events").where("recorded_at", "=", now).execute());
  const open = {
    company_id: 1,
    stop_nbr: "S1400",
    stop_nbr_key: "s1400",
    stop_status: "10",
    receive_status: "10",
  };
  await store.write(1, (tx) =>
    tx
      .insertInto("stops")
      .values({ ...open, body: "{}", execution: "{}", created_at: 1, updated_at: 1 } as never)
      .execute(),
  );
  expect([await prune(), (await left()).length]).toEqual([0, all]);
  await store.write(1, (tx) => tx.updateTable("stops").set({ stop_status: "90" }).execute());
  expect(await prune()).toBe(all);
});

test("while they go, a reader either gets all that came after its position, or is told that it is gone", async () => {
  const cutOff = new AbortController();
  const write = afterUnits(3, async () => cutOff.abort());
  await expect(prune({ write, signal: cutOff.signal })).rejects.toHaveProperty("name", "AbortError");
  const kept = await left();
  expect(kept).toEqual(Array.from({ length: all - 600 }, (_, at) => at + 601));
  const isKnown = (stopNbr: string, afterId: number) =>
    isPositionKnown(store.read, { companyId: 1, stopNbr, afterId });
  // S300 has the events 599 and 600, S301 the next two.
  expect([await isKnown("S300", 599), await isKnown("S300", 600), await isKnown("S301", 601)]).toEqual([
    false,
    true,
    true,
  ]);
  expect([await prune(), await left()]).toEqual([all - 600, []]);
});

test("what is recorded while they go ends the removal, and the rest of its stop stays", async () => {
  const gone = await prune({ write: afterUnits(2, () => record("S1400")) });
  expect(gone).toBe(400);
  expect((await left()).length).toBe(all - 400 + 1);
  // In the next pass only those of L1 and S1, which nothing links with the others any more.
  expect([await prune(), (await left()).length]).toEqual([2, all - 401]);
});

test("a stop that is open again while they go keeps its events", async () => {
  const stop = {
    company_id: 1,
    stop_nbr: "S301",
    stop_nbr_key: "s301",
    stop_status: "10",
    receive_status: "10",
  };
  const open = () =>
    store.write(1, (tx) =>
      tx
        .insertInto("stops")
        .values({ ...stop, body: "{}", execution: "{}", created_at: 1, updated_at: 1 } as never)
        .execute(),
    );
  expect(await prune({ write: afterUnits(1, open) })).toBe(600);
  expect((await left())[0]).toBe(601);
});

test("a pass whose time is up while they are looked for removes nothing, and the next one all", async () => {
  await expect(prune({ signal: cutOffAfter(5) })).rejects.toHaveProperty("name", "AbortError");
  expect((await left()).length).toBe(all);
  expect(await prune()).toBe(all);
});
