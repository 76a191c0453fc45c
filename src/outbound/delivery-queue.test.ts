/**
 * The delivery queue over a real store: order, schedule, dead letters, names, what is recorded and logged
 * (specification/outbound.md#retries).
 */
import { setImmediate } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Store } from "../store/database/database.ts";
import { writeMeta } from "../store/database/meta.ts";
import { deliveryHoldKey, endDeliveryHold } from "../store/outbound/delivery-hold.ts";
import { findDelivery } from "../store/outbound/delivery-queries.ts";
import { DeliverySite, failure, start } from "../../test/support/delivery-site.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { hourMs, minuteMs, secondMs } from "../lib/durations.ts";

const delivered = { kind: "delivered" } as const;

describe("what is held since a restore", () => {
  test("is not sent, however often the queue looks, until it is released", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    const hold = { restoredAt: start, backup: "one", sendAgainFrom: start, lastReceivedAt: null };
    await site.store.write("site", (tx) => writeMeta(tx, deliveryHoldKey, JSON.stringify(hold)));
    await site.startQueue();
    await site.pass(2 * minuteMs);
    await site.complete("S2");
    await site.pass(2 * minuteMs);
    expect(site.target().sent).toEqual([]);
    expect(await site.states()).toEqual(["waiting", "waiting"]);
    await site.store.write("site", (tx) => endDeliveryHold(tx));
    await site.pass(0);
    expect(site.target().names).toEqual(["s1_20261105_080000.xml", "s2_20261105_080200.xml"]);
  });
});

describe("what is due", () => {
  test("is not sent once another node may have the company, before anybody has said so", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    let isOurs = true;
    const fenceOf = (companyId: number) => (isOurs ? { companyId, epoch: 0 } : undefined);
    const target = site.target();
    target.script = async () => {
      isOurs = false;
      return delivered;
    };
    await site.startQueue({ ownership: { isSole: true, fenceOf } });
    await site.pass(0);
    await site.complete("S2");
    await site.pass(2 * minuteMs);
    expect([target.names, await site.states()]).toEqual([
      ["s1_20261105_080000.xml"],
      ["delivered", "waiting"],
    ]);
    // The queue of the node that has it.
    await site.startQueue();
    await site.pass(0);
    expect([target.names.length, await site.states()]).toEqual([2, ["delivered", "delivered"]]);
  });

  test("is delivered at once, with the bytes of its completion, and recorded", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    await site.startQueue();
    await site.pass(0);
    const [row] = await site.rows();
    expect(site.target().sent).toEqual([
      { id: row?.guid, name: "s1_20261105_080000.xml", text: "completion S1 90 7009", at: start },
    ]);
    expect(row).toMatchObject({ state: "delivered", attempts: 1, first_attempt_at: start });
    expect(row).toMatchObject({ last_attempt_at: start, delivered_at: start, size: 21, fault: null });
    expect(row?.sha256).toHaveLength(64);
    await site.pass(72 * hourMs);
    expect(site.target().sent).toHaveLength(1);
  });

  test("goes in the order in which it came, as many at a time as the target takes", async () => {
    const site = await DeliverySite.open();
    site.target().concurrency = 3;
    const stops = Array.from({ length: 700 }, (_, index) => `S${index}`);
    await site.complete(...stops);
    await site.startQueue();
    await site.pass(0);
    expect(site.target().names).toEqual(stops.map((stop) => `${stop.toLowerCase()}_20261105_080000.xml`));
    expect(site.target().mostActive).toBe(3);
    expect(new Set(await site.states())).toEqual(new Set(["delivered"]));
  });

  test("is not sent while too many outcomes wait to be recorded: after a crash all of it would be sent again", async () => {
    const site = await DeliverySite.open();
    const stops = Array.from({ length: 600 }, (_, index) => `S${index}`);
    await site.complete(...stops);
    const { store } = site;
    const recording = Promise.withResolvers<void>();
    onTestFinished(() => recording.resolve());
    const { sent } = site.target();
    const write: Store["write"] = async (whose, work) => {
      if (sent.length > 0) await recording.promise;
      return await store.write(whose, work);
    };
    await site.startQueue({ store: { read: store.read, write } });
    await waitFor("all that may be sent", () => sent.length >= 512);
    for (let turn = 0; turn < 2_000 && sent.length === 512; turn += 1) await setImmediate();
    expect(sent).toHaveLength(512);
    recording.resolve();
    await site.pass(0);
    expect(sent).toHaveLength(600);
    expect(new Set(await site.states())).toEqual(new Set(["delivered"]));
  });

  test("goes two at a time when documents are embedded in it, whatever the target takes; others are not held up", async () => {
    const site = await DeliverySite.open({ embedsDocuments: true });
    await site.complete("L1", "L2", "L3", "L4", "L5", "S1", "S2", "S3");
    await site.store.write("site", (tx) =>
      tx
        .updateTable("completions")
        .set({ execution: JSON.stringify({ documents: [{ reference: "x" }] }) })
        .where("stop_nbr", "like", "L%")
        .execute(),
    );
    const target = site.target();
    target.concurrency = 8;
    let [active, most] = [0, 0];
    target.script = async ({ files: [file] }) => {
      const isLarge = file?.name.startsWith("l") === true;
      if (isLarge) active += 1;
      most = Math.max(most, active);
      await setImmediate();
      if (isLarge) active -= 1;
      return delivered;
    };
    await site.startQueue();
    await site.pass(0);
    expect(new Set(await site.states())).toEqual(new Set(["delivered"]));
    expect(most).toBe(2);
    expect(target.mostActive).toBe(5);
  });

  test("does not wait for a clock that was set back since it was made", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.now -= hourMs;
    await site.startQueue();
    await site.pass(0);
    expect(await site.states()).toEqual(["delivered"]);
  });

  test("is found after a wake, and what another process writes without one", async () => {
    const site = await DeliverySite.open();
    await site.startQueue({ lookEveryMs: 200 });
    const { promise, resolve } = Promise.withResolvers<void>();
    site.target().script = () => {
      resolve();
      return delivered;
    };
    await site.complete("S1");
    site.queue.wake();
    await promise;
    await site.pass(0);
    const second = Promise.withResolvers<void>();
    site.target().script = () => {
      second.resolve();
      return delivered;
    };
    await site.complete("S2");
    await second.promise;
    expect(site.target().names).toHaveLength(2);
  });
});

