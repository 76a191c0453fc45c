import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import type { StopChange } from "../../domain/stop/stop-change.ts";
import { systemClock } from "../../lib/clock.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { Lane } from "./lane.ts";
import { ReadAhead } from "./read-ahead.ts";
import { StalledFiles } from "./stalled-files.ts";
import { takeGroup } from "./take-group.ts";
import { toWaitingFile, type WaitingFile } from "./waiting-file.ts";

const log = createLogger({ level: "silent" });

let lane: Lane<WaitingFile>;
let stalled: StalledFiles;
let reading: ReadAhead;
let sequence: number;
let documents: Map<string, PreparedDocument>;

beforeEach(() => {
  lane = new Lane();
  stalled = new StalledFiles(() => undefined);
  onTestFinished(() => stalled.clear());
  sequence = 0;
  documents = new Map();
  reading = new ReadAhead({
    documents: { prepareFile: async (path) => documents.get(path) as PreparedDocument },
    ...{ lane, companyCode: "ACME", clock: systemClock, log, maxFileBytes: () => 2 ** 20 },
    ...{ takes: () => true, onRead: () => undefined },
  });
});

const index = { hasStopAssignment: false, markAsReceived: false, hasTimeWindow: false };
const about = (stopNbr: string): StopChange => ({ function: "01", stopNbr, stopJson: "{}", index });

/** A file that waits, read and entered in the ledger. */
async function ready(stops: readonly string[], minute: number, isRefused = false): Promise<WaitingFile> {
  sequence += 1;
  const name = `${stops[0]}_20261105_08${String(minute).padStart(2, "0")}00.xml`;
  const path = `/in/${name}`;
  documents.set(
    path,
    isRefused
      ? { kind: "refused", sha256: "", size: 9, faults: [], isIncomplete: false }
      : { kind: "read", sha256: "", size: 9, instructions: stops.map(about) },
  );
  const source = { companyId: 1, name, path, channel: "sftp", userName: null, receivedAt: 1 } as const;
  const file = toWaitingFile({ ...source, size: 9, sequence, id: sequence });
  lane.add(file);
  await reading.prepare(file);
  return file;
}

const take = (size = 8) => takeGroup({ lane, stalled, reading }, size);

describe("a group from the front of a line", () => {
  test("has as many files as it may, in order", async () => {
    const files = [await ready(["a"], 2), await ready(["b"], 1), await ready(["c"], 3)];
    expect(take(2)).toEqual({ files: [files[1], files[0]], hasMoved: false });
    expect(take(2)).toEqual({ files: [files[2]], hasMoved: false });
    expect(take(2)).toEqual({ files: [], hasMoved: false });
    expect(reading.ready).toBe(3);
  });

  test("ends before a second file of one of its stops", async () => {
    const files = [
      await ready(["a", "b"], 1),
      await ready(["c"], 2),
      await ready(["b"], 3),
      await ready(["d"], 4),
    ];
    expect(take().files).toEqual(files.slice(0, 2));
    expect(take().files).toEqual(files.slice(2));
  });

  test("is one file alone when that is to be decided alone", async () => {
    const files = [await ready(["a"], 1), await ready(["b"], 2), await ready(["c"], 3)];
    for (const file of files.slice(1, 2)) file.isToBeAlone = true;
    expect([take().files, take().files, take().files]).toEqual(files.map((file) => [file]));
  });

  test("ends before a file that is not read yet", async () => {
    const files = [await ready(["a"], 1), await ready(["b"], 2), await ready(["c"], 3)];
    for (const file of files.slice(1, 2)) reading.drop(file);
    expect(take().files).toEqual(files.slice(0, 1));
  });
});

describe("a file whose stop waits for an earlier one", () => {
  test("leaves the line and the memory, and others go on in its place", async () => {
    const [parked, kept, other] = [await ready(["a"], 1), await ready(["a"], 2), await ready(["b"], 3)];
    lane.remove(parked);
    reading.drop(parked);
    stalled.park(parked, { stopKeys: ["a"] });
    expect(take()).toEqual({ files: [other], hasMoved: true });
    expect([stalled.keptBackCount, reading.ready, kept.prepared]).toEqual([1, 1, undefined]);
    expect(stalled.release(parked)).toEqual([kept]);
  });

  test("is decided about all the same when it is refused anyway", async () => {
    const [parked, faulty] = [await ready(["a"], 1), await ready(["a"], 2, true)];
    lane.remove(parked);
    stalled.park(parked, { stopKeys: ["a"] });
    expect(take()).toEqual({ files: [faulty], hasMoved: false });
  });
});
