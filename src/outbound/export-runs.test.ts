import { onTestFinished } from "vitest";
import { describe, expect, test } from "vitest";
import { createLogger } from "../lib/logs/log.ts";
import {
  deliverAgain,
  type ExportPlan,
  type ExportRunDeps,
  type MadeExport,
  makeExport,
  runDueExports,
} from "./export-runs.ts";
import { createExportScheduler } from "./export-scheduler.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import { insertCompany } from "../store/accounts/companies.ts";
import { listCompletions } from "../store/outbound/completions.ts";
import type { ExportRecord } from "../store/outbound/exports.ts";
import { openStore } from "../store/database/database.ts";
import { pruneCompletions, pruneExportDeliveries } from "./prune-deliveries.ts";
import { listExportSchedules } from "../store/outbound/export-schedules.ts";
import { saveOutboundCopy } from "../store/outbound/outbound-targets.ts";
import { DeliverySite } from "../../test/support/delivery-site.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { dayMs, hourMs, minuteMs } from "../lib/durations.ts";

const log = createLogger({ level: "silent" });

function at(iso: string): number {
  return Date.parse(`${iso}Z`);
}

function planOf(site: DeliverySite, rest: Partial<ExportPlan> = {}): ExportPlan {
  const when = { schedule: "30 2 * * *", zone: "Europe/Berlin" };
  return { companyId: site.companyId, name: "nightly", when, form: "document", target: "host", ...rest };
}

function depsOf(site: DeliverySite): ExportRunDeps {
  return { store: site.store, clock: { now: () => site.now }, log };
}

/** Looks whether exports are due at that moment. */
async function look(site: DeliverySite, now: number, ...plans: readonly ExportPlan[]) {
  site.now = now;
  return await runDueExports(depsOf(site), plans);
}

function byHand(site: DeliverySite, plan: ExportPlan = planOf(site)): Promise<MadeExport> {
  return site.store.write("site", (tx) => makeExport(tx, plan, { now: site.now, dueAt: null }));
}

async function stopsOf(site: DeliverySite, { companyId, ...made }: ExportRecord): Promise<readonly string[]> {
  const window = { companyId, afterId: made.afterCompletionId, lastId: made.lastCompletionId, limit: 1_000 };
  return (await listCompletions(site.store.read, window)).map(({ stopNbr }) => stopNbr);
}

async function nextDueOf(site: DeliverySite, name = "nightly"): Promise<string | undefined> {
  const row = (await listExportSchedules(site.store.read)).find((one) => one.name === name);
  return row?.nextDueAt === null ? "never" : new Date(row?.nextDueAt ?? 0).toISOString().slice(0, 16);
}

/** A site that has looked once, on the 5th of November 2026 at 08:00 UTC. */
async function plannedSite(): Promise<DeliverySite> {
  const site = await DeliverySite.open({ targets: [{ name: "host", takesCompletions: false }] });
  expect(await look(site, site.now, planOf(site))).toEqual([]);
  return site;
}

const addBeta = async ({ store }: DeliverySite) =>
  (await store.write("site", (tx) => insertCompany(tx, { code: "BETA", createdAt: 1 }))).company;

