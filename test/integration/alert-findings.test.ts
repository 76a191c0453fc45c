/** What each detector sees, in a real store. */
import { describe, expect, test } from "vitest";
import type { Detector, Scan } from "../../src/app/alerts/detector.ts";
import { detectors } from "../../src/app/alerts/detectors.ts";
import type { Config } from "../../src/config/schema.ts";
import { type AlertKindName, alertKind } from "../../src/domain/alerts/alert-kinds.ts";
import { alertTargetName } from "../../src/domain/alerts/audience.ts";
import type { Finding, Incident } from "../../src/domain/alerts/incident.ts";
import type { HeldFiles } from "../../src/inbound/lanes/held-files.ts";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import type { Reader } from "../../src/store/database/database.ts";
import { noteLastVerification } from "../../src/store/database/last-verification.ts";
import { DeliverySite, failure, unreachable } from "../support/delivery-site.ts";
import { plansOf } from "../support/query-plans.ts";
import { pauseByHand, resumeByHand } from "../../src/store/outbound/hand-pauses.ts";
import { countRefused } from "../../src/store/ledger/refused-files.ts";
import { hourMs, minuteMs } from "../../src/lib/durations.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

const acme = { id: 1, code: "ACME" };
const now = 1_700_000_000_000;

interface Seen {
  readonly read?: Reader;
  readonly now?: number;
  readonly settings?: Readonly<Record<string, number>>;
  readonly subject?: Scan["subject"];
  readonly open?: Partial<Incident>;
  readonly sources?: object;
}

function detect(kind: AlertKindName, seen: Seen): Promise<readonly Finding[]> {
  const defaults = Object.entries(alertKind(kind).thresholds).map(([name, one]) => [name, one.default]);
  const scan = {
    ...{
      subject: acme,
      now,
      open: new Map(seen.open === undefined ? [] : [["", seen.open]]),
      ...seen.sources,
    },
    ...{ read: seen.read, sources: seen.sources ?? {} },
    ...(seen.now === undefined ? {} : { now: seen.now }),
    ...(seen.subject === undefined ? {} : { subject: seen.subject }),
    settings: { enabled: true, urgent: false, ...Object.fromEntries(defaults), ...seen.settings },
  };
  return (detectors[kind] as Detector)(scan as unknown as Scan);
}

describe("refused files", () => {
  const fixture = ledgerOfEachTest();

  async function refuse(name: string, decidedAt: number): Promise<void> {
    const id = await fixture.wait(name);
    const location = `companies/ACME/error/${name}`;
    const faults = [{ code: "xsdMismatch", message: "wrong" }] as const;
    await fixture.decide(id, { state: "refused", location, text: name, decidedAt, faults });
  }
  const look = (seen: Seen = {}) =>
    detect("refusedFiles", {
      read: fixture.store.read,
      subject: { id: fixture.companyId, code: "ACME" },
      ...seen,
    });

  test("are those within the time, counted from the first on", async () => {
    await refuse("old.xml", now - 61 * minuteMs);
    expect(await look()).toEqual([]);
    await refuse("a.xml", now - 30 * minuteMs);
    await refuse("b.xml", now - minuteMs);
    expect(await look()).toMatchObject([
      { cause: "", count: 2, since: now - 30 * minuteMs, summary: "2 stop files were refused" },
    ]);
    const [found] = await look();
    const at = (ago: number) => new Date(now - ago).toISOString();
    expect(found?.samples.map((sample) => sample.replace(/\d{3} wrong$/, "…"))).toEqual([
      `${at(30 * minuteMs)} a.xml: …`,
      `${at(minuteMs)} b.xml: …`,
    ]);
    expect(found?.remedy).toContain("`dropgate files --company ACME --state refused --since 2023-11-14`");
  });

  test("are shown with the first one and the newest", async () => {
    for (let index = 0; index < 9; index += 1) await refuse(`f${index}.xml`, now - (50 - index) * minuteMs);
    const names = (await look())[0]?.samples.map((sample) => /f\d/.exec(sample)?.[0]);
    expect(names).toEqual(["f0", "f5", "f6", "f7", "f8"]);
  });

  test("are none below the count", async () => {
    await refuse("a.xml", now - minuteMs);
    expect(await look({ settings: { count: 2 } })).toEqual([]);
    await refuse("b.xml", now - minuteMs);
    expect(await look({ settings: { count: 2 } })).toHaveLength(1);
  });

  test("are worse when they are a hundred times as many within the time, however many there were before", async () => {
    const refuseMany = async (from: number, to: number, at: number) => {
      for (let index = from; index < to; index += 1) await refuse(`f${index}.xml`, at);
    };
    await refuseMany(0, 5, now - 2 * hourMs);
    await refuseMany(5, 104, now);
    const open = { openedAt: now - 2 * hourMs };
    expect(await look({ open })).toMatchObject([{ count: 104, level: 1 }]);
    await refuse("last.xml", now);
    expect(await look({ open })).toMatchObject([{ count: 105, level: 2 }]);
    expect(await look({ settings: { count: 2 } })).toMatchObject([{ level: 1 }]);
  });

  test("of an open incident are counted since it opened", async () => {
    await refuse("a.xml", now - 5 * hourMs);
    await refuse("b.xml", now - minuteMs);
    const open = { openedAt: now - 5 * hourMs };
    expect(await look({ open })).toMatchObject([{ count: 2, since: now - 5 * hourMs }]);
  });

  // The plan is SQLite's, in its words.
  itOnSqlite("are counted by their index, and those of others are not", async () => {
    const other = await fixture.company("OTHER");
    await refuse("a.xml", now);
    expect(await look({ subject: { id: other, code: "OTHER" } })).toEqual([]);
    const { store, stateDir, companyId } = fixture;
    const plan = await plansOf({ read: store.read, stateDir }, () =>
      countRefused(store.read, { companyId, since: 0 }),
    );
    expect(plan[0]).toMatch(
      /SEARCH files USING (COVERING )?INDEX files_refused_at \(company_id=\? AND decided_at>\?\)/,
    );
  });
});

