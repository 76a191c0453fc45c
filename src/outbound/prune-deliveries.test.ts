import { describe, expect, test } from "vitest";
import { DeliverySite, failure, start } from "../../test/support/delivery-site.ts";
import {
  pruneCompletions,
  type Pruned,
  pruneDelivered,
  pruneExportDeliveries,
  type PruneStep,
} from "./prune-deliveries.ts";
import { insertDelivery } from "../store/outbound/deliveries.ts";
import { dayMs } from "../lib/durations.ts";

async function prune(site: DeliverySite, limit = 100): Promise<readonly Pruned[]> {
  const steps: Pruned[] = [];
  let afterId: number | undefined = 0;
  while (afterId !== undefined) {
    const step: PruneStep = { companyId: site.companyId, before: site.now - 90 * dayMs, afterId, limit };
    const pruned: Pruned = await site.store.write("site", (tx) => pruneCompletions(tx, step));
    steps.push(pruned);
    afterId = pruned.lastId;
  }
  return steps;
}

async function left(site: DeliverySite) {
  const completions = await site.store.read.selectFrom("completions").select("stop_nbr").execute();
  const attempts = await site.store.read.selectFrom("delivery_attempts").select("delivery_id").execute();
  return {
    completions: completions.map(({ stop_nbr }) => stop_nbr),
    deliveries: (await site.rows()).map(({ order_key }) => order_key),
    attempts: attempts.length,
  };
}

async function delivered(...stopNbrs: readonly string[]): Promise<DeliverySite> {
  const site = await DeliverySite.open();
  await site.complete(...stopNbrs);
  await site.startQueue();
  await site.pass(0);
  return site;
}

describe("what was delivered long ago", () => {
  test("is removed with its completion and its attempts, in small steps", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S3", "S4", "S5");
    site.target().script = () => failure();
    await site.startQueue();
    await site.pass(0);
    site.target().script = () => ({ kind: "delivered" });
    await site.pass(dayMs);
    expect((await left(site)).attempts).toBe(5);
    site.now = start + 91 * dayMs + 1;
    const steps = await prune(site, 2);
    expect(steps.map(({ completions }) => completions)).toEqual([2, 2, 1]);
    expect(steps.map(({ deliveries }) => deliveries)).toEqual([2, 2, 1]);
    expect(await left(site)).toEqual({ completions: [], deliveries: [], attempts: 0 });
  });

  test("is kept until its time is over, counted from its delivery", async () => {
    const site = await delivered("S1");
    site.now = start + 90 * dayMs;
    await prune(site);
    expect((await left(site)).deliveries).toEqual(["S1"]);
    site.now += 1;
    await prune(site);
    expect((await left(site)).deliveries).toEqual([]);
  });

  test("is kept while another target has not had the same completion", async () => {
    const site = await DeliverySite.open({
      targets: ["a", "b"].map((name) => ({ name, takesCompletions: true })),
    });
    await site.complete("S1", "S2");
    site.target("b").script = ({ files: [file] }) =>
      file?.name.startsWith("s1") ? failure({ isPermanent: true }) : { kind: "delivered" };
    await site.startQueue();
    await site.pass(100 * dayMs);
    site.now += 100 * dayMs;
    await prune(site);
    expect(await left(site)).toEqual({ completions: ["S1"], deliveries: ["S1", "S1"], attempts: 1 });
  });

  test("is looked for no further than the first that is young", async () => {
    const site = await delivered("S1");
    site.now += 100 * dayMs;
    await site.complete("S2", "S3");
    await site.pass(0);
    const [first, ...rest] = await prune(site, 1);
    expect(first).toMatchObject({ completions: 1 });
    expect(rest).toEqual([{ lastId: undefined, deliveries: 0, completions: 0 }]);
    expect((await left(site)).completions).toEqual(["S2", "S3"]);
  });

  test("is looked for no further than a page that is old at its beginning alone", async () => {
    const site = await delivered("S1");
    site.now += 100 * dayMs;
    await site.complete("S2", "S3");
    await site.pass(0);
    expect(await prune(site, 2)).toMatchObject([{ lastId: undefined, completions: 1 }]);
  });

  test("of another company is left alone", async () => {
    const site = await delivered("S1");
    const step = { companyId: 77, before: start + 1_000 * dayMs, afterId: 0, limit: 10 };
    await site.store.write("site", (tx) => pruneCompletions(tx, step));
    expect((await left(site)).completions).toEqual(["S1"]);
  });
});