describe("a due export", () => {
  test("has what was completed since the last one, and is delivered under its number", async () => {
    const site = await plannedSite();
    await site.complete("1", "2");
    expect(await look(site, at("2026-11-06T01:29:59"), planOf(site))).toEqual([]);
    const [first] = await look(site, at("2026-11-06T01:30:00"), planOf(site));
    expect(first).toMatchObject({ count: 2, deliveryName: "acme_nightly_000001.xml" });
    expect(first?.made).toMatchObject({ sequenceNbr: 1, dueAt: at("2026-11-06T01:30:00"), form: "document" });
    await site.complete("3");
    expect(await look(site, at("2026-11-06T01:31:00"), planOf(site))).toEqual([]);
    const [second] = await look(site, at("2026-11-07T01:30:20"), planOf(site));
    if (first === undefined || second === undefined) throw new Error("both nights have an export");
    expect([await stopsOf(site, first.made), await stopsOf(site, second.made)]).toEqual([["1", "2"], ["3"]]);
    const rows = await site.rows();
    expect(rows.map(({ kind, order_key, name, state }) => [kind, order_key, name, state])).toEqual([
      ["export", "nightly", "acme_nightly_000001.xml", "waiting"],
      ["export", "nightly", "acme_nightly_000002.xml", "behind"],
    ]);
  });

  test("is made of nothing too, so that the host sees that the night has been", async () => {
    const site = await plannedSite();
    const [made] = await look(site, at("2026-11-06T02:00:00"), planOf(site));
    expect(made).toMatchObject({ count: 0, made: { afterCompletionId: 0, lastCompletionId: 0 } });
    expect(await site.states()).toEqual(["waiting"]);
  });

  test("makes up for three nights at once, and the next is due as ever", async () => {
    const site = await plannedSite();
    await site.complete("1");
    const made = await look(site, at("2026-11-08T12:00:00"), planOf(site));
    expect(made.map(({ made: { dueAt } }) => dueAt)).toEqual([at("2026-11-06T01:30:00")]);
    expect(await look(site, at("2026-11-08T12:01:00"), planOf(site))).toEqual([]);
    expect(await nextDueOf(site)).toBe("2026-11-09T01:30");
  });

  test("is made once, with a look each minute, on nights on which the clocks change and on others", async () => {
    const site = await plannedSite();
    const nights = [at("2027-03-28T00:00:00"), at("2027-10-31T00:00:00"), at("2027-06-01T00:00:00")];
    for (const night of nights) {
      await look(site, night, planOf(site));
      const dues = [];
      for (let now = night; now < night + 3 * hourMs; now += minuteMs)
        for (const { made } of await look(site, now, planOf(site))) dues.push(made.dueAt);
      expect(dues.length).toBe(1);
    }
  });

  test("that fails is made at the next look, and others are not held up", async () => {
    const site = await plannedSite();
    const other = planOf(site, { name: "other" });
    const lost = planOf(site, { name: "lost", target: "gone" });
    await look(site, site.now, lost, other);
    const night = at("2026-11-06T01:30:00");
    const made = await look(site, night, lost, other);
    expect(made.map(({ made: { name } }) => name)).toEqual(["other"]);
    await site.configure({ targets: [{ name: "gone", takesCompletions: false }] });
    const later = await look(site, night + minuteMs, lost, other);
    expect(later.map(({ made: { name, sequenceNbr } }) => [name, sequenceNbr])).toEqual([["lost", 1]]);
  });
});

describe("the due time", () => {
  test("is worked out anew when schedule or zone have changed", async () => {
    const site = await plannedSite();
    expect(await nextDueOf(site)).toBe("2026-11-06T01:30");
    const changed = planOf(site, { when: { schedule: "30 2 * * *", zone: "America/New_York" } });
    expect(await look(site, site.now, changed)).toEqual([]);
    expect(await nextDueOf(site)).toBe("2026-11-06T07:30");
    expect(await look(site, at("2026-11-06T01:30:00"), changed)).toEqual([]);
    expect(await look(site, at("2026-11-06T07:30:00"), changed)).toHaveLength(1);
  });

  test("of a clock that was far ahead is worked out anew when it is set back", async () => {
    const site = await plannedSite();
    await look(site, at("2030-01-01T12:00:00"), planOf(site));
    expect(await nextDueOf(site)).toBe("2030-01-02T01:30");
    await look(site, at("2026-11-07T12:00:00"), planOf(site));
    expect(await nextDueOf(site)).toBe("2026-11-08T01:30");
    expect(await look(site, at("2026-11-08T01:30:00"), planOf(site))).toHaveLength(1);
  });

  test("is kept when the clock is set back by some minutes: the night has one export", async () => {
    const site = await plannedSite();
    expect(await look(site, at("2026-11-06T01:30:00"), planOf(site))).toHaveLength(1);
    for (let back = 10; back >= -10; back -= 1)
      expect(await look(site, at("2026-11-06T01:30:00") - back * minuteMs, planOf(site))).toEqual([]);
  });

  test("of an export that left the configuration is none, and what it has not had comes when it is back", async () => {
    const site = await plannedSite();
    await site.complete("1");
    await look(site, at("2026-11-06T01:30:00"), planOf(site));
    await look(site, at("2026-11-06T12:00:00"));
    expect(await nextDueOf(site)).toBe("never");
    await site.complete("2");
    expect(await look(site, at("2026-11-09T12:00:00"), planOf(site))).toEqual([]);
    const [back] = await look(site, at("2026-11-10T01:30:00"), planOf(site));
    expect(back?.made.sequenceNbr).toBe(2);
    expect(back === undefined ? [] : await stopsOf(site, back.made)).toEqual(["2"]);
  });

  test("of a company that was added later begins with the first look that finds it", async () => {
    const site = await plannedSite();
    const company = await addBeta(site);
    const beta = planOf(site, { companyId: company.id });
    await site.configure({ companyId: company.id });
    await look(site, at("2026-11-05T20:00:00"), planOf(site), beta);
    const made = await look(site, at("2026-11-06T01:30:00"), planOf(site), beta);
    expect(made.map(({ deliveryName }) => deliveryName)).toEqual([
      "acme_nightly_000001.xml",
      "beta_nightly_000001.xml",
    ]);
  });
});

