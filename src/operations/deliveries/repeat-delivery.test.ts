/** Deliveries that somebody asks for again: dead ones and delivered ones, in the order of their stops, with their history. */
import { describe, expect, test } from "vitest";
import { hastenAll, resendDelivery, retryDelivery } from "./repeat-delivery.ts";
import { type DeliverySelection, listDeliveryIds } from "../../store/outbound/delivery-lists.ts";
import { findDelivery } from "../../store/outbound/delivery-queries.ts";
import { pruneDelivered } from "../../outbound/prune-deliveries.ts";
import { DeliverySite, failure, start, unreachable } from "../../../test/support/delivery-site.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { dayMs, hourMs, minuteMs, secondMs } from "../../lib/durations.ts";

const delivered = { kind: "delivered" } as const;

/** The numbers of the deliveries that the target was given, after so many. */
async function given(site: DeliverySite, before: number): Promise<readonly number[]> {
  const ids = (await site.rows()).map(({ guid }) => guid);
  return site
    .target()
    .sent.slice(before)
    .map(({ id }) => ids.indexOf(id) + 1);
}

test("all that wait for their next attempt at a target are tried at once when somebody asks for it, the oldest first", async () => {
  const site = await DeliverySite.open();
  await site.complete("S1", "S2", "S3");
  site.target().script = ({ files: [file] }) => (file?.name.startsWith("s2") ? failure() : unreachable);
  await site.startQueue({ lookEveryMs: secondMs });
  // While the target is paused one alone is tried; whether that was the first pause, the order of the answers says.
  const arePutOff = async () => (await site.rows()).every(({ due_at }) => due_at > site.now + hourMs);
  for (let tries = 0; tries < 8 || !(await arePutOff()); tries += 1) await site.pass(7 * hourMs);
  const before = site.target().sent.length;
  site.target().script = () => delivered;
  const { id: targetId } = await site.store.read
    .selectFrom("outbound_targets")
    .select("id")
    .executeTakeFirstOrThrow();
  const hasten = () => site.store.write("site", (tx) => hastenAll(tx, { targetId, now: site.now }));
  await site.pass(hourMs);
  expect(await given(site, before)).toEqual([]);
  expect(await hasten()).toBe(3);
  await waitFor("all to be delivered", async () => new Set(await site.states()).has("waiting") === false);
  expect(await given(site, before)).toEqual([1, 2, 3]);
  expect(await hasten()).toBe(0);
});

describe("a dead letter that is asked for again", () => {
  async function withDead() {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().script = () => failure({ isPermanent: true });
    await site.startQueue();
    await site.pass(0);
    site.target().script = () => delivered;
    const retry = (id = 1) => site.store.write("site", (tx) => retryDelivery(tx, { id, now: site.now }));
    return { site, retry };
  }

  test("is delivered at once, its attempts counted anew, with the same id and bytes", async () => {
    const { site, retry } = await withDead();
    site.now += 100 * hourMs;
    expect(await retry()).toMatchObject({
      kind: "queued",
      delivery: { state: "waiting" },
      newerDelivered: null,
    });
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", attempts: 0, first_attempt_at: null });
    await site.pass(0);
    expect((await site.rows())[0]).toMatchObject({ state: "delivered", attempts: 1, fault: null });
    const [first, again] = site.target().sent;
    expect(again).toMatchObject({ id: first?.id, text: first?.text, name: first?.name });
  });

  test("says that a newer one of the stop was delivered meanwhile", async () => {
    const { site, retry } = await withDead();
    site.now += minuteMs;
    await site.complete("S1");
    await site.pass(0);
    expect(await retry()).toMatchObject({
      newerDelivered: { id: 2, name: "s1_20261105_080100.xml", deliveredAt: start + minuteMs },
    });
  });

  test("goes before the later ones of its stop that are open", async () => {
    const { site, retry } = await withDead();
    site.target().script = () => failure();
    await site.complete("S1", "S1");
    await site.pass(0);
    expect(await retry()).toMatchObject({ kind: "queued", delivery: { state: "waiting" } });
    await site.complete("S1");
    expect(await site.states()).toEqual(["waiting", "behind", "behind", "behind"]);
    expect((await findDelivery(site.store.read, 2))?.behind).toMatchObject({ id: 1 });
    site.target().script = () => delivered;
    const before = site.target().sent.length;
    await site.pass(5 * secondMs);
    expect(await given(site, before)).toEqual([1, 2, 3, 4]);
  });

  test("comes after the earlier ones of its stop that are open", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S1");
    site.target().script = ({ files: [file] }) =>
      file?.name === "s1_20261105_080000.xml" ? failure({ isPermanent: true }) : delivered;
    await site.startQueue();
    await site.pass(0);
    site.target().script = () => failure({ isPermanent: true });
    await site.complete("S1");
    await site.pass(0);
    expect(await site.states()).toEqual(["dead", "delivered", "dead"]);
    const retry = (id: number) => site.store.write("site", (tx) => retryDelivery(tx, { id, now: site.now }));
    expect(await retry(1)).toMatchObject({ delivery: { state: "waiting" } });
    expect(await retry(3)).toMatchObject({ delivery: { state: "behind" } });
    site.target().script = () => delivered;
    const before = site.target().sent.length;
    await site.pass(0);
    expect(await given(site, before)).toEqual([1, 3]);
  });

  test("may be one that waits for its next attempt, which it has at once and spends", async () => {
    const { site, retry } = await withDead();
    await retry();
    site.target().script = () => failure();
    await site.pass(0);
    site.target().script = () => delivered;
    expect(await site.rows()).toMatchObject([
      { state: "waiting", attempts: 1, due_at: site.now + 5 * secondMs },
    ]);
    expect(await retry()).toMatchObject({ kind: "queued", delivery: { state: "waiting" } });
    await site.pass(0);
    expect(await site.rows()).toMatchObject([{ state: "delivered", attempts: 2 }]);
  });

  test("is one, and nothing else is", async () => {
    const { site, retry } = await withDead();
    expect(await retry(77)).toEqual({ kind: "unknown", wasRemoved: false });
    await retry();
    expect(await retry()).toMatchObject({ kind: "refused", delivery: { state: "waiting" } });
    await site.pass(0);
    expect(await retry()).toMatchObject({ kind: "refused", delivery: { state: "delivered" } });
  });
});