describe("files waiting", () => {
  const waiting = (oldestAgeMs: number, held: readonly HeldFiles[] = []) => ({
    pipeline: {
      statistics: () => ({ waiting: [{ companyId: 1, count: 3, oldestAgeMs }] }),
      held: () => held,
    },
  });

  test("are told when the oldest waits too long, with the reasons of those that are held", async () => {
    expect(await detect("filesWaiting", { sources: waiting(30 * minuteMs - 1) })).toEqual([]);
    const held = [
      { company: "ACME", first: [{ name: "a.xml", message: "no disk" }] },
    ] as unknown as HeldFiles[];
    expect(await detect("filesWaiting", { sources: waiting(31 * minuteMs, held) })).toMatchObject([
      {
        ...{ cause: "", count: 3, since: now - 31 * minuteMs, samples: ["a.xml: no disk"] },
        summary: "3 files wait, the oldest for 31 minutes",
        remedy: expect.stringContaining("`dropgate files --company ACME --state waiting`") as string,
      },
    ]);
  });

  test("of another company are none of this one", async () => {
    const subject = { id: 2, code: "OTHER" };
    expect(await detect("filesWaiting", { sources: waiting(hourMs), subject })).toEqual([]);
  });
});

describe("targets", () => {
  const alertTarget = alertTargetName("email");

  test("with dead deliveries are told one by one; those of alerts are not", async () => {
    const names = ["host", "tms", alertTarget];
    const site = await DeliverySite.open({
      targets: names.map((name) => ({ name, takesCompletions: true })),
    });
    for (const name of names) site.target(name).script = () => failure({ isPermanent: true }, "refused");
    await site.startQueue();
    await site.complete("S1", "S2");
    await site.pass(minuteMs);
    const found = await detect("deadLetters", { read: site.store.read, now: site.now });
    expect(found.map(({ cause, count }) => [cause, count])).toEqual([
      ["host", 2],
      ["tms", 2],
    ]);
    expect(found[0]?.samples).toHaveLength(2);
    expect(found[0]?.samples[0]).toMatch(/^s2_.*\.xml \(delivery \d+\): try later$/);
    expect(await detect("deadLetters", { read: site.store.read, settings: { count: 3 } })).toEqual([]);
  });

  test("have got worse when a hundred times as many deliveries are dead", async () => {
    const site = await DeliverySite.open();
    const levelsAt = async (dead_count: number) => {
      await site.store.write("site", (tx) =>
        tx.updateTable("outbound_targets").set({ dead_count }).execute(),
      );
      return (await detect("deadLetters", { read: site.store.read })).map(({ level }) => level);
    };
    expect([await levelsAt(1), await levelsAt(99), await levelsAt(100)]).toEqual([[1], [1], [2]]);
  });

  test("that fail as a whole are told when the oldest delivery waits too long", async () => {
    const site = await DeliverySite.open();
    site.target().script = () => unreachable;
    await site.startQueue();
    await site.complete("S1");
    await site.pass(0);
    const look = () => detect("pausedTarget", { read: site.store.read, now: site.now });
    expect(await look()).toEqual([]);
    await site.pass(31 * minuteMs);
    const [found] = await look();
    expect(found).toMatchObject({ cause: "host", count: 1, since: site.now - 31 * minuteMs });
    expect(found?.summary).toMatch(
      /^the target host has failed \d+ times in a row: 1 delivery waits, the oldest for 31 /,
    );
    expect(found?.samples[0]).toMatch(/nobody answers/);
    site.target().script = () => ({ kind: "delivered" });
    await site.pass(hourMs);
    expect(await look()).toEqual([]);
  });

  test("that somebody has paused are told when a delivery waits too long, with who did it and what ends it", async () => {
    const site = await DeliverySite.open();
    const thing = { companyId: site.companyId, kind: "target", name: "host" } as const;
    const pause = { ...thing, pausedAt: site.now, pausedBy: "anna", reason: "their system moves" };
    await site.store.write("site", (tx) => pauseByHand(tx, pause));
    await site.startQueue();
    const look = () => detect("pausedTarget", { read: site.store.read, now: site.now });
    await site.pass(hourMs);
    expect(await look()).toEqual([]);
    await site.complete("S1");
    await site.pass(30 * minuteMs - 1);
    expect(await look()).toEqual([]);
    await site.pass(1);
    const [found] = await look();
    const since = new Date(pause.pausedAt).toISOString();
    expect(found).toMatchObject({ cause: "host", count: 1, since: site.now - 30 * minuteMs });
    expect(found?.summary).toMatch(
      new RegExp(`^the target host is paused by anna since ${since}: 1 delivery waits, the oldest for 30 `),
    );
    expect(found?.remedy).toContain("`dropgate target resume host --company ACME` lets all go out");
    await site.store.write("site", (tx) => resumeByHand(tx, thing));
    await site.pass(hourMs);
    expect(await look()).toEqual([]);
  });
});