describe("an export by hand", () => {
  test("has everything that is kept when it is the first of its name", async () => {
    const site = await DeliverySite.open();
    await site.complete("1", "2");
    const { made, count } = await byHand(site);
    expect([count, made.dueAt, await stopsOf(site, made)]).toEqual([2, null, ["1", "2"]]);
  });

  test("goes between two of the schedule, whose due time stays", async () => {
    const site = await plannedSite();
    await site.complete("1");
    const before = await nextDueOf(site);
    expect(await stopsOf(site, (await byHand(site)).made)).toEqual(["1"]);
    expect(await nextDueOf(site)).toBe(before);
    await site.complete("2");
    const [due] = await look(site, at("2026-11-06T01:30:00"), planOf(site));
    expect(due?.made).toMatchObject({ sequenceNbr: 2, afterCompletionId: 1, lastCompletionId: 2 });
  });

  test("has nothing of another company, and keeps a line of its own beside other exports", async () => {
    const site = await plannedSite();
    const company = await addBeta(site);
    await site.configure({ companyId: company.id });
    await site.complete("1");
    expect((await byHand(site, planOf(site, { companyId: company.id }))).count).toBe(0);
    expect((await byHand(site, planOf(site, { name: "second" }))).made.sequenceNbr).toBe(1);
    expect((await byHand(site)).count).toBe(1);
  });

  test("tells its window by its own completions, and not by how many other companies have", async () => {
    const site = await plannedSite();
    const company = await addBeta(site);
    await site.configure({ companyId: company.id });
    const beta = planOf(site, { companyId: company.id });
    await site.complete("1");
    await site.completeIn(company.id, "1", "2", "3");
    await site.complete("2");
    const first = await byHand(site);
    expect(first.made).toMatchObject({ windowBegin: 0, windowEnd: 2, lastCompletionId: 5 });
    await site.complete("3");
    const windows = [await byHand(site), await byHand(site, beta), await byHand(site, beta)];
    expect(windows.map(({ made }) => [made.windowBegin, made.windowEnd])).toEqual([
      [2, 3],
      [0, 3],
      [3, 3],
    ]);
    // As an earlier version has left it.
    const ids = { window_begin: null, window_end: null };
    await site.store.write("site", (tx) =>
      tx.updateTable("exports").set(ids).where("name", "=", "nightly").execute(),
    );
    const last = await byHand(site);
    expect(last.made).toMatchObject({ windowBegin: 6, windowEnd: 6 });
  });

  test("is delivered again under the same name, and another number is not there", async () => {
    const site = await plannedSite();
    await site.complete("1");
    const first = await byHand(site);
    await site.complete("2");
    await byHand(site);
    const again = (sequenceNbr: number) =>
      site.store.write("site", (tx) => deliverAgain(tx, planOf(site), { sequenceNbr, now: site.now }));
    expect(await again(1)).toEqual({ kind: "queued", again: { ...first, deliveryId: 3 } });
    expect(await again(3)).toEqual({ kind: "unknown", newest: 2 });
    expect((await site.rows()).map(({ name, subject_id }) => [name, subject_id])).toEqual([
      ["acme_nightly_000001.xml", 1],
      ["acme_nightly_000002.xml", 2],
      ["acme_nightly_000001.xml", 1],
    ]);
  });

  test("of single files is a folder of the UTC day on which it was made", async () => {
    const site = await DeliverySite.open();
    site.now = at("2026-11-05T23:59:59");
    const { deliveryName } = await byHand(site, planOf(site, { form: "files" }));
    expect(deliveryName).toBe("nightly-2026-11-05-000001");
  });
});

describe("two processes at once", () => {
  test("make one export of a due time, and windows without overlap and without gap", async () => {
    const folder = temporaryFolder();
    const one = await openStore(folder);
    onTestFinished(() => one.close());
    const { company } = await one.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const targets = [{ name: "host", takesCompletions: true }];
    const copy = { companyId: company.id, targets, events: [], embedsDocuments: false };
    await one.write("site", (tx) => saveOutboundCopy(tx, copy));
    const two = await openStore(folder);
    onTestFinished(() => two.close());
    let now = at("2026-11-05T08:00:00");
    const clock = { now: () => now };
    const when = { schedule: "* * * * *", zone: "UTC" };
    const plan = { companyId: company.id, name: "e", when, form: "document", target: "host" } as const;
    await runDueExports({ store: one, clock, log }, [plan]);
    const dues: (number | null)[] = [];
    for (let round = 0; round < 20; round += 1) {
      now += minuteMs;
      await one.write("site", (tx) => addCompletion(tx, company.id, round));
      const runs = await Promise.all([
        runDueExports({ store: one, clock, log }, [plan]),
        runDueExports({ store: two, clock, log }, [plan]),
        two.write(company.id, (tx) => makeExport(tx, plan, { now, dueAt: null })).then((made) => [made]),
      ]);
      dues.push(...runs.flat().map(({ made }) => made.dueAt));
    }
    const scheduled = dues.filter((due) => due !== null);
    expect(scheduled.length).toBe(20);
    expect(new Set(scheduled).size).toBe(20);
    const rows = await one.read.selectFrom("exports").selectAll().orderBy("sequence_nbr").execute();
    expect(rows.map(({ sequence_nbr }) => sequence_nbr)).toEqual(rows.map((_row, index) => index + 1));
    expect(rows.map(({ after_completion_id: after }) => after)).toEqual([
      0,
      ...rows.slice(0, -1).map(({ last_completion_id: last }) => last),
    ]);
    expect(rows.at(-1)?.last_completion_id).toBe(20);
  });
});

