import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type GatheredArrivals, gatherArrivals } from "./gathered-arrivals.ts";

let handed: string[];
let calls: number;
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
    { nowMs: () => Date.now() },
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
  inbox.flush();
  vi.advanceTimersByTime(1_000);
  expect(handed).toHaveLength(10);
  expect(calls).toBe(9);
});