describe("order", () => {
  test("a later completion of a stop goes when the one before it is recorded, others go on", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S1", "S2", "S1");
    const { promise, resolve } = Promise.withResolvers<void>();
    const target = site.target();
    const seen: string[] = [];
    target.script = async ({ files: [file] }) => {
      if (file?.name === "s1_20261105_080000.xml") await promise;
      seen.push(file?.name ?? "");
      if (file?.name.startsWith("s2") === true) resolve();
      return delivered;
    };
    await site.startQueue();
    await site.pass(0);
    expect(seen).toEqual([
      ...["s2_20261105_080000.xml", "s1_20261105_080000.xml"],
      ...["s1_20261105_080001.xml", "s1_20261105_080002.xml"],
    ]);
  });

  test("one that fails for now holds up those of its stop, and no other", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S1", "S2");
    site.target().script = ({ files: [file] }) => (file?.name.startsWith("s1") ? failure() : delivered);
    await site.startQueue();
    await site.pass(0);
    expect(await site.states()).toEqual(["waiting", "behind", "delivered"]);
    site.target().script = () => delivered;
    await site.pass(5 * secondMs);
    expect(await site.states()).toEqual(["delivered", "delivered", "delivered"]);
    expect(site.target().names.slice(-2)).toEqual(["s1_20261105_080000.xml", "s1_20261105_080001.xml"]);
  });

  test("a dead letter does not hold up those behind it", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S1");
    site.target().script = ({ files: [file] }) =>
      file?.name === "s1_20261105_080000.xml" ? failure({ isPermanent: true }, "refused") : delivered;
    await site.startQueue();
    await site.pass(0);
    expect(await site.states()).toEqual(["dead", "delivered"]);
  });

  test("of one target is not that of another", async () => {
    const targets = ["a", "b"].map((name) => ({ name, takesCompletions: true }));
    const site = await DeliverySite.open({ targets });
    await site.complete("S1", "S1");
    site.target("a").script = () => failure();
    await site.startQueue();
    await site.pass(0);
    expect(site.target("a").names).toHaveLength(1);
    expect(site.target("b").names).toHaveLength(2);
  });
});

