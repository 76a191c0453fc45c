import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gatherArrivals } from "./gathered-arrivals.ts";

/** The groups that were handed over, by company. */
let handed: { readonly companyId: number; readonly names: readonly string[]; readonly atMs: number }[];
/** How long the pipeline takes for a group. */
let takesMs: (files: number) => number;
let inPipeline: Map<number, number>;
let gathered: ReturnType<typeof gatherArrivals>;
let count: number;

beforeEach(() => {
  vi.useFakeTimers();
  handed = [];
  takesMs = () => 4;
  inPipeline = new Map();
  count = 0;
  const move = (companyId: number, by: number): void =>
    void inPipeline.set(companyId, (inPipeline.get(companyId) ?? 0) + by);
  gathered = gatherArrivals(
    {
      arriveAll: async (arrivals) => {
        const [{ companyId } = { companyId: 0 }] = arrivals;
        handed.push({ companyId, names: arrivals.map(({ name }) => name), atMs: Date.now() });
        move(companyId, arrivals.length);
        setTimeout(() => move(companyId, -arrivals.length), takesMs(arrivals.length));
      },
      undecidedCount: (companyId) => inPipeline.get(companyId) ?? 0,
    },
    () => Date.now(),
  );
});
afterEach(() => void vi.useRealTimers());

function arrive(companyId = 1, isPushed = false): string {
  const name = `s${count}.xml`;
  count += 1;
  gathered.arrive({ companyId, name, path: `/inbound/${name}`, channel: "sftp", size: 1 }, isPushed);
  return name;
}

function arriveEvery(
  ms: number,
  files: number,
  isPushed: (index: number) => boolean = () => false,
): Map<string, number> {
  const cameAt = new Map<string, number>();
  for (let index = 0; index < files; index += 1) {
    if (index > 0) vi.advanceTimersByTime(ms);
    cameAt.set(arrive(1, isPushed(index)), Date.now());
  }
  return cameAt;
}

/** How long each file waited to be handed over. */
function waitsOf(cameAt: ReadonlyMap<string, number>): number[] {
  return handed.flatMap(({ names, atMs }) => names.map((name) => atMs - (cameAt.get(name) ?? Number.NaN)));
}

/** The times between groups. */
const turnsOf = (groups: typeof handed): number[] =>
  groups.slice(1).map(({ atMs }, index) => atMs - (groups[index]?.atMs ?? 0));

const filesHanded = (): string[] => handed.flatMap(({ names }) => names);

test("twenty uploads a second are each handed over at once", () => {
  arriveEvery(50, 40);
  expect(handed.map(({ names }) => names.length)).toEqual(Array(40).fill(1));
});

test.each([80, 200, 800])("at a steady %i a second nobody waits long while the pipeline is quick", (rate) => {
  takesMs = (files) => 4 + files / 4;
  const cameAt = arriveEvery(1000 / rate, rate * 5);
  vi.advanceTimersByTime(300);
  const waits = waitsOf(cameAt);
  expect(waits).toHaveLength(rate * 5);
  expect(Math.max(...waits)).toBeLessThanOrEqual(50);
  // Not one by one all the same.
  expect(handed.length).toBeLessThan((5_000 / 30) * 1.2);
});

test("the files of a burst are handed over in the order of their closes", () => {
  arriveEvery(1, 500);
  vi.advanceTimersByTime(300);
  expect(filesHanded()).toEqual(Array.from({ length: 500 }, (_, index) => `s${index}.xml`));
});

test("between two groups the uploads have some time to themselves", () => {
  takesMs = () => 60;
  arriveEvery(2, 300);
  const turns = turnsOf(handed.slice(8));
  expect(turns.length).toBeGreaterThan(2);
  for (const turn of turns) {
    expect(turn).toBeGreaterThanOrEqual(72);
    expect(turn).toBeLessThanOrEqual(80);
  }
});

test("who pushes a thousand a second has larger groups, until the flood is over", () => {
  arriveEvery(0.9, 165);
  const before = handed.length;
  arriveEvery(0.9, 700);
  expect(turnsOf(handed.slice(before))).toEqual([120, 120, 120, 120]);
  // Short of processors, the same flood is slower for a while.
  arriveEvery(2, 200);
  expect(turnsOf(handed.slice(before)).every((turn) => turn >= 120)).toBe(true);
  arriveEvery(2, 120);
  const after = handed.length;
  arriveEvery(2, 100);
  expect(turnsOf(handed.slice(after)).length).toBeGreaterThan(2);
  for (const turn of turnsOf(handed.slice(after))) expect(turn).toBeLessThanOrEqual(32);
});

test.each([5, 25])(
  "who begins each file when the one before is answered has larger groups, a file in %i ms",
  (ms) => {
    arriveEvery(ms, 60, () => true);
    const before = handed.length;
    arriveEvery(ms, 100, () => true);
    expect(turnsOf(handed.slice(before)).length).toBeGreaterThan(2);
    for (const turn of turnsOf(handed.slice(before))) expect(turn).toBeGreaterThanOrEqual(120);
  },
);

test("a flow in which some files follow at once on one that was held up is no push", () => {
  arriveEvery(1.25, 2_000, (index) => index % 3 === 0);
  for (const turn of turnsOf(handed)) expect(turn).toBeLessThanOrEqual(40);
});

test("a file that comes alone after a push is handed over at once", () => {
  arriveEvery(5, 200, () => true);
  vi.advanceTimersByTime(10_000);
  const lone = arrive();
  expect(handed.at(-1)?.names).toEqual([lone]);
  vi.advanceTimersByTime(200);
  const pushed = arrive(1, true);
  expect(handed.at(-1)?.names).toEqual([pushed]);
});

test("a push that pauses is over soon", () => {
  arriveEvery(5, 100, () => true);
  arriveEvery(50, 20);
  const after = handed.length;
  arriveEvery(50, 10);
  expect(handed.slice(after).map(({ names }) => names.length)).toEqual(Array(10).fill(1));
});

test("nobody waits for more than a quarter of a second, however far behind the pipeline is", () => {
  takesMs = () => 60_000;
  const cameAt = arriveEvery(2, 1_000);
  vi.advanceTimersByTime(300);
  const waits = waitsOf(cameAt);
  expect(waits).toHaveLength(1_000);
  expect(Math.max(...waits)).toBe(250);
});

test("the burst of one company keeps nobody else's file waiting", () => {
  arriveEvery(2, 20);
  const other = arrive(2);
  expect(handed.at(-1)).toMatchObject({ companyId: 2, names: [other] });
});

test("what waits is handed over by a flush, once", () => {
  arriveEvery(1, 12);
  gathered.flush();
  expect(filesHanded()).toHaveLength(12);
  vi.advanceTimersByTime(1_000);
  expect(handed).toHaveLength(9);
});

test("what waits of one company is handed over by a flush of that company alone", () => {
  for (let index = 0; index < 12; index += 1) for (const companyId of [1, 2]) arrive(companyId);
  const before = handed.length;
  gathered.flush(2);
  expect(handed.slice(before).map(({ companyId }) => companyId)).toEqual([2]);
  expect(handed.filter(({ companyId }) => companyId === 1).flatMap(({ names }) => names).length).toBeLessThan(
    12,
  );
});

test("the end of a burst is handed over although nothing more comes", () => {
  arriveEvery(2, 12);
  vi.advanceTimersByTime(30);
  expect(filesHanded()).toHaveLength(12);
  vi.advanceTimersByTime(300);
  expect(vi.getTimerCount()).toBe(0);
});
