import { describe, expect, it } from "vitest";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { Lane, type LaneEntry } from "./lane.ts";

const prepared: PreparedDocument = { kind: "read", sha256: "", size: 1, instructions: [] };
let sequence = 0;

function entry(nameTime: number, key?: LaneEntry["key"]): LaneEntry {
  sequence += 1;
  const base: LaneEntry = {
    nameTime,
    receivedAt: 0,
    sequence,
    size: 1,
    id: sequence,
    key: undefined,
    isPreparing: false,
    prepared,
  };
  return key === undefined ? base : { ...base, key };
}

function takeAll(lane: Lane<LaneEntry>): LaneEntry[] {
  const taken: LaneEntry[] = [];
  for (;;) {
    const next = lane.takeReady(() => true);
    if (next === undefined) return taken;
    taken.push(next);
  }
}

describe("a lane", () => {
  it("gives files by time, Function, stop number and arrival, however they came", () => {
    const lane = new Lane<LaneEntry>();
    const expected = [
      entry(1, { stopFunction: "01", stopNbr: "b" }),
      entry(2, { stopFunction: "01", stopNbr: "a" }),
      entry(2, { stopFunction: "01", stopNbr: "b" }),
      entry(2, { stopFunction: "01", stopNbr: "b" }),
      entry(2, { stopFunction: "02", stopNbr: "a" }),
      entry(3),
    ];
    for (const index of [5, 4, 2, 0, 3, 1]) lane.add(expected[index] as LaneEntry);
    expect(takeAll(lane)).toEqual(expected);
    expect(lane.size).toBe(0);
  });

  it("waits for the Function of each file of a second before it gives the first of them", () => {
    const lane = new Lane<LaneEntry>();
    const first = entry(1, { stopFunction: "02", stopNbr: "a" });
    const unknown = entry(1);
    lane.add(first);
    lane.add(unknown);
    expect(lane.takeReady(() => true)).toBeUndefined();
    unknown.key = { stopFunction: "01", stopNbr: "z" };
    expect(takeAll(lane)).toEqual([unknown, first]);
  });

  it("does not give a later file before the first is ready", () => {
    const lane = new Lane<LaneEntry>();
    const first = entry(1);
    first.prepared = undefined;
    lane.add(first);
    lane.add(entry(2));
    expect(lane.takeReady(() => true)).toBeUndefined();
    first.prepared = prepared;
    expect(takeAll(lane)).toHaveLength(2);
  });

  it("puts a file that comes late before those that still wait", () => {
    const lane = new Lane<LaneEntry>();
    for (const time of [10, 20, 30]) lane.add(entry(time));
    expect(lane.takeReady(() => true)?.nameTime).toBe(10);
    lane.add(entry(15));
    lane.add(entry(5));
    expect(takeAll(lane).map(({ nameTime }) => nameTime)).toEqual([5, 15, 20, 30]);
  });

  it("goes on without a file that was taken out", () => {
    const lane = new Lane<LaneEntry>();
    const parked = entry(1);
    parked.prepared = undefined;
    lane.add(parked);
    lane.add(entry(2));
    lane.remove(parked);
    expect(takeAll(lane).map(({ nameTime }) => nameTime)).toEqual([2]);
  });

  it("keeps 100,000 files of one second in order without searching them again and again", () => {
    const lane = new Lane<LaneEntry>();
    const entries = Array.from({ length: 100_000 }, () => entry(7));
    for (const one of entries) lane.add(one);
    let looked = 0;
    for (const one of entries) {
      for (const { entry: next } of lane.ahead()) {
        looked += 1;
        expect(next).toBe(one);
        break;
      }
      one.key = { stopFunction: "01", stopNbr: "a" };
    }
    expect(looked).toBe(100_000);
    expect(takeAll(lane)).toHaveLength(100_000);
  });

  it("looks into those that join a second while its first ones are being decided", () => {
    const lane = new Lane<LaneEntry>();
    const looked = (): number => {
      const found = [...lane.ahead()].filter(({ entry: one }) => one.key === undefined);
      for (const { entry: one } of found) one.key = { stopFunction: "01", stopNbr: String(one.sequence) };
      return found.length;
    };
    // Each time some have been seen before the order is known, and some are gone before the next ones come.
    for (const [joining, leaving] of [
      [6, 4],
      [1, 2],
      [2, 1],
      [1, 3],
    ] as const) {
      for (let index = 0; index < joining; index += 1) lane.add(entry(1));
      expect(looked()).toBe(joining);
      for (let index = 0; index < leaving; index += 1) expect(lane.takeReady(() => true)).toBeDefined();
    }
    expect(lane.size).toBe(0);
  });

  it("agrees with a plain sort for any mixture of arrivals", () => {
    for (let round = 0; round < 50; round += 1) {
      const lane = new Lane<LaneEntry>();
      const all = Array.from({ length: 200 }, () =>
        entry(Math.floor(Math.random() * 40), {
          stopFunction: `0${1 + Math.floor(Math.random() * 3)}`,
          stopNbr: String(Math.floor(Math.random() * 3)),
        }),
      );
      for (const one of all) lane.add(one);
      const text = (one: LaneEntry) =>
        [
          String(one.nameTime).padStart(3, "0"),
          one.key?.stopFunction,
          one.key?.stopNbr,
          String(one.sequence).padStart(9, "0"),
        ].join();
      expect(takeAll(lane).map(text)).toEqual(all.map(text).sort());
    }
  });
});
