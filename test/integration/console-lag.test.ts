/** The lag of targets, from deliveries as they stand in the store: what waited when, and how long deliveries took. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { queryTargetLags } from "../../src/app/console/queries/target-lags.ts";
import type { DeliveryState } from "../../src/domain/outbound/delivery-state.ts";
import type { LagSpan } from "../../src/endpoints/http/console/pages/deliveries/lag-view.ts";
import { dayMs, hourMs, minuteMs } from "../../src/lib/durations.ts";
import { newGuid } from "../../src/lib/ids.ts";
import { addCompany } from "../../src/operations/users/company-admin.ts";
import { listCompanies } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { listLagGroups } from "../../src/store/outbound/delivery-lag.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { plansOf } from "../support/query-plans.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

const now = Date.UTC(2026, 10, 5, 8, 40);
let store: Store;
let stateDir: string;
let ids: readonly number[];

beforeEach(async () => {
  stateDir = temporaryFolder();
  store = await openFreshStore(stateDir);
  for (const code of ["ACME", "OTHER"]) await addCompany({ store, clock: { now: () => 0 } }, code);
  ids = (await listCompanies(store.read)).map(({ id }) => id);
});

afterEach(() => store.close());

/** A target with its deliveries; `ended` by milliseconds after they were made, as their state says. */
async function target(
  companyId: number,
  name: string,
  made: readonly { readonly at: number; readonly state: DeliveryState; readonly tookMs?: number }[],
): Promise<readonly number[]> {
  return await store.write("site", async (tx) => {
    const open = made.filter(({ state }) => state === "waiting").length;
    const row = { company_id: companyId, name, takes_completions: 1, is_configured: 1, open_count: open };
    const { id } = await tx
      .insertInto("outbound_targets")
      .values(row)
      .returning("id")
      .executeTakeFirstOrThrow();
    const deliveries = made.map(({ at, state, tookMs }) => ({
      ...{
        guid: newGuid(),
        company_id: companyId,
        target_id: id,
        kind: "completion" as const,
        subject_id: 1,
      },
      ...{ order_key: "S1", line_nbr: 0, name: "n.xml", state, due_at: at, created_at: at },
      last_attempt_at: tookMs === undefined ? null : at + tookMs,
      delivered_at: tookMs === undefined || state !== "delivered" ? null : at + tookMs,
    }));
    if (deliveries.length === 0) return [];
    const inserted = await tx.insertInto("deliveries").values(deliveries).returning("id").execute();
    return inserted.map((one) => one.id);
  });
}

async function asked(span: LagSpan, more: { company?: string; target?: string } = {}, of = ids) {
  const companies = of.map((id, index) => ({ id, code: index === 0 ? "ACME" : "OTHER" }));
  const context = { read: store.read, now } as Parameters<typeof queryTargetLags>[0];
  return await queryTargetLags(context, { companies, isOperator: false }, { span, limit: 4, ...more });
}

/** The point whose step has that moment in it. */
function pointAt(found: Awaited<ReturnType<typeof asked>>, at: number) {
  const point = found.targets[0]?.points.find((one) => one.at > at);
  if (point === undefined) throw new Error("there is no such point");
  return point;
}