describe("a delivery that fails", () => {
  test("is tried by the schedule, with the same id and the same bytes, and is dead after 72 hours", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().script = () => failure({ message: "come later" });
    await site.startQueue();
    await site.pass(0);
    const delays = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, 2 * hourMs];
    for (const [index, delay] of delays.entries()) {
      await site.pass(delay - 1);
      expect(site.target().sent).toHaveLength(index + 1);
      await site.pass(1);
      expect(site.target().sent).toHaveLength(index + 2);
    }
    for (let count = 0; count < 11; count += 1) await site.pass(6 * hourMs);
    await site.pass(start + 72 * hourMs - site.now);
    await site.pass(7 * hourMs);
    const { sent } = site.target();
    expect(sent).toHaveLength(19);
    expect(sent.at(-1)?.at).toBe(start + 72 * hourMs);
    expect(new Set(sent.map(({ id, text, name }) => `${id} ${text} ${name}`)).size).toBe(1);
    const [row] = await site.rows();
    expect(row).toMatchObject({ state: "dead", attempts: 19, fault: "busy", fault_text: "come later" });
    const found = await findDelivery(site.store.read, row?.guid ?? "");
    expect(found?.failedAttempts).toHaveLength(19);
    expect(found?.failedAttempts[1]).toMatchObject({ at: start + 5 * secondMs, fault: "busy" });
  });

  test("for good is dead at once", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().script = () => failure({ isPermanent: true, message: "no such folder" }, "missingFolder");
    await site.startQueue();
    await site.pass(0);
    await site.pass(7 * hourMs);
    expect(site.target().sent).toHaveLength(1);
    expect((await site.rows())[0]).toMatchObject({ state: "dead", attempts: 1, fault: "missingFolder" });
  });

  test("with a Retry-After is left alone for so long", async () => {
    const site = await DeliverySite.open();
    site.random = 0;
    await site.complete("S1");
    site.target().script = () => failure({ retryAfterMs: hourMs });
    await site.startQueue();
    await site.pass(0);
    await site.pass(hourMs - 1);
    expect(site.target().sent).toHaveLength(1);
    await site.pass(1);
    expect(site.target().sent).toHaveLength(2);
  });

  test("because its file cannot be made says nothing of the target, and is tried again", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2");
    const { render } = site;
    site.render = (row) => (row.orderKey === "S1" ? Promise.reject(new Error("broken row")) : render(row));
    await site.startQueue();
    await site.pass(0);
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", fault: "content", attempts: 1 });
    expect(await site.states()).toEqual(["waiting", "delivered"]);
    site.render = render;
    await site.pass(5 * secondMs);
    expect(await site.states()).toEqual(["delivered", "delivered"]);
  });

  test("because the target throws is tried again, and the log has the error", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().script = () => {
      throw new Error("our own fault");
    };
    await site.startQueue();
    await site.pass(0);
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", fault: "protocol" });
    expect(site.lines.some((line) => JSON.stringify(line).includes("our own fault"))).toBe(true);
  });

  test("after an attempt without end has had its time; what it was tried with knows that it is over", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    const target = site.target();
    target.timeoutMs = 30;
    const aborted = Promise.withResolvers<void>();
    target.script = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => {
          aborted.resolve();
          reject(signal.reason);
        });
      });
    await site.startQueue();
    await site.pass(0);
    await aborted.promise;
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", fault: "timeout", attempts: 1 });
  });
});

describe("a name that is taken", () => {
  test("moves on by a second to one that nothing of the company has, at once and without spending an attempt", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S1");
    const taken = new Set(["s1_20261105_080000.xml", "s1_20261105_080002.xml"]);
    site.target().script = ({ files: [file] }) =>
      taken.has(file?.name ?? "") ? { kind: "nameTaken", name: file?.name ?? "" } : delivered;
    await site.startQueue();
    await site.pass(0);
    expect(site.target().names).toEqual([
      ...["s1_20261105_080000.xml", "s1_20261105_080002.xml", "s1_20261105_080003.xml"],
      "s1_20261105_080001.xml",
    ]);
    expect(await site.rows()).toMatchObject([
      { state: "delivered", name: "s1_20261105_080003.xml", attempts: 1 },
      { state: "delivered", name: "s1_20261105_080001.xml", attempts: 1 },
    ]);
    expect(new Set(site.target().sent.map(({ id }) => id)).size).toBe(2);
  });

  test("for a server to which all names are taken becomes a fault, not a storm", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().script = ({ files: [file] }) => ({ kind: "nameTaken", name: file?.name ?? "" });
    await site.startQueue();
    await site.pass(0);
    expect(site.target().sent).toHaveLength(101);
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", fault: "refused", attempts: 1 });
  });

  test("of an export is a dead letter, because an export keeps its name", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    await site.store.write("site", (tx) =>
      tx.updateTable("deliveries").set({ kind: "export", name: "acme_daily_1.xml" }).execute(),
    );
    site.target().script = () => ({ kind: "nameTaken", name: "acme_daily_1.xml" });
    await site.startQueue();
    await site.pass(0);
    expect((await site.rows())[0]).toMatchObject({
      state: "dead",
      fault: "refused",
      name: "acme_daily_1.xml",
    });
  });
});
