import { expect, test } from "vitest";
import { DeliverySite } from "../../test/support/delivery-site.ts";
import { listOutboundTargets } from "../store/outbound/outbound-targets.ts";
import { TargetCounters } from "./target-statistics.ts";
import { minuteMs } from "../lib/durations.ts";

test("attempts are counted by target and by what became of them", async () => {
  const site = await DeliverySite.open();
  const [host] = await listOutboundTargets(site.store.read);
  if (host === undefined) throw new Error("the site has a target");
  const counters = new TargetCounters();
  const before = { ...counters.statistics([host], site.now)[0]?.attempts };
  const due = { dueAt: 1, attempts: 0, firstAttemptAt: null, createdAt: 0 };
  const attempt = { id: 1, at: 1, durationMs: 1 };
  counters.counterOf(host.id)({ ...attempt, kind: "delivered", sha256: null, size: null }, due);
  counters.counterOf(host.id)({ ...attempt, kind: "postponed", dueAt: 2 }, due);
  counters.counterOf(host.id)({ ...attempt, kind: "postponed", dueAt: 2 }, due);
  counters.counterOf(host.id + 1)({ ...attempt, kind: "postponed", dueAt: 2 }, due);
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
  expect(ageOf(empty, site.now + minuteMs)).toBe(0);
  const one = await read();
  expect(one).not.toBe(empty);
  expect(ageOf(one, site.now + minuteMs)).toBe(minuteMs);
  expect(ageOf(one, site.now - minuteMs)).toBe(0);
});

test("a target is paused until the very moment at which its pause ends", async () => {
  const site = await DeliverySite.open();
  const [host] = await listOutboundTargets(site.store.read);
  if (host === undefined) throw new Error("the site has a target");
  const paused = [{ ...host, pausedUntil: site.now }];
  const isPausedAt = (now: number) => new TargetCounters().statistics(paused, now)[0]?.isPaused;
  expect([isPausedAt(site.now - 1), isPausedAt(site.now)]).toEqual([true, false]);
});

test("the lag of a delivery counts from when it was due, or from the first of its attempts", async () => {
  const site = await DeliverySite.open();
  const [host] = await listOutboundTargets(site.store.read);
  if (host === undefined) throw new Error("the site has a target");
  const counters = new TargetCounters();
  const count = counters.counterOf(host.id);
  const made = { id: 1, at: 9_000, durationMs: 1_000, kind: "delivered", sha256: null, size: null } as const;
  count(made, { dueAt: 6_000, attempts: 0, firstAttemptAt: null, createdAt: 0 });
  count(made, { dueAt: 8_900, attempts: 3, firstAttemptAt: 2_000, createdAt: 0 });
  count(made, { dueAt: 8_900, attempts: 3, firstAttemptAt: null, createdAt: 9_000 });
  count(
    { id: 1, at: 9_000, durationMs: 1_000, kind: "postponed", dueAt: 2 },
    { dueAt: 1, attempts: 0, firstAttemptAt: null, createdAt: 0 },
  );
  const [statistics] = counters.statistics([host], site.now);
  expect(statistics?.lags.sum).toBe(4 + 8 + 1);
  expect(statistics?.lags.cumulated().at(-1)).toBe(3);
});
