/** Deliveries that an administrator gives up: the later ones of the stop go on, and who did so is kept. */
import { describe, expect, test } from "vitest";
import { pruneDelivered } from "../../outbound/prune-deliveries.ts";
import { giveUpDelivery } from "./give-up-delivery.ts";
import { listToGiveUp } from "../../store/outbound/delivery-requests.ts";
import { countDeliveries } from "../../store/outbound/delivery-lists.ts";
import { findDelivery } from "../../store/outbound/delivery-queries.ts";
import { retryDelivery } from "./repeat-delivery.ts";
import type { OutboundTarget } from "../../store/outbound/outbound-targets.ts";
import { listOutboundTargets } from "../../store/outbound/outbound-targets.ts";
import { DeliverySite, failure, start, unreachable } from "../../../test/support/delivery-site.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { dayMs, hourMs, minuteMs } from "../../lib/durations.ts";

const delivered = { kind: "delivered" } as const;
/** As a web server says that takes all but this one. */
const forbidden = failure({ scope: "target", isPermanent: true, message: "403" }, "notAllowed");
const first = "s1_20261105_080000.xml";

/** Two deliveries of S1 and one of S2; the first is refused, for ever, as by the fault of the whole target. */
async function withHeldLine() {
  const site = await DeliverySite.open();
  await site.complete("S1", "S1", "S2");
  site.target().script = ({ files: [file] }) => (file?.name === first ? forbidden : delivered);
  await site.startQueue();
  await site.pass(0);
  const giveUp = (id: number) =>
    site.store.write("site", (tx) =>
      giveUpDelivery(tx, { id, now: site.now, by: "anna", reason: "they never take it" }),
    );
  return { site, giveUp };
}

async function target(site: DeliverySite): Promise<OutboundTarget> {
  const [found] = await listOutboundTargets(site.store.read);
  if (found === undefined) throw new Error("there is no target");
  return found;
}

describe("a delivery that is refused for ever by the fault of its target", () => {
  test("holds the later ones of its stop up until it is given up; then they go", async () => {
    const { site, giveUp } = await withHeldLine();
    for (let days = 0; days < 10; days += 1) await site.pass(dayMs);
    expect(await site.states()).toEqual(["waiting", "behind", "delivered"]);
    expect(await giveUp(1)).toEqual({
      kind: "givenUp",
      delivery: expect.objectContaining({ id: 1, state: "waiting" }),
      next: { id: 2, name: "s1_20261105_080001.xml" },
    });
    await site.pass(2 * hourMs);
    expect(await site.states()).toEqual(["dropped", "delivered", "delivered"]);
    expect(await target(site)).toMatchObject({ open: 0, dead: 0, failures: 0 });
  });

  test("tells who gave it up, when and why, also after it was asked for again", async () => {
    const { site, giveUp } = await withHeldLine();
    await giveUp(1);
    const tell = async () => await findDelivery(site.store.read, 1);
    expect(await tell()).toMatchObject({
      ...{ state: "dropped", fault: "givenUp", faultText: "given up by anna: they never take it" },
      repeats: [
        {
          ...{ action: "giveUp", askedBy: "anna", reason: "they never take it", askedAt: site.now },
          ...{ state: "waiting", attempts: 1, fault: "notAllowed" },
        },
      ],
    });
    site.target().script = () => delivered;
    const retry = await site.store.write("site", (tx) => retryDelivery(tx, { id: 1, now: site.now }));
    expect(retry).toMatchObject({ kind: "queued", delivery: { state: "waiting" } });
    await site.pass(2 * hourMs);
    expect(await tell()).toMatchObject({
      state: "delivered",
      repeats: [{ action: "giveUp" }, { action: "again", state: "dropped", fault: "givenUp", askedBy: null }],
    });
    expect(await target(site)).toMatchObject({ open: 0, dead: 0 });
  });
});