describe("a delivered one that is sent again", () => {
  async function withDelivered(...stopNbrs: readonly string[]) {
    const site = await DeliverySite.open();
    await site.complete(...stopNbrs);
    await site.startQueue();
    await site.pass(0);
    const resend = (id: number) =>
      site.store.write("site", (tx) => resendDelivery(tx, { id, now: site.now }));
    return { site, resend };
  }

  test("has the same id, name and bytes, and its history is kept", async () => {
    const { site, resend } = await withDelivered("S1");
    await site.store.write("site", (tx) =>
      tx
        .updateTable("deliveries")
        .set({
          collected_at: start + minuteMs,
          collected_by: "host",
          collected_from: "192.0.2.7",
          removed_at: start + hourMs,
          removed_by: "host",
          removed_from: "192.0.2.8",
        })
        .execute(),
    );
    site.now += 2 * hourMs;
    expect(await resend(1)).toMatchObject({ kind: "queued", newerDelivered: null, isTargetConfigured: true });
    const open = {
      state: "waiting",
      attempts: 0,
      delivered_at: null,
      collected_at: null,
      collected_from: null,
      removed_by: null,
      removed_from: null,
    };
    expect((await site.rows())[0]).toMatchObject(open);
    await site.pass(0);
    const [first, again] = site.target().sent;
    expect(again).toEqual({ ...first, at: start + 2 * hourMs });
    expect(await findDelivery(site.store.read, 1)).toMatchObject({
      ...{ state: "delivered", deliveredAt: start + 2 * hourMs, attempts: 1, collectedAt: null },
      repeats: [
        {
          ...{ askedAt: start + 2 * hourMs, state: "delivered", attempts: 1, deliveredAt: start },
          ...{
            collectedAt: start + minuteMs,
            collectedBy: "host",
            removedAt: start + hourMs,
            removedBy: "host",
          },
          ...{ collectedFrom: "192.0.2.7", removedFrom: "192.0.2.8" },
        },
      ],
    });
    const [target] = await site.store.read.selectFrom("outbound_targets").selectAll().execute();
    expect(target).toMatchObject({ open_count: 0, dead_count: 0 });
  });

  test("goes in the order of its stop, whatever the order of the wishes, and before what is open", async () => {
    const { site, resend } = await withDelivered("S1", "S1", "S2");
    site.target().script = () => unreachable;
    await site.complete("S1");
    await site.pass(0);
    for (const id of [2, 3, 1]) expect(await resend(id)).toMatchObject({ kind: "queued" });
    expect(await site.states()).toEqual(["waiting", "behind", "waiting", "behind"]);
    site.target().script = () => delivered;
    const before = site.target().sent.length;
    await site.pass(hourMs);
    const order = await given(site, before);
    expect(order.filter((id) => id !== 3)).toEqual([1, 2, 4]);
    expect(order).toHaveLength(4);
  });

  test("while a later one of its stop is on its way comes after it, and neither is sent twice", async () => {
    const { site, resend } = await withDelivered("S1");
    const { promise, resolve } = Promise.withResolvers<void>();
    const target = site.target();
    target.script = async () => {
      await promise;
      return delivered;
    };
    await site.complete("S1");
    site.queue.wake();
    await waitFor("the later one to be on its way", () => target.active === 1);
    expect(await resend(1)).toMatchObject({ kind: "queued", delivery: { state: "waiting" } });
    expect(await site.states()).toEqual(["waiting", "behind"]);
    await site.complete("S2");
    site.queue.wake();
    await waitFor("one of another stop to be on its way", () => target.active === 2);
    resolve();
    await site.pass(0);
    expect(await given(site, 1)).toEqual([2, 3, 1]);
    expect(new Set(await site.states())).toEqual(new Set(["delivered"]));
  });

  test("whose later one fails on its way meanwhile goes before it", async () => {
    const { site, resend } = await withDelivered("S1");
    const { promise, resolve } = Promise.withResolvers<void>();
    const target = site.target();
    target.script = async () => {
      await promise;
      return failure();
    };
    await site.complete("S1");
    site.queue.wake();
    await waitFor("the later one to be on its way", () => target.active === 1);
    await resend(1);
    resolve();
    await site.queue.settled();
    target.script = () => delivered;
    await site.pass(minuteMs);
    expect((await given(site, 1)).at(-1)).toBe(2);
    expect(await site.rows()).toMatchObject([{ state: "delivered" }, { state: "delivered", attempts: 2 }]);
  });

  test("says that a newer one of the stop is with the other side", async () => {
    const { site, resend } = await withDelivered("S1", "S1");
    expect(await resend(1)).toMatchObject({ newerDelivered: { id: 2, deliveredAt: site.now } });
    expect(await resend(2)).toMatchObject({ newerDelivered: null, delivery: { state: "behind" } });
  });

  test("is one, and nothing else is: neither a dead one, nor one that waits, nor a message", async () => {
    const { site, resend } = await withDelivered("S1", "S2");
    await resend(1);
    expect(await resend(1)).toMatchObject({ kind: "refused", delivery: { state: "waiting" } });
    await site.store.write("site", (tx) =>
      tx.updateTable("deliveries").set({ kind: "message" }).where("id", "=", 2).execute(),
    );
    expect(await resend(2)).toMatchObject({ kind: "refused", isMessage: true });
    expect(await resend(3)).toEqual({ kind: "unknown", wasRemoved: false });
  });

  test("that was removed with its age is told as such; its history goes with it", async () => {
    const { site, resend } = await withDelivered("S1");
    await resend(1);
    await site.pass(0);
    site.now += 91 * dayMs;
    await site.complete("S2");
    const old = { companyId: site.companyId, before: site.now - 90 * dayMs };
    await pruneDelivered(site.store, old, new AbortController().signal);
    expect(await resend(1)).toEqual({ kind: "unknown", wasRemoved: true });
    expect(await site.store.read.selectFrom("delivery_repeats").selectAll().execute()).toEqual([]);
  });

  test("can be chosen by stop, by target and by when it was delivered", async () => {
    const targets = ["a", "b"].map((name) => ({ name, takesCompletions: true }));
    const site = await DeliverySite.open({ targets });
    await site.complete("S1");
    await site.startQueue();
    await site.pass(0);
    site.now += hourMs;
    await site.complete("S2", "S1");
    await site.pass(0);
    const delivered = { kind: "completion", state: "delivered" } as const;
    const ids = async (selection: DeliverySelection) =>
      await listDeliveryIds(
        site.store.read,
        { ...delivered, ...selection },
        { afterId: 0, upToId: 99, limit: 99 },
      );
    expect(await ids({})).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ids({ stopNbr: "S1" })).toEqual([1, 2, 5, 6]);
    expect(await ids({ stopNbr: "s1" })).toEqual([]);
    expect(await ids({ target: "b" })).toEqual([2, 4, 6]);
    expect(await ids({ deliveredSince: start + secondMs })).toEqual([3, 4, 5, 6]);
    expect(await ids({ deliveredUntil: start + hourMs })).toEqual([1, 2]);
    expect(await ids({ deliveredSince: start + hourMs, target: "a", stopNbr: "S1" })).toEqual([5]);
    expect(await ids({ companyId: site.companyId + 1 })).toEqual([]);
  });
});
