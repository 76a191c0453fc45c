/** A target that is in trouble itself: it pauses, and nothing that waits for it is lost or reordered. */
import { describe, expect, test } from "vitest";
import { saveTargetPause } from "../store/outbound/outbound-targets.ts";
import { DeliverySite, failure, start, unreachable } from "../../test/support/delivery-site.ts";
import { hourMs, minuteMs, secondMs } from "../lib/durations.ts";

const delivered = { kind: "delivered" } as const;

function stops(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `S${index}`);
}

async function targetRow(site: DeliverySite, name = "host") {
  return await site.store.read
    .selectFrom("outbound_targets")
    .selectAll()
    .where("name", "=", name)
    .executeTakeFirstOrThrow();
}

describe("a target that is in trouble itself", () => {
  test("is left alone by the schedule, at most 10 minutes; then one delivery is tried alone", async () => {
    const site = await DeliverySite.open();
    await site.complete(...stops(50));
    const target = site.target();
    target.concurrency = 1;
    target.script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    expect(target.sent).toHaveLength(1);
    target.concurrency = 4;
    const pauses = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 10 * minuteMs, 10 * minuteMs];
    for (const [index, pause] of pauses.entries()) {
      expect(await targetRow(site)).toMatchObject({ failures: index + 1, paused_until: site.now + pause });
      await site.pass(pause - 1);
      expect(target.sent).toHaveLength(index + 1);
      await site.pass(1);
      expect(target.sent).toHaveLength(index + 2);
    }
    expect((await site.rows()).filter(({ attempts }) => attempts === 0)).toHaveLength(43);
  });

  test("is open again after one success, and all goes", async () => {
    const site = await DeliverySite.open();
    await site.complete(...stops(50));
    const target = site.target();
    target.script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    expect(target.sent).toHaveLength(4);
    target.mostActive = 0;
    let tried = 0;
    target.script = () => {
      tried += 1;
      if (tried === 1) expect(target.active).toBe(1);
      return delivered;
    };
    await site.pass(5 * secondMs);
    expect(new Set(await site.states())).toEqual(new Set(["delivered"]));
    expect(target.mostActive).toBe(4);
    expect(await targetRow(site)).toMatchObject({ failures: 0, paused_until: 0 });
    expect(site.lines.map(({ msg }) => msg)).toContain("the target takes deliveries again");
  });

  test("attempts that were under way together count as one failure", async () => {
    const site = await DeliverySite.open();
    await site.complete(...stops(10));
    site.target().script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    expect(await targetRow(site)).toMatchObject({ failures: 1, paused_until: start + 5 * secondMs });
  });

  test("is open again when a delivery alone is refused: it has answered", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2");
    site.target().concurrency = 1;
    site.target().script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    site.target().script = () => failure({ isPermanent: true }, "refused");
    await site.pass(5 * secondMs);
    expect(await targetRow(site)).toMatchObject({ failures: 0 });
    expect(await site.states()).toEqual(["dead", "dead"]);
  });

  test("is left alone for as long as it asks for, and no delivery is tried meanwhile", async () => {
    const site = await DeliverySite.open();
    site.random = 0;
    await site.complete("S1", "S2");
    site.target().concurrency = 1;
    site.target().script = () => failure({ scope: "target", retryAfterMs: 2 * hourMs });
    await site.startQueue();
    await site.pass(0);
    await site.pass(2 * hourMs - 1);
    expect(site.target().sent).toHaveLength(1);
    await site.pass(1);
    expect(site.target().sent).toHaveLength(2);
  });

  const whole = { scope: "target", isPermanent: true } as const;

  test.each([
    ["refuses the credentials", failure(whole, "credentials")],
    ["gives no right", failure(whole, "notAllowed")],
    ["has moved", failure(whole, "refused")],
    ["does not answer", unreachable],
  ])("and %s loses nothing, and each stop has its order, however long that lasts", async (_, fault) => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S1", "S2", "S1", "S2");
    const target = site.target();
    target.script = () => fault;
    await site.startQueue();
    await site.pass(0);
    for (let tries = 0; tries < 40; tries += 1) await site.pass(7 * hourMs);
    expect(await site.states()).toEqual(["waiting", "behind", "waiting", "behind", "behind"]);
    expect(await targetRow(site)).toMatchObject({ open_count: 5, dead_count: 0 });
    const before = target.sent.length;
    target.script = () => delivered;
    for (let waits = 0; waits < 3; waits += 1) await site.pass(7 * hourMs);
    expect(new Set(await site.states())).toEqual(new Set(["delivered"]));
    const names = target.names.slice(before);
    for (const stop of ["s1", "s2"]) {
      const own = names.filter((name) => name.startsWith(stop));
      expect(own).toEqual(own.toSorted());
    }
    expect(names).toHaveLength(5);
  });

  test("has all that it put off tried at once when somebody has seen to it, but nothing that waits by its own fault", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2", "S3");
    const target = site.target();
    target.script = ({ files: [file] }) => (file?.name.startsWith("s3") ? failure() : unreachable);
    await site.startQueue();
    for (let tries = 0; tries < 8; tries += 1) await site.pass(7 * hourMs);
    const before = target.sent.length;
    target.script = () => delivered;
    await site.configure({});
    await site.startQueue();
    await site.pass(0);
    await site.pass(secondMs);
    expect(await site.states()).toEqual(["delivered", "delivered", "waiting"]);
    expect(target.names.slice(before).map((name) => name.slice(0, 2))).toEqual(["s1", "s2"]);
  });

  test("does not spend the 72 hours of a delivery, which then fails by its own fault", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    site.target().script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    for (let tries = 0; tries < 14; tries += 1) await site.pass(7 * hourMs);
    site.target().script = () => failure();
    await site.pass(7 * hourMs);
    expect((await site.rows())[0]).toMatchObject({ state: "waiting", first_attempt_at: site.now });
    for (let tries = 0; tries < 14; tries += 1) await site.pass(7 * hourMs);
    expect(await site.states()).toEqual(["dead"]);
  });

  test("and refuses the credentials is tried at most once an hour, so that no account is locked", async () => {
    const site = await DeliverySite.open();
    await site.complete(...stops(20));
    const target = site.target();
    target.concurrency = 1;
    target.script = () => failure(whole, "credentials");
    await site.startQueue();
    await site.pass(0);
    const pauses = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, hourMs, hourMs];
    for (const [index, pause] of pauses.entries()) {
      expect(await targetRow(site)).toMatchObject({ failures: index + 1, paused_until: site.now + pause });
      await site.pass(pause);
      expect(target.sent).toHaveLength(index + 2);
    }
  });

  test("stays paused over a restart", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2");
    site.target().concurrency = 1;
    site.target().script = () => unreachable;
    const queue = await site.startQueue();
    await site.pass(0);
    await queue.stop(AbortSignal.timeout(60_000));
    await site.startQueue();
    await site.pass(5 * secondMs - 1);
    expect(site.target().sent).toHaveLength(1);
    await site.pass(1);
    expect(site.target().sent).toHaveLength(2);
    expect(await targetRow(site)).toMatchObject({ failures: 2 });
  });

  test("is tried at once when another process ends its pause, and what was read before the pause does not end it", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1", "S2");
    const target = site.target();
    target.concurrency = 1;
    target.script = () => unreachable;
    await site.startQueue();
    await site.pass(0);
    const { id, paused_until } = await targetRow(site);
    const write = (pausedUntil: number) =>
      site.store.write("site", (tx) => saveTargetPause(tx, { id, failures: 1, pausedUntil }));
    await site.pass(secondMs);
    await write(start - secondMs);
    await site.pass(0);
    await write(paused_until);
    await site.pass(0);
    expect(target.sent).toHaveLength(1);
    target.script = () => delivered;
    await write(site.now);
    await site.pass(0);
    expect(target.names).toEqual(["s1_20261105_080000.xml", "s2_20261105_080000.xml"]);
    expect(await targetRow(site)).toMatchObject({ failures: 0, paused_until: 0 });
  });

  test("a pause from a time when the clock was wrong does not last", async () => {
    const site = await DeliverySite.open();
    await site.complete("S1");
    await site.store.write("site", async (tx) => {
      const later = start + 10_000 * hourMs;
      await tx.updateTable("outbound_targets").set({ failures: 3, paused_until: later }).execute();
      await tx.updateTable("deliveries").set({ due_at: later }).execute();
    });
    await site.startQueue();
    await site.pass(0);
    expect(await site.states()).toEqual(["delivered"]);
  });
});
