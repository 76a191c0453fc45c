import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type GatheredArrivals, gatherArrivals } from "./gathered-arrivals.ts";

let handed: string[];
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
  inbox = gatherArrivals(
    {
      reserve: () => undefined,
      release: () => undefined,
      arrive: ({ name }) => handed.push(name),
      waitingCount: () => 5,
    },
    () => Date.now(),
  );
});

afterEach(() => void vi.useRealTimers());

test("twenty uploads a second are each handed over at once", () => {
  arrive(40, 50);
  expect(handed).toHaveLength(40);
});

test("the first uploads of a burst are handed over at once, the others when nothing more comes", () => {
  arrive(12, 2);
  expect(handed).toHaveLength(8);
  expect(inbox.waitingCount(1)).toBe(5 + 4);
  expect(inbox.waitingCount(2)).toBe(5);
  vi.advanceTimersByTime(20);
  expect(handed).toHaveLength(12);
});

test("uploads that never pause are handed over in full groups, in the order of their closes", () => {
  arrive(8 + 64 + 3, 2);
  expect(handed).toEqual(Array.from({ length: 72 }, (_, index) => `s${index}.xml`));
});

test("no upload waits much longer than a quarter of a second for the others", () => {
  arrive(8, 10);
  arrive(30, 10);
  // The first gathered one came 290 ms ago.
  expect(handed.length).toBeGreaterThanOrEqual(8 + 25);
});

test("what waits is handed over by a flush, once", () => {
  arrive(10, 1);
  inbox.flush();
  vi.advanceTimersByTime(1_000);
  expect(handed).toHaveLength(10);
});
