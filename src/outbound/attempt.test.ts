import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createLogger } from "../lib/logs/log.ts";
import { type AttemptResult, attemptDelivery } from "./attempt.ts";
import type { DeliveryToRender, RenderedDelivery, RenderOrWithhold } from "./delivery-to-render.ts";
import type { DeliveryOutcome, Target } from "./target.ts";

const row: DeliveryToRender = {
  ...{ id: 7, guid: "guid", companyId: 1, companyCode: "ACME", targetId: 2, kind: "completion" },
  ...{
    subjectId: 3,
    orderKey: "S1",
    name: "s1.xml",
    dueAt: 0,
    attempts: 0,
    firstAttemptAt: null,
    createdAt: 0,
  },
};
const rendered: RenderedDelivery = {
  delivery: { id: "guid", companyCode: "ACME", files: [] },
  sha256: "ab",
  size: 5,
};
const timeoutMs = 60_000;
/** How long a target has to say that it has given up. */
const graceMs = 1_000;

let logged: string[];
let stopping: AbortController;

beforeEach(() => {
  logged = [];
  stopping = new AbortController();
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function attempt(
  deliver: Target["deliver"],
  render: RenderOrWithhold = async () => rendered,
): Promise<AttemptResult> {
  const target = { concurrency: 1, deliver, probe: () => Promise.reject(), close: async () => undefined };
  const log = createLogger({ level: "debug", destination: { write: (line) => void logged.push(line) } });
  const inUse = { target, timeoutMs };
  return attemptDelivery({ render, log, inUse, stopping: stopping.signal }, row);
}

/** A target that gives up when it is told to. */
const obedient: Target["deliver"] = (_delivery, signal) =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
const deaf: Target["deliver"] = () => new Promise(() => undefined);

describe("an attempt", () => {
  test("sends nothing when the company is another node's by the time that it is rendered", async () => {
    const deliver = vi.fn(async () => ({ kind: "delivered" }) as const);
    const target = { concurrency: 1, deliver, probe: () => Promise.reject(), close: async () => undefined };
    const log = createLogger({ level: "silent" });
    let isOurs = true;
    const render: RenderOrWithhold = async () => {
      isOurs = false;
      return rendered;
    };
    const deps = { render, log, inUse: { target, timeoutMs }, stopping: stopping.signal };
    expect(await attemptDelivery({ ...deps, isOurs: () => isOurs }, row)).toEqual({ kind: "aborted" });
    expect(deliver).not.toHaveBeenCalled();
  });

  test.each<DeliveryOutcome>([{ kind: "delivered" }, { kind: "nameTaken", name: "s1.xml" }])(
    "gives what the target says of it: %o",
    async (outcome) => {
      expect(await attempt(async () => outcome)).toEqual({ kind: "tried", outcome, rendered });
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  test("of what is withheld sends nothing", async () => {
    const deliver = vi.fn(obedient);
    const why = { kind: "postponed", dueAt: 5 } as const;
    expect(await attempt(deliver, async () => why)).toEqual({ kind: "withheld", why });
    expect(deliver).not.toHaveBeenCalled();
  });

  test("whose file cannot be made sends nothing, says so, and is tried again", async () => {
    const deliver = vi.fn(obedient);
    const result = await attempt(deliver, () => Promise.reject(new Error("the disk is gone")));
    expect(result).toMatchObject({
      kind: "unrendered",
      outcome: { kind: "failed", fault: "content", isPermanent: false, scope: "delivery" },
    });
    expect(JSON.stringify(result)).toContain("the file could not be made: the disk is gone");
    expect(deliver).not.toHaveBeenCalled();
    expect(logged.join()).toContain("the disk is gone");
  });

  test("whose file is never there is over after a quarter of an hour", async () => {
    const running = attempt(obedient, () => new Promise(() => undefined));
    await vi.advanceTimersByTimeAsync(15 * 60_000 + graceMs);
    expect(await running).toMatchObject({ kind: "unrendered", outcome: { fault: "content" } });
  });

  test("at which the target throws is a fault of ours, of this delivery alone, and logged", async () => {
    const result = await attempt(() => Promise.reject(new TypeError("undefined is not a function")));
    expect(result).toMatchObject({
      kind: "tried",
      outcome: {
        ...{ kind: "failed", fault: "protocol", isPermanent: false, scope: "delivery" },
        message: "sending failed within dropgate: undefined is not a function; the log has more",
      },
    });
    expect(logged.join()).toContain("undefined is not a function");
  });
});

describe("an attempt without an outcome", () => {
  test.each([
    ["obeys", obedient, 0],
    ["does not even hear that it is over", deaf, graceMs],
  ] as const)("is over in its time, when the target %s", async (_what, deliver, moreMs) => {
    let isOver = false;
    const running = attempt(deliver).finally(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(timeoutMs - 1);
    expect(isOver).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(isOver).toBe(moreMs === 0);
    await vi.advanceTimersByTimeAsync(moreMs);
    expect(await running).toMatchObject({
      kind: "tried",
      outcome: { kind: "failed", fault: "timeout", isPermanent: false, scope: "target" },
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("but one that comes after the time, and before it is left behind, counts", async () => {
    const late: Target["deliver"] = (_delivery, signal) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve({ kind: "delivered" })));
    const running = attempt(late);
    await vi.advanceTimersByTimeAsync(timeoutMs);
    expect(await running).toMatchObject({ kind: "tried", outcome: { kind: "delivered" } });
  });
});

describe("a stop of the daemon", () => {
  test.each([
    ["obeys", obedient],
    ["hears nothing", deaf],
  ])("ends an attempt, and nothing is known of it, when the target %s", async (_what, deliver) => {
    const running = attempt(deliver);
    await vi.advanceTimersByTimeAsync(1);
    stopping.abort(new Error("the daemon stops"));
    await vi.advanceTimersByTimeAsync(graceMs);
    expect(await running).toEqual({ kind: "aborted" });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("tells the target why, once", async () => {
    const reasons: unknown[] = [];
    const running = attempt((delivery, signal) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return obedient(delivery, signal);
    });
    await vi.advanceTimersByTimeAsync(1);
    stopping.abort("stopping");
    await vi.advanceTimersByTimeAsync(timeoutMs + graceMs);
    expect(await running).toEqual({ kind: "aborted" });
    expect(reasons).toEqual(["stopping"]);
  });

  test("before or while the file is made sends nothing", async () => {
    const deliver = vi.fn(obedient);
    const render = Promise.withResolvers<RenderedDelivery>();
    const running = attempt(deliver, () => render.promise);
    stopping.abort();
    render.resolve(rendered);
    expect(await running).toEqual({ kind: "aborted" });
    expect(await attempt(deliver)).toEqual({ kind: "aborted" });
    expect(deliver).not.toHaveBeenCalled();
  });

  test("during the making of a file that fails then spends nothing", async () => {
    const render = Promise.withResolvers<RenderedDelivery>();
    const running = attempt(deaf, () => render.promise);
    stopping.abort();
    render.reject(new Error("the store is closed"));
    expect(await running).toEqual({ kind: "aborted" });
  });
});