describe("all that a company has", () => {
  test("is gone through in one call, which ends when it is aborted", async () => {
    const site = await delivered(...Array.from({ length: 230 }, (_, index) => `S${index}`));
    site.now += 31 * dayMs;
    const { companyId, store } = site;
    const old = (days: number) => ({ companyId, before: site.now - days * dayMs });
    await expect(pruneDelivered(store, old(30), AbortSignal.abort())).rejects.toThrow();
    expect(await pruneDelivered(store, old(32), new AbortController().signal)).toEqual({
      ...{ deliveries: 0, completions: 0 },
    });
    expect(await pruneDelivered(store, old(30), new AbortController().signal)).toEqual({
      ...{ deliveries: 230, completions: 230 },
    });
    expect(await left(site)).toEqual({ completions: [], deliveries: [], attempts: 0 });
  });
});

describe("for an export", () => {
  const before = start + 1_000 * dayMs;

  async function exportOf(site: DeliverySite, afterId: number, lastId: number): Promise<number> {
    return await site.store.write("site", async (tx) => {
      const values = { company_id: site.companyId, name: "daily", form: "document", created_at: start };
      const { id } = await tx
        .insertInto("exports")
        .values({
          ...values,
          sequence_nbr: afterId + 1,
          after_completion_id: afterId,
          last_completion_id: lastId,
        })
        .returning("id")
        .executeTakeFirstOrThrow();
      await insertDelivery(tx, {
        ...{ companyId: site.companyId, targetId: 1, kind: "export", subjectId: id, orderKey: "daily" },
        ...{ name: `daily_${id}`, now: start },
      });
      return id;
    });
  }

  async function scheduleOf(site: DeliverySite, nextDueAt: number | null): Promise<void> {
    const row = { company_id: site.companyId, name: "daily", schedule: "{}", watermark: 1 };
    await site.store.write("site", (tx) =>
      tx
        .insertInto("export_schedules")
        .values({ ...row, next_due_at: nextDueAt })
        .execute(),
    );
  }

  test("that comes, completions after its watermark are kept; their deliveries go", async () => {
    const site = await delivered("S1", "S2", "S3");
    await scheduleOf(site, before + dayMs);
    site.now = before;
    await prune(site);
    expect(await left(site)).toEqual({ completions: ["S2", "S3"], deliveries: [], attempts: 0 });
  });

  test("that is made by hand alone, nothing is kept", async () => {
    const site = await delivered("S1", "S2", "S3");
    await scheduleOf(site, null);
    site.now = before;
    await prune(site);
    expect((await left(site)).completions).toEqual([]);
  });

  test("that is still to be delivered, its completions are kept; and then go when it has been", async () => {
    const site = await delivered("S1", "S2", "S3");
    // Else it finds the export by itself, within a second.
    await site.queue.stop(AbortSignal.abort());
    await exportOf(site, 1, 3);
    site.now = before;
    await prune(site);
    expect((await left(site)).completions).toEqual(["S2", "S3"]);
    const step = { companyId: site.companyId, before: before - 90 * dayMs, afterId: 0, limit: 10 };
    await site.store.write("site", (tx) => pruneExportDeliveries(tx, step));
    expect(await site.states()).toEqual(["waiting"]);
    await site.startQueue();
    await site.pass(0);
    expect(await site.states()).toEqual(["delivered"]);
    site.now += 91 * dayMs;
    const later = { ...step, before: site.now - 90 * dayMs };
    await site.store.write("site", (tx) => pruneExportDeliveries(tx, later));
    await prune(site);
    expect(await left(site)).toEqual({ completions: [], deliveries: [], attempts: 0 });
    expect(await site.store.read.selectFrom("exports").selectAll().execute()).toHaveLength(1);
  });
});
