import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { completionFormat } from "../../domain/outbound/completion-format.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { DeliverySite, start } from "../../../test/support/delivery-site.ts";
import { watchStatements } from "../../../test/support/watch-statements.ts";
import { findCompletions, listCompletions } from "../../store/outbound/completions.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import { connectionOf } from "../../store/database/prepared-query.ts";
import { recordEvents } from "./record-events.ts";
import { cancelStop } from "../../store/stops/stops.ts";

async function completions(site: DeliverySite) {
  return await site.store.read.selectFrom("completions").selectAll().orderBy("id").execute();
}

async function names(site: DeliverySite) {
  return (await completions(site)).map(({ name }) => name);
}

describe("an event asks for a completion file", () => {
  test.each([
    ["80", "stopClosed"],
    ["90", "stopDelivery"],
    ["91", "stopDelivery"],
    ["91", "stopClosed"],
  ] as const)("when the stop has got to %s with %s", async (status, kind) => {
    const site = await DeliverySite.open();
    await site.addStop("S1", status);
    await site.report("S1", [kind], "2026-11-05T09:30:00");
    expect(await names(site)).toEqual(["s1_20261105_093000.xml"]);
    expect((await completions(site))[0]).toMatchObject({ stop_status: status, stop_nbr: "S1" });
    expect(await site.rows()).toMatchObject([
      { name: "s1_20261105_093000.xml", state: "waiting", order_key: "S1", due_at: start, attempts: 0 },
    ]);
  });

  test.each([
    ["30", "stopDelivery"],
    ["90", "stopDeparture"],
    ["90", "stopUpdated"],
    ["99", "stopCancelled"],
    ["10", "stopClosed"],
  ] as const)("but not in %s with %s", async (status, kind) => {
    const site = await DeliverySite.open();
    await site.addStop("S1", status);
    await site.report("S1", [kind]);
    expect(await names(site)).toEqual([]);
    expect(await site.rows()).toEqual([]);
  });

  test("and in any state when the configuration asks for its code", async () => {
    const site = await DeliverySite.open({ events: [7007, 7009] });
    await site.addStop("S1", "27");
    await site.report("S1", ["stopArrival"], "2026-11-05T09:00:00");
    await site.addStop("S1", "30");
    await site.report("S1", ["stopDelivery"], "2026-11-05T09:10:00");
    expect((await completions(site)).map((row) => [row.trigger_code, row.stop_status])).toEqual([
      [7007, "27"],
      [7009, "30"],
    ]);
  });

  test("once when it does so for both reasons, and each event of a report for itself", async () => {
    const site = await DeliverySite.open({ events: [7009, 7008] });
    await site.addStop("S1");
    await site.report("S1", ["stopArrival", "stopDelivery", "stopDeparture"], "2026-11-05T09:00:00");
    expect((await completions(site)).map((row) => [row.trigger_code, row.name])).toEqual([
      [7009, "s1_20261105_090000.xml"],
      [7008, "s1_20261105_090001.xml"],
    ]);
    expect(await site.states()).toEqual(["waiting", "behind"]);
  });

  test("of its own company alone", async () => {
    const site = await DeliverySite.open({ events: [7007] });
    const { company } = await site.store.write("site", (tx) =>
      insertCompany(tx, { code: "OTHER", createdAt: 1 }),
    );
    await site.store.write("site", async (tx) => {
      await tx.updateTable("stops").set({ company_id: company.id }).execute();
      await recordEvents(tx, [
        { companyId: company.id, kind: "stopArrival", stopNbr: "S1", recordedAt: start },
        { companyId: company.id, kind: "loadCreated", loadNbr: "L1", recordedAt: start },
      ]);
    });
    expect(await names(site)).toEqual([]);
  });
});

