import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { StalledFiles } from "./stalled-files.ts";
import { toWaitingFile, type WaitingFile } from "./waiting-file.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

let sequence = 0;

function fileOf(stopNbr: string, time = "080000"): WaitingFile {
  sequence += 1;
  const name = `${stopNbr}_20261105_${time}.xml`;
  const source = { companyId: 1, name, path: `/in/${name}`, channel: "sftp", userName: null } as const;
  return toWaitingFile({ ...source, receivedAt: sequence, size: 1, sequence, id: sequence });
}

function open() {
  const looks: WaitingFile[] = [];
  return { looks, stalled: new StalledFiles((file) => looks.push(file)) };
}

describe("a file that is parked", () => {
  test("is looked at again after its pause, and after the last one when it is parked again", () => {
    const { looks, stalled } = open();
    const file = fileOf("1");
    stalled.park(file, { stopKeys: ["1"], pauseMs: 100 });
    vi.advanceTimersByTime(50);
    stalled.park(file, { stopKeys: ["1"], pauseMs: 100 });
    vi.advanceTimersByTime(99);
    expect(looks).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(looks).toEqual([file]);
    expect([stalled.has(file), stalled.size, stalled.keptBackCount]).toEqual([true, 1, 0]);
  });

  test("is not looked at when it was released, or all ends, or it has no pause", () => {
    const { looks, stalled } = open();
    const [released, left, seen] = [fileOf("1"), fileOf("2"), fileOf("3")];
    stalled.park(released, { stopKeys: ["1"], pauseMs: 100 });
    stalled.park(left, { stopKeys: ["2"], pauseMs: 100 });
    stalled.park(seen, { stopKeys: ["3"] });
    expect(stalled.release(released)).toEqual([]);
    stalled.clear();
    vi.advanceTimersByTime(1_000);
    expect(looks).toEqual([]);
    expect(stalled.has(released)).toBe(false);
    expect(stalled.release(released)).toEqual([]);
  });
});

describe("later files of its stop", () => {
  test("are kept back, earlier ones and those of other stops are not", () => {
    const { stalled } = open();
    const [before, parked, later, other] = [
      fileOf("1", "080000"),
      fileOf("1", "090000"),
      fileOf("1", "100000"),
      fileOf("2", "100000"),
    ];
    expect(stalled.keepsBack(later, ["1"])).toBe(false);
    stalled.park(parked, { stopKeys: ["1"], pauseMs: 100 });
    expect(stalled.keepsBack(before, ["1"])).toBe(false);
    expect(stalled.keepsBack(other, ["2"])).toBe(false);
    expect(stalled.keepsBack(later, ["1"])).toBe(true);
    expect([...stalled.keptBack()]).toEqual([{ file: later, behind: parked }]);
    expect([stalled.size, stalled.keptBackCount]).toEqual([2, 1]);
  });

  test("keep back those of all their stops in turn, and all go on with the one that they wait for", () => {
    const { stalled } = open();
    const [root, second, third] = [fileOf("1", "080000"), fileOf("2", "090000"), fileOf("3", "100000")];
    stalled.park(root, { stopKeys: ["1"], pauseMs: 100 });
    expect(stalled.keepsBack(second, ["1", "2"])).toBe(true);
    expect(stalled.keepsBack(third, ["2", "3"])).toBe(true);
    expect([...stalled.keptBack()].map(({ behind }) => behind)).toEqual([root, root]);
    // Parked anew, it is still the one that they wait for.
    stalled.park(root, { stopKeys: ["1"], pauseMs: 100 });
    expect(stalled.release(root)).toEqual([second, third]);
    expect(stalled.size).toBe(0);
    stalled.park(fileOf("9"), { stopKeys: ["9"] });
    expect(stalled.keepsBack(third, ["2", "3"])).toBe(false);
  });

  test("of the same second wait for one whose place in it is not known", () => {
    const { stalled } = open();
    const [parked, later] = [fileOf("1"), fileOf("1")];
    const key = (stopNbr: string) => ({ stopFunction: "01", stopNbr }) as const;
    parked.key = key("b");
    later.key = key("a");
    stalled.park(parked, { stopKeys: ["1"] });
    expect(stalled.keepsBack(later, ["1"])).toBe(false);
    parked.key = undefined;
    expect(stalled.keepsBack(later, ["1"])).toBe(true);
  });

  test("of a stop that it names no more when it is parked again go on", () => {
    const { stalled } = open();
    const parked = fileOf("1", "080000");
    stalled.park(parked, { stopKeys: ["1", "2"] });
    stalled.park(parked, { stopKeys: ["1"] });
    expect(stalled.keepsBack(fileOf("2", "090000"), ["2"])).toBe(false);
    expect(stalled.keepsBack(fileOf("1", "090000"), ["1"])).toBe(true);
  });
});
