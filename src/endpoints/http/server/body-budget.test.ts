import { describe, expect, it } from "vitest";
import { BodyBudget, type BodyShare } from "./body-budget.ts";

const never = new AbortController().signal;
const limits = { maxBodyBytes: 100, maxBodyBytesInWork: 250, maxRequestsInFlight: 6 };
const longMs = 60_000;

/** Tells in which order shares are given. */
function orderOf(shares: Readonly<Record<string, Promise<BodyShare>>>): string[] {
  const order: string[] = [];
  for (const [name, share] of Object.entries(shares))
    share.then(
      () => order.push(name),
      () => order.push(`no ${name}`),
    );
  return order;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("the budget of bodies in work", () => {
  it("is given out in order of arrival, also when a smaller one behind would fit", async () => {
    const budget = new BodyBudget(() => limits);
    const [first, second] = [
      await budget.reserve(100, longMs, never),
      await budget.reserve(100, longMs, never),
    ];
    const order = orderOf({
      large: budget.reserve(100, longMs, never),
      small: budget.reserve(10, longMs, never),
    });
    await settled();
    expect([order, budget.inWork, budget.waiting]).toEqual([[], 200, 2]);
    first.release();
    first.release();
    await settled();
    expect([order, budget.inWork, budget.waiting]).toEqual([["large", "small"], 210, 0]);
    second.release();
    expect(budget.inWork).toBe(110);
  });

  it("gets back what a body did not need", async () => {
    const budget = new BodyBudget(() => limits);
    const first = await budget.reserve(200, longMs, never);
    const order = orderOf({ next: budget.reserve(100, longMs, never) });
    first.reduceTo(150);
    first.reduceTo(170);
    await settled();
    expect([order, budget.inWork]).toEqual([["next"], 250]);
    first.release();
    expect(budget.inWork).toBe(100);
  });

  it("lets a body through alone that is larger than all of it", async () => {
    const budget = new BodyBudget(() => ({ ...limits, maxBodyBytesInWork: 10 }));
    const first = await budget.reserve(300, longMs, never);
    const order = orderOf({ next: budget.reserve(1, longMs, never) });
    await settled();
    expect(order).toEqual([]);
    first.release();
    await settled();
    expect(order).toEqual(["next"]);
  });

  it("is never less than the largest body", async () => {
    const budget = new BodyBudget(() => ({ ...limits, maxBodyBytesInWork: 10 }));
    await budget.reserve(40, longMs, never);
    await budget.reserve(60, longMs, never);
    expect(budget.inWork).toBe(100);
  });

  it("loses no place to a client that leaves, and lets on who waited behind it", async () => {
    const budget = new BodyBudget(() => limits);
    await budget.reserve(200, longMs, never);
    const leaving = new AbortController();
    const order = orderOf({
      large: budget.reserve(100, longMs, leaving.signal),
      small: budget.reserve(50, longMs, never),
    });
    leaving.abort(new Error("gone"));
    await settled();
    expect([order.toSorted(), budget.inWork, budget.waiting]).toEqual([["no large", "small"], 250, 0]);
    await expect(budget.reserve(1, longMs, leaving.signal)).rejects.toThrow("gone");
  });

  it("refuses with 999 and Retry-After who has waited its time, and who comes when half of all requests wait", async () => {
    const budget = new BodyBudget(() => limits);
    await budget.reserve(250, longMs, never);
    const refusal = { code: "overloaded", headers: { "retry-after": "5" } };
    await expect(budget.reserve(1, 1, never)).rejects.toMatchObject(refusal);
    const order = orderOf(
      Object.fromEntries(["a", "b", "c"].map((name) => [name, budget.reserve(1, longMs, never)])),
    );
    await expect(budget.reserve(1, longMs, never)).rejects.toMatchObject(refusal);
    expect([order, budget.waiting]).toEqual([[], 3]);
  });

  it("lets on who waits when a reload has made it larger", async () => {
    let maxBodyBytesInWork = 100;
    const budget = new BodyBudget(() => ({ ...limits, maxBodyBytesInWork }));
    await budget.reserve(100, longMs, never);
    const order = orderOf({ next: budget.reserve(100, longMs, never) });
    maxBodyBytesInWork = 200;
    budget.refresh();
    await settled();
    expect(order).toEqual(["next"]);
  });

  it("turns everybody away once it is closed", async () => {
    const budget = new BodyBudget(() => limits);
    await budget.reserve(250, longMs, never);
    const order = orderOf({
      one: budget.reserve(250, longMs, never),
      two: budget.reserve(1, longMs, never),
    });
    budget.close();
    await settled();
    expect([order, budget.waiting]).toEqual([["no one", "no two"], 0]);
    await expect(budget.reserve(1, longMs, never)).rejects.toMatchObject({ code: "overloaded" });
  });
});