describe("the snapshot", () => {
  test("has the stop, its carrier, its load with the driver, and the setting of the company", async () => {
    const site = await DeliverySite.open({ embedsDocuments: true });
    const { companyId } = site;
    await site.addStop("S1");
    await site.store.write("site", async (tx) => {
      const load = {
        load_nbr: "L1",
        load_status: 40 as const,
        driver: '{"driverName":"Ann Hill"}',
        body: "{}",
      };
      const { id } = await tx
        .insertInto("loads")
        .values({
          company_id: companyId,
          ...load,
          extra: "{}",
          execution: "{}",
          created_at: 1,
          updated_at: 1,
        })
        .returning("id")
        .executeTakeFirstOrThrow();
      await tx.updateTable("stops").set({ load_id: id, carrier_code: "C1", execution: '{"x":1}' }).execute();
    });
    await site.report("S1", ["stopDelivery"]);
    await site.store.write("site", (tx) =>
      tx.updateTable("stops").set({ body: "{}", stop_status: "10" }).execute(),
    );
    const [row] = await completions(site);
    expect(row).toMatchObject({ load_nbr: "L1", driver: '{"driverName":"Ann Hill"}', carrier_code: "C1" });
    expect(row).toMatchObject({ body: '{"stopNbr":"S1"}', execution: '{"x":1}', stop_status: "90" });
    expect(row).toMatchObject({ embeds_documents: 1, format: completionFormat, created_at: start });
  });

  test("has no load and an empty driver for a stop that is on none", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    expect((await completions(site))[0]).toMatchObject({ load_nbr: null, driver: "{}", embeds_documents: 0 });
  });

  test("has all events of the report, and what was recorded before, in their order", async () => {
    const site = await DeliverySite.open();
    await site.addStop("S1", "50");
    await site.addStop("S2", "50");
    await site.report("S1", ["stopPlanned"]);
    await site.report("S2", ["stopPlanned"]);
    await site.addStop("S1", "90");
    await site.report("S1", ["stopArrival", "stopDelivery", "documentCapture", "stopDeparture"]);
    await site.report("S1", ["stopUpdated"]);
    const [{ id } = { id: 0 }] = await completions(site);
    const [stored] = await findCompletions(site.store.read, [id]);
    expect(stored?.events.map(({ code }) => code)).toEqual([7028, 7007, 7009, 7014, 7008]);
  });

  test("has no events of an earlier stop of the number, which was cancelled", async () => {
    const site = await DeliverySite.open({ events: [7059] });
    await site.addStop("S1", "10");
    await site.report("S1", ["stopPlanned"]);
    await site.store.write("site", (tx) =>
      cancelStop(tx, {
        ...{ companyId: site.companyId, stopNbr: "S1", execution: "{}", fileTime: null },
        updatedAt: 2,
      }),
    );
    await site.report("S1", ["stopCancelled"]);
    await site.addStop("S1", "90");
    await site.report("S1", ["stopReceived"]);
    await site.report("S1", ["stopArrival", "stopDelivery"]);
    const window = { companyId: site.companyId, afterId: 0, lastId: 1_000, limit: 10 };
    const stored = await listCompletions(site.store.read, window);
    expect(stored.map(({ events }) => events.map(({ code }) => code))).toEqual([
      [7028, 7059],
      [8100, 7007, 7009],
    ]);
  });
});

describe("the name", () => {
  test("is by the local time of the event, or without one by the time of its record in UTC", async () => {
    const site = await DeliverySite.open();
    await site.addStop("AB 1/Ü");
    await site.report("AB 1/Ü", ["stopDelivery"], "2026-12-31T23:59:59");
    await site.complete("S2");
    expect(await names(site)).toEqual(["ab-1--_20261231_235959.xml", "s2_20261105_080000.xml"]);
  });

  test("moves on by seconds past the names of other completions and of deliveries, over midnight", async () => {
    const site = await DeliverySite.open();
    for (const stopNbr of ["A/1", "a-1", "A-1", "a/1"]) {
      await site.addStop(stopNbr);
      await site.report(stopNbr, ["stopDelivery"], "2026-12-31T23:59:58");
    }
    await site.store.write("site", (tx) =>
      tx
        .updateTable("deliveries")
        .set({ name: "a-1_20270101_000002.xml" })
        .where("order_key", "=", "a/1")
        .execute(),
    );
    await site.report("A/1", ["stopDelivery"], "2026-12-31T23:59:58");
    expect(await names(site)).toEqual([
      ...["a-1_20261231_235958.xml", "a-1_20261231_235959.xml"],
      ...["a-1_20270101_000000.xml", "a-1_20270101_000001.xml", "a-1_20270101_000003.xml"],
    ]);
  });

  test("is found past hundreds that are taken, and past the end of time", async () => {
    const site = await DeliverySite.open({ targets: [] });
    await site.addStop("S1");
    const { companyId, store } = site;
    const count = 603;
    const data = { eventDTTM: "9999-12-31T23:50:00" };
    const event = { companyId, kind: "stopDelivery", stopNbr: "S1", recordedAt: start, data } as const;
    await store.write("site", (tx) => recordEvents(tx, Array(count).fill(event)));
    const all = await names(site);
    expect(new Set(all).size).toBe(count);
    expect(all[1]).toBe("s1_99991231_235001.xml");
    expect(all[599]).toBe("s1_99991231_235959.xml");
    expect(all[600]).toBe("s1_19700101_000000.xml");
    expect(all[count - 1]).toBe("s1_19700101_000002.xml");
    expect(all.every((name) => parseStopFileName(name).kind === "named")).toBe(true);
  });

  test("a taken one keeps nothing of a stop that is not done", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    await site.addStop("S1", "30");
    await site.report("S1", ["stopDelivery"], "2026-11-05T08:00:00");
    expect(await names(site)).toHaveLength(1);
  });
});

