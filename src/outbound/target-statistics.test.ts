import { expect, test } from "vitest";
import { DeliverySite, minute } from "../../test/support/delivery-site.ts";
import { listOutboundTargets } from "../store/outbound/outbound-targets.ts";
import { TargetCounters } from "./target-statistics.ts";

test("attempts are counted by target and by what became of them", async () => {
  const site = await DeliverySite.open();
  const [host] = await listOutboundTargets(site.store.read);
  if (host === undefined) throw new Error("the site has a target");
  const counters = new TargetCounters();
  const before = counters.statistics([host], site.now)[0]?.attempts;
  const attempt = { id: 1, at: 1, durationMs: 1 };
  counters.counterOf(host.id)({ ...attempt, kind: "delivered", sha256: null, size: null });
  counters.counterOf(host.id)({ ...attempt, kind: "postponed", dueAt: 2 });
  counters.counterOf(host.id)({ ...attempt, kind: "postponed", dueAt: 2 });
  counters.counterOf(host.id + 1)({ ...attempt, kind: "postponed", dueAt: 2 });
  const none = { delivered: 0, later: 0, dead: 0, nameTaken: 0, dropped: 0, postponed: 0 };
  expect(before).toEqual(none);
  expect(counters.statistics([host], site.now)[0]?.attempts).toEqual({ ...none, delivered: 1, postponed: 2 });
});

test("the age of the oldest is read anew for another list of targets alone, and is never below 0", async () => {
  const site = await DeliverySite.open();
  const counters = new TargetCounters();
  const read = async () => {
    const targets = await listOutboundTargets(site.store.read);
    await counters.readAges(site.store.read, targets);
    return targets;
  };
  const empty = await read();
  await site.complete("S1");
  await counters.readAges(site.store.read, empty);
  const ageOf = (targets: typeof empty, now: number) => counters.statistics(targets, now)[0]?.oldestAgeMs;
  expect(ageOf(empty, site.now + minute)).toBe(0);
  const one = await read();
  expect(one).not.toBe(empty);
  expect(ageOf(one, site.now + minute)).toBe(minute);
  expect(ageOf(one, site.now - minute)).toBe(0);
});

test("a target is paused until the very moment at which its pause ends", async () => {
  const site = await DeliverySite.open();
  const [host] = await listOutboundTargets(site.store.read);
  if (host === undefined) throw new Error("the site has a target");
  const paused = [{ ...host, pausedUntil: site.now }];
  const isPausedAt = (now: number) => new TargetCounters().statistics(paused, now)[0]?.isPaused;
  expect([isPausedAt(site.now - 1), isPausedAt(site.now)]).toEqual([true, false]);
});
