/** What the table of leases is told of companies that were taken over of dead nodes. */
import { expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../lib/logs/log.ts";
import { NotEndedError, type TakenCompany } from "../store/cluster/ownership.ts";
import { HeldLanes } from "./held-lanes.ts";

const companyId = 1;

/** The company is taken over of a dead node; its one part has receipts to look for until `isFound`. */
async function takenOver() {
  const told: string[] = [];
  const end = Promise.withResolvers<void>();
  const part = { isFound: false, isLeaving: false };
  const lanes = new HeldLanes({
    ...{ node: "two", leaseMs: 60_000, companyCodeOf: async () => "ACME", onTold: () => undefined },
    table: {
      settle: async () => void told.push("settled"),
      release: async (_node, _leases, { isSure }) =>
        void told.push(isSure ? "given back" : "given back, not ended"),
    },
    log: createLogger({ level: "silent" }),
  });
  lanes.add({
    name: "receipts",
    take: async () => undefined,
    isTakingOver: () => !part.isLeaving && !part.isFound,
    async leave() {
      part.isLeaving = true;
      await end.promise;
      if (!part.isFound) throw new NotEndedError();
    },
  });
  await lanes.begin({ companyId, epoch: 7, orphanedAt: 1_000 }, performance.now() + 60_000);
  const lane = lanes.get(companyId);
  if (lane === undefined) throw new Error("the company was not taken");
  await lane.recovering;
  return { lanes, lane, part, told, end };
}

test("what a dead node left is settled when all of it is taken over, once", async () => {
  const { lanes, part, told } = await takenOver();
  await lanes.settle();
  expect(told).toEqual([]);
  part.isFound = true;
  await lanes.settle();
  await lanes.settle();
  expect(told).toEqual(["settled"]);
});

test("what is not taken over when its work ends is left to the next node, also when a round comes in between", async () => {
  const { lanes, lane, part, told, end } = await takenOver();
  const drained = lanes.drain(lane, AbortSignal.timeout(60_000));
  await expect.poll(() => part.isLeaving).toBe(true);
  await lanes.settle();
  end.resolve();
  await drained;
  expect(told).toEqual(["given back, not ended"]);
});

test("what was taken over while its work ended is settled before the lease is given back", async () => {
  const { lanes, lane, part, told, end } = await takenOver();
  const drained = lanes.drain(lane, AbortSignal.timeout(60_000));
  part.isFound = true;
  end.resolve();
  await drained;
  expect(told).toEqual(["settled", "given back"]);
});

test("a company of a dead node stays for one lease from the end of its recovery on, however long that took", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lease = { companyId, epoch: 7, orphanedAt: 1_000 };
  const lanes = new HeldLanes({
    ...{ node: "two", leaseMs: 3_000, companyCodeOf: async () => "ACME", onTold: () => undefined },
    table: { settle: async () => undefined, release: async () => undefined },
    log: createLogger({ level: "silent" }),
  });
  const take = () => new Promise<void>((resolve) => setTimeout(resolve, 2_800));
  lanes.add({ name: "receipts", take, leave: async () => undefined });
  await lanes.begin(lease, performance.now() + 60_000);
  await vi.advanceTimersByTimeAsync(2_800 + 2_900);
  // Nor does one that it had before: what is taken over would wait for it.
  await lanes.begin({ companyId: 2, epoch: 8, orphanedAt: null }, performance.now() + 60_000);
  await vi.advanceTimersByTimeAsync(2_800);
  await lanes.begin({ ...lease, companyId: 3, epoch: 9 }, performance.now() + 60_000);
  await vi.advanceTimersByTimeAsync(100);
  lanes.giveBackSurplus(2);
  expect(lanes.inStage("working")).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(2_700 + 2_900);
  lanes.giveBackSurplus(2);
  expect(lanes.inStage("working")).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(200);
  lanes.giveBackSurplus(2);
  expect(lanes.inStage("working")).toHaveLength(1);
});

test("the log says how long each part took to take a company over", async () => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const lanes = new HeldLanes({
    ...{ node: "two", leaseMs: 60_000, companyCodeOf: async () => "ACME", onTold: () => undefined },
    table: { settle: async () => undefined, release: async () => undefined },
    log: createLogger({ level: "info", destination: { write } }),
  });
  const leave = async () => undefined;
  const take = () => new Promise<void>((resolve) => setTimeout(resolve, 60));
  lanes.add({ name: "inbound", take, leave });
  lanes.add({ name: "folders", take: async () => undefined, leave });
  await lanes.begin({ companyId, epoch: 7, orphanedAt: 1_000 }, performance.now() + 60_000);
  await lanes.get(companyId)?.recovering;
  const line = lines.find(({ msg }) => msg === "company taken over");
  expect(line).toMatchObject({
    ...{ company: "ACME", epoch: 7 },
    parts: { inbound: expect.any(Number), folders: expect.any(Number) },
  });
  const { inbound = 0, folders = 0 } = (line?.["parts"] ?? {}) as Record<string, number>;
  expect(inbound).toBeGreaterThanOrEqual(55);
  expect(folders).toBeLessThan(inbound);
});

test("a take-over that does not come to its end keeps no other company where it is for longer than two leases", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lanes = new HeldLanes({
    ...{ node: "two", leaseMs: 3_000, companyCodeOf: async (id) => `C${id}`, onTold: () => undefined },
    table: { settle: async () => undefined, release: async () => undefined },
    log: createLogger({ level: "silent" }),
  });
  const take = ({ companyId: id }: TakenCompany) =>
    id === 2 ? new Promise<void>(() => undefined) : Promise.resolve();
  lanes.add({ name: "folders", take, leave: async () => undefined });
  await lanes.begin({ companyId: 1, epoch: 7, orphanedAt: null }, performance.now() + 60_000);
  await lanes.begin({ companyId: 2, epoch: 8, orphanedAt: 1_000 }, performance.now() + 60_000);
  await vi.advanceTimersByTimeAsync(5_900);
  lanes.giveBackSurplus(1);
  expect(lanes.inStage("working")).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(200);
  lanes.giveBackSurplus(1);
  expect(lanes.inStage("working")).toHaveLength(0);
});

test("what concerns no company is given away before companies are, whose files would wait", async () => {
  const given: number[] = [];
  const lanes = new HeldLanes({
    ...{ node: "two", leaseMs: 60_000, companyCodeOf: async (id) => `C${id}`, onTold: () => undefined },
    table: {
      settle: async () => undefined,
      release: async (_node, leases) => void given.push(...leases.map((lease) => lease.companyId)),
    },
    log: createLogger({ level: "silent" }),
  });
  for (const id of [1, 0, 2]) {
    // Also when a dead node had it.
    const orphanedAt = id === 0 ? 1_000 : null;
    await lanes.begin({ companyId: id, epoch: 7, orphanedAt }, performance.now() + 60_000);
  }
  await Promise.all(lanes.all.map((lane) => lane.recovering));
  lanes.giveBackSurplus(1);
  await lanes.ended();
  expect(given).toEqual([0]);
});