describe("the deliveries of a completion", () => {
  test("are one for each target that takes completions and is configured", async () => {
    const site = await DeliverySite.open({
      targets: [
        { name: "a", takesCompletions: true },
        { name: "b", takesCompletions: false },
        { name: "c", takesCompletions: true },
        { name: "gone", takesCompletions: true },
      ],
    });
    await site.configure({
      targets: [
        { name: "a", takesCompletions: true },
        { name: "b", takesCompletions: false },
        { name: "c", takesCompletions: true },
      ],
    });
    await site.complete("S1");
    const rows = await site.store.read
      .selectFrom("deliveries as d")
      .innerJoin("outbound_targets as t", "t.id", "d.target_id")
      .select(["t.name", "d.guid", "t.open_count"])
      .orderBy("d.id")
      .execute();
    expect(rows.map(({ name, open_count }) => [name, open_count])).toEqual([
      ["a", 1],
      ["c", 1],
    ]);
    const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
    for (const row of rows) expect(row.guid).toMatch(guid);
    expect(new Set(rows.map((row) => row.guid)).size).toBe(2);
  });

  test("are none without such a target; the completion is kept for exports", async () => {
    const site = await DeliverySite.open({ targets: [] });
    await site.complete("S1");
    expect(await names(site)).toHaveLength(1);
    expect(await site.rows()).toEqual([]);
  });

  test("stand behind the one of the same stop and target that is open", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S1", "S1");
    expect(await site.states()).toEqual(["waiting", "waiting", "behind", "behind"]);
  });

  test("are undone with the state change that they belong to", async () => {
    const site = await DeliverySite.open();
    await site.addStop("S1");
    const failing = site.store.write("site", async (tx) => {
      const { companyId } = site;
      await recordEvents(tx, [{ companyId, kind: "stopDelivery", stopNbr: "S1", recordedAt: start }]);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await names(site)).toEqual([]);
    expect(await site.rows()).toEqual([]);
  });
});

describe("the cost", () => {
  beforeEach(() => void vi.stubEnv("DROPGATE_CHECK_UNITS", "0"));
  afterEach(() => void vi.unstubAllEnvs());

  async function statementsFor(site: DeliverySite, work: () => Promise<void>): Promise<number> {
    let count = 0;
    await site.store.write("site", async (tx) => {
      watchStatements(await connectionOf(tx), (sql) => {
        if (!/savepoint|begin|commit/.test(sql)) count += 1;
      });
    });
    const before = count;
    await work();
    return count - before;
  }

  test("is one statement for each event that asks for nothing, and one for the transaction", async () => {
    const site = await DeliverySite.open({ events: [7007] });
    await site.addStop("S1", "10");
    expect(await statementsFor(site, () => site.report("S1", ["stopUpdated", "stopReceived"]))).toBe(3);
  });

  test("is seven statements more for a completion with one target", async () => {
    const site = await DeliverySite.open();
    await site.addStop("S1");
    expect(await statementsFor(site, () => site.report("S1", ["stopDelivery"]))).toBe(9);
  });
});