async function addCompletion(tx: Transaction, companyId: number, index: number): Promise<void> {
  await tx
    .insertInto("completions")
    .values({
      ...{ company_id: companyId, stop_nbr: `s${index}`, name: `s${index}.xml`, format: 1 },
      ...{ embeds_documents: 0, trigger_code: 7009, first_event_id: 1, last_event_id: 0, stop_status: "90" },
      ...{ body: "{}", execution: "{}", driver: "{}", created_at: 1 },
    })
    .execute();
}

describe("completions of an export", () => {
  test("stay as long as it has a delivery, so that it can be delivered again; then it is forgotten", async () => {
    const site = await plannedSite();
    await site.complete("1", "2");
    const { made } = await byHand(site);
    await site.complete("3");
    const step = { companyId: site.companyId, before: site.now + dayMs, afterId: 0, limit: 10 };
    const prune = () =>
      site.store.write("site", async (tx) => {
        await pruneExportDeliveries(tx, step);
        await pruneCompletions(tx, step);
      });
    await prune();
    expect(await stopsOf(site, made)).toEqual(["1", "2"]);
    await site.store.write("site", async (tx) => {
      await tx.updateTable("deliveries").set({ state: "delivered", delivered_at: site.now }).execute();
    });
    await prune();
    expect(await stopsOf(site, made)).toEqual([]);
    // What has not been exported yet stays in any case.
    expect(await stopsOf(site, (await byHand(site)).made)).toEqual(["3"]);
    const again = await site.store.write("site", (tx) =>
      deliverAgain(tx, planOf(site), { sequenceNbr: 1, now: site.now }),
    );
    expect(again).toEqual({ kind: "forgotten", madeAt: made.createdAt });
  });
});

describe("the scheduler", () => {
  test("looks at its start and when it is triggered, and waits at its stop for what it has begun", async () => {
    const site = await plannedSite();
    const triggers: (() => void)[] = [];
    let stopped = 0;
    const scheduler = createExportScheduler({
      ...depsOf(site),
      plans: async () => [planOf(site)],
      trigger(onTick) {
        triggers.push(onTick);
        return {
          stop() {
            stopped += 1;
          },
        };
      },
    });
    site.now = at("2026-11-06T01:30:00");
    await scheduler.start(new AbortController().signal);
    expect(await site.states()).toEqual(["waiting"]);
    site.now = at("2026-11-07T01:30:00");
    triggers[0]?.();
    await scheduler.stop(AbortSignal.timeout(60_000));
    expect(await site.states()).toEqual(["waiting", "behind"]);
    await scheduler.stop(AbortSignal.timeout(1_000));
    expect([triggers.length, stopped]).toEqual([1, 1]);
  });

  test("goes on when the plans cannot be had", async () => {
    const site = await plannedSite();
    let isBroken = true;
    const scheduler = createExportScheduler({
      ...depsOf(site),
      plans: async () => {
        if (isBroken) throw new Error("no plans");
        return [planOf(site)];
      },
      trigger: () => ({ stop: () => undefined }),
    });
    site.now = at("2026-11-06T01:30:00");
    await scheduler.look();
    expect(await site.states()).toEqual([]);
    isBroken = false;
    await scheduler.look();
    expect(await site.states()).toEqual(["waiting"]);
  });

  test("is triggered by a task of its own that leaves nothing behind", async () => {
    const site = await plannedSite();
    const scheduler = createExportScheduler({ ...depsOf(site), plans: async () => [] });
    await scheduler.start(new AbortController().signal);
    await scheduler.stop(AbortSignal.timeout(1_000));
    const { getTasks } = await import("node-cron");
    expect(getTasks().size).toBe(0);
  });
});
