import { expect, it } from "vitest";
import { FairQueue } from "./fair-queue.ts";
import { minuteMs } from "../durations.ts";

interface Job {
  readonly companyCode: string;
  readonly number: number;
}

function queueOf(places: number, ...jobs: readonly (readonly [companyCode: string, number: number])[]) {
  const clock = { ms: 0, now: () => clock.ms };
  const queue = new FairQueue<Job>(clock, places);
  for (const [companyCode, number] of jobs) queue.add({ companyCode, number });
  return { clock, queue };
}

it("gives all places to a company that is alone", () => {
  const { queue } = queueOf(2, ["ACME", 1], ["ACME", 2], ["ACME", 3]);
  expect([queue.take()?.number, queue.take()?.number]).toEqual([1, 2]);
  expect(queue.isReady).toBe(false);
  expect(queue.take()).toBeUndefined();
  expect(queue.size).toBe(1);
});

it("keeps one place from a company while another has sent lately, until its job is done", () => {
  const { clock, queue } = queueOf(2, ["OTHER", 0], ["ACME", 1], ["ACME", 2]);
  const [other, first] = [queue.take(), queue.take()];
  expect([other?.number, first?.number]).toEqual([0, 1]);
  if (other !== undefined) queue.done(other);
  expect(queue.take()).toBeUndefined();
  if (first !== undefined) queue.done(first);
  expect(queue.take()?.number).toBe(2);
  queue.add({ companyCode: "ACME", number: 3 });
  clock.ms += 11 * minuteMs;
  queue.add({ companyCode: "ACME", number: 4 });
  expect(queue.take()?.number).toBe(3);
});

it("takes back a job that waits, and rejects the others at the end without a place for them", () => {
  const { queue } = queueOf(1, ["ACME", 1], ["OTHER", 2], ["ACME", 3]);
  const withdrawn = { companyCode: "OTHER", number: 4 };
  queue.add(withdrawn);
  queue.remove(withdrawn);
  const rejected: number[] = [];
  queue.rejectAll(({ number }) => rejected.push(number));
  expect(rejected).toEqual([1, 2, 3]);
  expect(queue.size).toBe(0);
  queue.add({ companyCode: "ACME", number: 5 });
  expect(queue.take()?.number).toBe(5);
});