test("a target that left the configuration is told as missing, and neither as failing nor for what was given up", async () => {
  const site = await DeliverySite.open();
  site.target().script = () => failure({ isPermanent: true }, "refused");
  await site.startQueue();
  await site.complete("S1");
  await site.pass(0);
  site.target().script = () => unreachable;
  await site.complete("S2");
  await site.pass(31 * minuteMs);
  const look = async () => {
    const seen = { read: site.store.read, now: site.now };
    return {
      missing: await detect("missingTarget", seen),
      paused: (await detect("pausedTarget", seen)).length,
      dead: (await detect("deadLetters", seen)).length,
    };
  };
  expect(await look()).toEqual({ missing: [], paused: 1, dead: 1 });
  await site.configure({ targets: [] });
  const { missing, ...others } = await look();
  expect(others).toEqual({ paused: 0, dead: 0 });
  expect(missing).toMatchObject([
    {
      ...{ cause: "host", count: 2 },
      summary: "the target host is not in the configuration: 1 delivery waits for it, and 1 was given up",
    },
  ]);
  expect(missing[0]?.remedy).toContain(
    "`dropgate delivery give-up --all --company ACME --target host --reason",
  );
  await site.configure({});
  expect((await look()).missing).toEqual([]);
});

test("uncollected files are those of the last scan of outbound/", async () => {
  const config = { companies: { ACME: { outbound: { collectWithinHours: 4, targets: {}, exports: {} } } } };
  const sources = (found: object | undefined) => ({
    collectionWatch: { uncollectedOf: () => found },
    config: () => config as unknown as Config,
  });
  expect(await detect("uncollectedFiles", { sources: sources(undefined) })).toEqual([]);
  expect(
    await detect("uncollectedFiles", { sources: sources({ count: 0, names: [], since: undefined }) }),
  ).toEqual([]);
  const open = { cause: "", summary: "as it was told", count: 3, samples: ["a.xml"], level: 1 };
  const unknown = sources(undefined);
  expect(await detect("uncollectedFiles", { sources: unknown, open })).toEqual([open]);
  config.companies.ACME.outbound.collectWithinHours = 0;
  expect(await detect("uncollectedFiles", { sources: unknown, open })).toEqual([]);
  config.companies.ACME.outbound.collectWithinHours = 4;
  const found = { count: 2, names: ["a.xml", "b.xml"], since: now - 5 * hourMs };
  expect(await detect("uncollectedFiles", { sources: sources(found) })).toMatchObject([
    {
      ...{ cause: "", count: 2, since: now - 5 * hourMs, samples: ["a.xml", "b.xml"] },
      summary: "2 files in outbound/ were not collected within 4 hours",
    },
  ]);
});

test.each([
  ["more than the smaller bound", 11e9, undefined],
  ["less than both bounds", 9e9, 1],
  ["less than uploads need", 1e9, 2],
])("a disk with %s", async (_, freeBytes, level) => {
  const room = async () => ({ freeBytes, minFreeBytes: 2e9, diskBytes: 1e12 });
  const config = () => ({ stateDir: "/state" });
  const found = await detect("diskSpace", { sources: { config, intake: { space: { room } } } });
  expect(found.map((one) => one.level)).toEqual(level === undefined ? [] : [level]);
});

describe("the ledger", () => {
  const fixture = ledgerOfEachTest();

  test("disagrees as long as the last verification has found discrepancies", async () => {
    const { store } = fixture;
    const look = () => detect("ledgerDiscrepancy", { read: store.read });
    expect(await look()).toEqual([]);
    await noteLastVerification(store, { at: now, discrepancies: 3 });
    expect(await look()).toMatchObject([{ count: 3, since: now }]);
    await noteLastVerification(store, { at: now + 1, discrepancies: 0 });
    expect(await look()).toEqual([]);
  });
});