describe("giving up", () => {
  test("one that stands behind another, or is dead, works as well, and lets nothing overtake", async () => {
    const { site, giveUp } = await withHeldLine();
    expect(await giveUp(2)).toMatchObject({ kind: "givenUp", next: undefined });
    expect(await site.states()).toEqual(["waiting", "dropped", "delivered"]);
    site.target().script = () => failure({ isPermanent: true });
    await site.pass(2 * hourMs);
    expect(await site.states()).toEqual(["dead", "dropped", "delivered"]);
    expect(await giveUp(1)).toMatchObject({ kind: "givenUp", next: undefined });
    expect(await target(site)).toMatchObject({ open: 0, dead: 0 });
    expect(await countDeliveries(site.store.read, { target: "host", state: "dead" })).toBe(0);
  });

  test("what was delivered, dropped or never there is refused", async () => {
    const { giveUp } = await withHeldLine();
    expect(await giveUp(3)).toMatchObject({ kind: "refused", delivery: { state: "delivered" } });
    await giveUp(1);
    expect(await giveUp(1)).toMatchObject({ kind: "refused", delivery: { state: "dropped" } });
    expect(await giveUp(99)).toEqual({ kind: "unknown", wasRemoved: false });
  });

  test("one that is under way leaves it delivered when the other side takes it, and the next comes after it", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S1");
    const answer = Promise.withResolvers<void>();
    site.target().script = async ({ files: [file] }) => {
      if (file?.name === first) await answer.promise;
      return delivered;
    };
    await site.startQueue();
    await waitFor("the first to be under way", () => site.target().sent.length === 1);
    const by = { by: "anna", reason: "it hangs" };
    await site.store.write("site", (tx) => giveUpDelivery(tx, { id: 1, now: site.now, ...by }));
    expect(await site.states()).toEqual(["dropped", "waiting"]);
    site.queue.wake();
    answer.resolve();
    await site.pass(0);
    await waitFor("both to be delivered", async () =>
      (await site.states()).every((state) => state === "delivered"),
    );
    expect(site.target().names).toEqual([first, "s1_20261105_080001.xml"]);
    expect(await target(site)).toMatchObject({ open: 0, dead: 0 });
    expect(await findDelivery(site.store.read, 1)).toMatchObject({ repeats: [{ action: "giveUp" }] });
  });

  test("one that the queue has read already, and that waits for the end of a pause, is not tried any more", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S3");
    const host = site.target();
    host.concurrency = 1;
    host.script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    expect(host.names).toEqual([first]);
    const by = { by: "anna", reason: "nobody wants it" };
    await site.store.write("site", (tx) => giveUpDelivery(tx, { id: 2, now: site.now, ...by }));
    host.script = () => delivered;
    await site.pass(minuteMs);
    expect(await site.states()).toEqual(["delivered", "dropped", "delivered"]);
    expect(host.names.filter((name) => name.startsWith("s2"))).toEqual([]);
  });

  test("is possible for all of a target, open and dead, in pages", async () => {
    const { site } = await withHeldLine();
    const page = async (afterId: number) =>
      await listToGiveUp(site.store.read, { target: "host", afterId, limit: 1 });
    expect([await page(0), await page(1), await page(2)]).toEqual([[1], [2], []]);
  });

  test("keeps what is told of it for as long as of what is delivered, then it is removed", async () => {
    const { site, giveUp } = await withHeldLine();
    await site.pass(100 * dayMs);
    await giveUp(1);
    await giveUp(2);
    const prune = () =>
      pruneDelivered(
        site.store,
        { companyId: site.companyId, before: site.now - 90 * dayMs },
        new AbortController().signal,
      );
    await prune();
    expect((await site.rows()).map(({ id }) => id)).toEqual([1, 2]);
    site.now = start + 100 * dayMs + 90 * dayMs + minuteMs;
    await prune();
    expect(await site.rows()).toEqual([]);
  });
});
