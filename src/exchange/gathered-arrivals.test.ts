import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type GatheredArrivals, gatherArrivals } from "./gathered-arrivals.ts";

let handed: string[];
let calls: number;
let settle: () => Promise<void>;
let inbox: GatheredArrivals;

function arrive(count: number, apartMs: number): void {
  for (let index = 0; index < count; index += 1) {
    if (index > 0) vi.advanceTimersByTime(apartMs);
    const name = `s${index}.xml`;
    inbox.arrive({ companyId: 1, name, path: `/inbound/${name}`, channel: "sftp", size: 1 });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  handed = [];
  calls = 0;
  settle = async () => undefined;
  inbox = gatherArrivals(
    {
      reserve: () => undefined,
      release: () => undefined,
      arriveAll: async (arrivals) => {
        calls += 1;
        handed.push(...arrivals.map(({ name }) => name));
      },
      waitingCount: () => 5,
    },
    { nowMs: () => Date.now(), settle: () => settle() },
  );
});

afterEach(() => void vi.useRealTimers());

test("twenty uploads a second are each handed over at once", () => {
  arrive(40, 50);
  expect(handed).toHaveLength(40);
});

test("the first uploads of a burst are handed over at once, the others together when nothing more comes", () => {
  arrive(12, 2);
  expect(handed).toHaveLength(8);
  expect(inbox.waitingCount(1)).toBe(5 + 4);
  expect(inbox.waitingCount(2)).toBe(5);
  vi.advanceTimersByTime(59);
  expect(handed).toHaveLength(8);
  vi.advanceTimersByTime(3);
  expect(handed).toHaveLength(12);
  expect(calls).toBe(9);
  expect(inbox.waitingCount(1)).toBe(5);
});

test("a close that the disk holds up does not end a burst", () => {
  arrive(20, 2);
  vi.advanceTimersByTime(50);
  arrive(20, 2);
  expect(handed).toHaveLength(8);
});

test("uploads that never pause are handed over in full groups, in the order of their closes", () => {
  arrive(8 + 4_000 + 3, 1);
  expect(handed).toEqual(Array.from({ length: 4_008 }, (_, index) => `s${index}.xml`));
});

test("no upload waits much longer than five seconds for the others", () => {
  arrive(8 + 520, 10);
  expect(handed.length).toBeGreaterThanOrEqual(8 + 500);
});

test("the burst of one company keeps nobody else's file waiting", () => {
  arrive(20, 2);
  inbox.arrive({ companyId: 2, name: "other.xml", path: "/inbound/other.xml", channel: "sftp", size: 1 });
  expect(handed).toHaveLength(8 + 1);
  expect(handed.at(-1)).toBe("other.xml");
});

test("what waits is handed over by a flush, once", () => {
  arrive(10, 1);
  void inbox.flush();
  vi.advanceTimersByTime(1_000);
  expect(handed).toHaveLength(10);
  expect(calls).toBe(9);
});

/** Eight that are handed over at once make a burst. */
function arriveJournaled(count: number): void {
  arrive(8, 1);
  for (let index = 8; index < 8 + count; index += 1) {
    vi.advanceTimersByTime(1);
    const name = `s${index}.xml`;
    inbox.arriveJournaled({ companyId: 1, name, path: `/inbound/${name}`, channel: "sftp", size: 1 });
  }
}

test("uploads that are in the journal are handed over when that is settled, and count as waiting until then", async () => {
  const settled = Promise.withResolvers<void>();
  settle = () => settled.promise;
  arriveJournaled(5);
  await vi.advanceTimersByTimeAsync(200);
  expect(handed).toHaveLength(8);
  expect(inbox.waitingCount(1)).toBe(5 + 5);
  settled.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(handed).toHaveLength(13);
  expect(inbox.waitingCount(1)).toBe(5);
});

test("what comes later is not handed over before a group that is being settled", async () => {
  const settled = Promise.withResolvers<void>();
  settle = () => settled.promise;
  arriveJournaled(5);
  await vi.advanceTimersByTimeAsync(1_000);
  inbox.arrive({ companyId: 1, name: "late.xml", path: "/inbound/late.xml", channel: "sftp", size: 1 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(handed).not.toContain("late.xml");
  settled.resolve();
  await inbox.flush();
  expect(handed.slice(8)).toEqual(["s8.xml", "s9.xml", "s10.xml", "s11.xml", "s12.xml", "late.xml"]);
});

test("uploads that cannot be settled in this run are left to the next start", async () => {
  settle = () => Promise.reject(new Error("EIO"));
  arriveJournaled(5);
  await inbox.flush();
  expect(handed).toHaveLength(8);
});

test("a burst lasts while uploads come thick and fast", () => {
  expect(inbox.isBurst(1)).toBe(false);
  arrive(9, 2);
  expect(inbox.isBurst(1)).toBe(true);
  expect(inbox.isBurst(2)).toBe(false);
  vi.advanceTimersByTime(60);
  expect(inbox.isBurst(1)).toBe(false);
});
