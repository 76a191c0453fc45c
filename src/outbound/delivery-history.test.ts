/**
 * Random histories of the queue: stops are completed, targets answer as they like, time passes, dead letters are asked for
 * again, the daemon stops and starts. After each step the store is as it must always be, and each target was given what it
 * was given in the right order.
 */
import { expect, test } from "vitest";
import { resendDelivery, retryDelivery } from "../operations/deliveries/repeat-delivery.ts";
import type { DeliveryOutcome } from "./target.ts";
import { DeliverySite, failure, unreachable } from "../../test/support/delivery-site.ts";
import { randomOf } from "../../test/support/random-numbers.ts";
import { hourMs } from "../lib/durations.ts";
import { sampled } from "../../test/support/sampled.ts";

const targets = ["a", "b"].map((name) => ({ name, takesCompletions: true }));
const stopNbrs = ["S1", "S2", "S3", "s3"];

type Row = Awaited<ReturnType<DeliverySite["rows"]>>[number];

function linesOf(rows: readonly Row[]): ReadonlyMap<string, readonly Row[]> {
  const lines = Map.groupBy(rows, (row) => `${row.target_id} ${row.order_key}`);
  for (const line of lines.values()) line.sort((a, b) => a.line_nbr - b.line_nbr || a.id - b.id);
  return lines;
}

function isOpenRow({ state }: Row): boolean {
  return state === "waiting" || state === "behind";
}

/** The first of each line is waiting, all others are behind it; the numbers of the targets are those of the rows. */
async function checkStore(site: DeliverySite): Promise<void> {
  // As of one moment: outcomes are being recorded.
  const { rows, counted } = await site.store.asOfNow(async (read) => ({
    rows: await site.rows(read),
    counted: await read.selectFrom("outbound_targets").selectAll().execute(),
  }));
  for (const line of linesOf(rows.filter(isOpenRow)).values())
    expect(line.map(({ state }) => state)).toEqual(["waiting", ...Array(line.length - 1).fill("behind")]);
  for (const target of counted) {
    const own = rows.filter((row) => row.target_id === target.id);
    expect(target.open_count).toBe(own.filter(isOpenRow).length);
    expect(target.dead_count).toBe(own.filter(({ state }) => state === "dead").length);
  }
  expect(new Set(rows.map((row) => `${row.target_id} ${row.name}`)).size).toBe(rows.length);
}

interface History {
  readonly site: DeliverySite;
  readonly random: () => number;
  /** The deliveries that were asked for again; their order is another one. */
  readonly retried: Set<string>;
}

function outcomeOf(random: () => number, name: string): DeliveryOutcome {
  const dice = random();
  if (dice < 0.5) return { kind: "delivered" };
  if (dice < 0.65) return failure();
  if (dice < 0.75) return failure({ retryAfterMs: random() * hourMs });
  if (dice < 0.85) return failure({ isPermanent: true });
  if (dice < 0.92) return { kind: "nameTaken", name };
  return dice < 0.96 ? unreachable : failure({ isPermanent: true, scope: "target" }, "credentials");
}

function begin(site: DeliverySite, random: () => number): void {
  for (const { name } of targets) {
    const target = site.target(name);
    target.concurrency = 1 + Math.floor(random() * 3);
    target.script = ({ files: [file] }) => outcomeOf(random, file?.name ?? "");
  }
}

/** A dead one, or one that was delivered. */
async function askAgain({ site, random, retried }: History): Promise<void> {
  const rows = await site.rows();
  const isResend = random() < 0.5;
  const one = isResend
    ? rows.filter(({ state }) => state === "delivered")[Math.floor(random() * rows.length)]
    : rows.find(({ state }) => state === "dead");
  if (one === undefined) return;
  retried.add(one.guid);
  const again = isResend ? resendDelivery : retryDelivery;
  const outcome = await site.store.write("site", (tx) => again(tx, { id: one.id, now: site.now }));
  expect(outcome.kind).toBe("queued");
}

async function step(history: History): Promise<void> {
  const { site, random } = history;
  const dice = random();
  if (dice < 0.45) {
    const count = 1 + Math.floor(random() * 4);
    const some = Array.from(
      { length: count },
      () => stopNbrs[Math.floor(random() * stopNbrs.length)] ?? "S1",
    );
    await site.complete(...some);
  } else if (dice < 0.75) site.now += Math.floor(random() * random() * 8 * hourMs);
  else if (dice < 0.9) await askAgain(history);
  else {
    // The outcome of what is under way may get lost, as at a crash.
    await site.queue.stop(random() < 0.5 ? AbortSignal.abort() : AbortSignal.timeout(1_000));
    await site.startQueue();
  }
  if (random() < 0.7) await site.queue.settled();
}

/** Of one stop a target is never given an earlier one after a later one, but for what was asked for again. */
async function checkOrder({ site, retried }: History): Promise<void> {
  const rows = await site.rows();
  const byGuid = new Map(rows.map((row) => [row.guid, row]));
  for (const { name } of targets) {
    const last = new Map<string, number>();
    for (const { id } of site.target(name).sent) {
      const row = byGuid.get(id);
      if (row === undefined || retried.has(id)) continue;
      expect(row.id).toBeGreaterThanOrEqual(last.get(row.order_key) ?? 0);
      last.set(row.order_key, row.id);
    }
  }
}

const seeds = Array.from({ length: 12 }, (_, index) => index + 1);

test.each(sampled(seeds, 5))(
  "history %i: lines, numbers and order hold at each step, and at the end everything is done",
  async (seed) => {
    const random = randomOf(seed);
    const site = await DeliverySite.open({ targets });
    site.queue = await site.startQueue();
    begin(site, random);
    const history: History = { site, random, retried: new Set() };
    for (let count = 0; count < 40; count += 1) {
      await step(history);
      await checkStore(site);
    }
    for (const { name } of targets) site.target(name).script = () => ({ kind: "delivered" });
    for (let count = 0; count < 20; count += 1) await site.pass(8 * hourMs);
    await checkStore(site);
    await checkOrder(history);
    expect((await site.rows()).filter(isOpenRow)).toEqual([]);
    const texts = Map.groupBy(
      targets.flatMap(({ name }) => site.target(name).sent),
      ({ id }) => id,
    );
    for (const sent of texts.values()) expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
  },
);