describe("the lag of a target", () => {
  test("has what waited at each moment, how long, and what deliveries took", async () => {
    const begin = now - 5 * hourMs;
    await target(ids[0] ?? 0, "tms", [
      { at: begin, state: "delivered", tookMs: 2 * hourMs },
      { at: begin + 30 * minuteMs, state: "delivered", tookMs: 2 * hourMs },
      { at: begin + hourMs, state: "dead", tookMs: 10 * minuteMs },
      { at: now - 20 * minuteMs, state: "waiting" },
    ]);
    const found = await asked("24h");
    expect([found.each, found.more, found.targets.length]).toEqual([1, 0, 1]);
    expect(found.targets[0]?.points).toHaveLength(97);
    expect(pointAt(found, begin - hourMs)).toMatchObject({ waiting: 0, oldestMs: undefined });
    const middle = pointAt(found, begin + 90 * minuteMs);
    expect(middle).toMatchObject({ waiting: 2, oldestMs: middle.at - begin, longestMs: undefined });
    expect(pointAt(found, begin + 2 * hourMs)).toMatchObject({ waiting: 1, longestMs: 2 * hourMs });
    expect(found.targets[0]?.points.at(-1)).toEqual({
      ...{ at: now, waiting: 1, oldestMs: 20 * minuteMs, longestMs: undefined },
    });
  });

  test("counts what has waited since before the span, and one that was asked for again from then on", async () => {
    const [, again] = await target(ids[0] ?? 0, "tms", [
      { at: now - 30 * dayMs, state: "waiting" },
      { at: now - 20 * hourMs, state: "delivered", tookMs: 19 * hourMs },
    ]);
    const repeat = {
      delivery_id: again ?? 0,
      asked_at: now - 2 * hourMs,
      action: "again",
      state: "delivered",
    } as const;
    await store.write("site", (tx) =>
      tx
        .insertInto("delivery_repeats")
        .values({ ...repeat, attempts: 1 })
        .execute(),
    );
    const found = await asked("24h");
    expect(pointAt(found, now - 10 * hourMs)).toMatchObject({ waiting: 1 });
    expect(pointAt(found, now - 90 * minuteMs)).toMatchObject({ waiting: 2 });
    const last = found.targets[0]?.points.at(-1);
    expect(last).toMatchObject({ waiting: 1, oldestMs: 30 * dayMs });
    const longest = found.targets[0]?.points.map(({ longestMs = 0 }) => longestMs) ?? [];
    expect(Math.max(...longest)).toBe(hourMs);
  });

  test("is told of those asked for alone, the worst first, and of no other company", async () => {
    await target(ids[0] ?? 0, "slow", [{ at: now - 2 * dayMs, state: "delivered", tookMs: 50 * minuteMs }]);
    await target(ids[0] ?? 0, "quick", [{ at: now - hourMs, state: "delivered", tookMs: 1_000 }]);
    await target(ids[0] ?? 0, "idle", []);
    await target(ids[1] ?? 0, "theirs", [{ at: now - hourMs, state: "waiting" }]);
    const names = (found: Awaited<ReturnType<typeof asked>>) => found.targets.map(({ name }) => name);
    expect(names(await asked("14d"))).toEqual(["theirs", "slow", "quick"]);
    expect(names(await asked("24h", {}, ids.slice(0, 1)))).toEqual(["quick"]);
    expect(names(await asked("14d", { target: "quick" }))).toEqual(["quick"]);
    expect(names(await asked("14d", { company: "acme" }))).toEqual(["slow", "quick"]);
  });
});

test("of many deliveries some are read, evenly, and each stands for as many as it has to", async () => {
  const many = Array.from({ length: 900 }, (_, index) => ({
    ...{ at: now - 10 * hourMs + index * 1_000, state: "delivered" as const, tookMs: hourMs },
  }));
  await target(ids[0] ?? 0, "tms", many);
  const selection = { companyIds: ids, since: now - dayMs, stepMs: 15 * minuteMs, looks: 90 };
  const { groups, each } = await listLagGroups(store.read, selection);
  const rows = groups.reduce((sum, group) => sum + group.rows, 0);
  expect([rows, each]).toEqual([90, 10]);
  expect(groups.map(({ ended, begun }) => (ended ?? 0) - begun)).toEqual(groups.map(() => 4));
});

// The plan is SQLite's, in its words.
itOnSqlite("an index leads to the first of them, and their numbers to the others", async () => {
  const selection = { companyIds: ids, since: 1, stepMs: 1, looks: 10 };
  await target(ids[0] ?? 0, "tms", [{ at: now, state: "waiting" }]);
  const steps = await plansOf({ read: store.read, stateDir }, () => listLagGroups(store.read, selection));
  const reached = steps.filter((step) => /deliver|^SCAN (?!n\b)/.test(step));
  for (const step of reached)
    expect(step).toMatch(
      /deliveries_by_age \(company_id=\? AND created_at>|INTEGER PRIMARY KEY|SEARCH deliveries$|delivery_repeats_delivery/,
    );
  expect(reached.length).toBeGreaterThan(2);
});
