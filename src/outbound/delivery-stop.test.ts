/**
 * The end of the queue, at any moment, and what the next start finds (specification/outbound.md#states-of-a-delivery).
 */
import { describe, expect, test } from "vitest";
import { StoreError } from "../lib/store-error.ts";
import type { Store } from "../store/database/database.ts";
import { DeliverySite, failure } from "../../test/support/delivery-site.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { minuteMs, secondMs } from "../lib/durations.ts";

const delivered = { kind: "delivered" } as const;

describe("a stop", () => {
  test("lets attempts in hand end, records them, takes no more, and closes the targets", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S3", "S4", "S5");
    const target = site.target();
    target.concurrency = 2;
    const { promise, resolve } = Promise.withResolvers<void>();
    target.script = async () => {
      await promise;
      return delivered;
    };
    const queue = await site.startQueue();
    await waitFor("two to be tried", () => target.active === 2);
    const stopped = queue.stop(new AbortController().signal);
    resolve();
    await stopped;
    expect(await site.states()).toEqual(["delivered", "delivered", "waiting", "waiting", "waiting"]);
    expect(target.closed).toBe(1);
    expect(target.sent).toHaveLength(2);
    await queue.stop(AbortSignal.abort());
  });

  test("ends attempts at its deadline; they are not spent, and nothing is recorded of them", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    const target = site.target();
    target.script = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    const queue = await site.startQueue();
    await waitFor("one to be tried", () => target.active === 1);
    await queue.stop(AbortSignal.timeout(10));
    const untouched = { state: "waiting", attempts: 0, first_attempt_at: null, fault: null };
    expect((await site.rows())[0]).toMatchObject(untouched);
    expect((await site.store.read.selectFrom("outbound_targets").selectAll().execute())[0]).toMatchObject({
      failures: 0,
    });
    expect(target.active).toBe(0);
    expect(site.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("what the target had all the same by then is recorded", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    const target = site.target();
    target.script = (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(delivered));
      });
    const queue = await site.startQueue();
    await waitFor("one to be tried", () => target.active === 1);
    await queue.stop(AbortSignal.timeout(10));
    expect(await site.states()).toEqual(["delivered"]);
  });

  test("is not held up by a target that hangs at its close", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().close = () => new Promise(() => undefined);
    const queue = await site.startQueue();
    await site.pass(0);
    await queue.stop(AbortSignal.timeout(50));
    expect(await site.states()).toEqual(["delivered"]);
  });
});

describe("a start", () => {
  test("takes up rows of each state as they were left: ids, names, attempts and order go on", async () => {
    const site = await DeliverySite.open();
    await site.complete("D1", "W1", "W1", "X1", "X1", "L1");
    const target = site.target();
    target.script = ({ files: [file] }) => {
      if (file?.name.startsWith("d1")) return delivered;
      if (file?.name === "x1_20261105_080000.xml") return failure({ isPermanent: true });
      return failure();
    };
    await (await site.startQueue()).settled();
    await site.queue.stop(AbortSignal.timeout(60_000));
    expect(await site.states()).toEqual(["delivered", "waiting", "behind", "dead", "waiting", "waiting"]);
    const before = await site.rows();
    const sent = target.sent.length;
    target.script = () => delivered;
    await site.startQueue();
    await site.pass(minuteMs);
    expect(await site.states()).toEqual([
      ...["delivered", "delivered", "delivered", "dead", "delivered", "delivered"],
    ]);
    const again = target.sent.slice(sent);
    expect(again.map(({ name }) => name).filter((name) => name.startsWith("w1"))).toEqual([
      ...["w1_20261105_080000.xml", "w1_20261105_080001.xml"],
    ]);
    expect(again).toHaveLength(4);
    for (const { id, name } of again)
      expect(before.find(({ guid }) => guid === id)).toMatchObject({ name, guid: id });
    expect((await site.rows())[1]).toMatchObject({ attempts: 2 });
  });

  test("sends again what was sent and not recorded, under the same id with the same bytes", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    // As after a kill between sending and recording: the outcome never gets to the store.
    const write: Store["write"] = () => new Promise(() => undefined);
    const cut = {
      read: site.store.read,
      write: ((whose, work) => site.store.write(whose, work)) as Store["write"],
    };
    const queue = await site.startQueue({ store: cut });
    await queue.stop(AbortSignal.timeout(60_000));
    await site.store.write("site", (tx) => tx.updateTable("deliveries").set({ state: "waiting" }).execute());
    site.target().sent.length = 0;
    let isCut = false;
    const lossy = {
      read: site.store.read,
      write: ((whose, work) =>
        isCut ? write(whose, work) : site.store.write(whose, work)) as Store["write"],
    };
    site.target().script = () => {
      isCut = true;
      return delivered;
    };
    await site.startQueue({ store: lossy });
    await waitFor("it to be sent", () => site.target().sent.length === 1);
    site.target().script = () => delivered;
    await site.startQueue();
    await site.pass(0);
    const [first, second] = site.target().sent;
    expect(second).toEqual(first);
    expect(await site.states()).toEqual(["delivered"]);
  });
});

describe("a store in trouble", () => {
  test("holds outcomes until it is well; nothing is sent twice", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2");
    let failures = 0;
    const write: Store["write"] = (whose, work) => {
      if (site.target().sent.length === 0 || failures >= 2) return site.store.write(whose, work);
      failures += 1;
      return Promise.reject(new StoreError("unavailable", "disk full", undefined));
    };
    await site.startQueue({ store: { read: site.store.read, write } });
    await waitFor("both to be recorded", async () =>
      (await site.states()).every((state) => state === "delivered"),
    );
    expect(failures).toBe(2);
    expect(site.target().sent).toHaveLength(2);
  });

  test("does not hold up the stop", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    const write: Store["write"] = (whose, work) =>
      site.target().sent.length === 0
        ? site.store.write(whose, work)
        : Promise.reject(new StoreError("unavailable", "disk full", undefined));
    const queue = await site.startQueue({ store: { read: site.store.read, write } });
    await waitFor("it to be sent", () => site.target().sent.length === 1);
    await queue.stop(AbortSignal.timeout(50));
    expect(await site.states()).toEqual(["waiting"]);
  });

  test("an outcome that it refuses holds up no other", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S3");
    let refused = 0;
    const write: Store["write"] = async (whose, work) =>
      await site.store.write(whose, async (tx) => {
        const result = await work(tx);
        const done = await tx
          .selectFrom("deliveries")
          .select("id")
          .where("order_key", "=", "S2")
          .where("state", "=", "delivered")
          .executeTakeFirst();
        if (done === undefined) return result;
        refused += 1;
        throw new StoreError("refused", "constraint", undefined);
      });
    await site.startQueue({ store: { read: site.store.read, write } });
    await waitFor("the others to be recorded", async () => {
      const states = await site.states();
      return states[0] === "delivered" && states[2] === "delivered";
    });
    await site.pass(10 * secondMs);
    expect((await site.states())[1]).toBe("waiting");
    expect(refused).toBeGreaterThan(0);
    expect(site.target().sent).toHaveLength(3);
  });
});
