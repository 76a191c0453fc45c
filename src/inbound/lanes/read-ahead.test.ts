import { setImmediate } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { systemClock } from "../../lib/clock.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { Lane } from "./lane.ts";
import { ReadAhead } from "./read-ahead.ts";
import { pathOf, toWaitingFile, type WaitingFile } from "./waiting-file.ts";

const mebi = 2 ** 20;
const log = createLogger({ level: "silent" });
let sequence = 0;

function waiting(name: string, size = 1): WaitingFile {
  sequence += 1;
  const source = { companyId: 1, name, path: `/in/${name}`, channel: "sftp", userName: null } as const;
  return toWaitingFile({ ...source, receivedAt: 1, size, sequence, id: sequence });
}

const two = (number: number) => String(number).padStart(2, "0");
/** The name of a file of the n-th second of an hour. */
const at = (second: number, stop = "a") =>
  `${stop}_20261105_08${two(Math.trunc(second / 60))}${two(second % 60)}.xml`;

function read({ size }: { readonly size: number }): PreparedDocument {
  return { kind: "read", sha256: "", size, instructions: [] };
}

const unreadable = (systemCode: string): PreparedDocument => ({
  kind: "unreadable",
  systemCode,
  message: "why",
});

/** Reads that end when a test says so; what was read is kept for its turn unless `keeps` says otherwise. */
function open(options: { maxFileBytes?: number; keeps?: (prepared: PreparedDocument) => boolean } = {}) {
  const lane = new Lane<WaitingFile>();
  const underWay = new Map<string, PromiseWithResolvers<PreparedDocument>>();
  const taken: [string, PreparedDocument][] = [];
  const onRead = vi.fn();
  const reading = new ReadAhead({
    lane,
    ...{ companyCode: "ACME", clock: systemClock, log, onRead },
    documents: {
      prepareFile(path) {
        const one = Promise.withResolvers<PreparedDocument>();
        underWay.set(path.slice("/in/".length), one);
        return one.promise;
      },
    },
    maxFileBytes: () => options.maxFileBytes ?? 50 * mebi,
    takes(file, prepared) {
      taken.push([file.name, prepared]);
      return options.keeps?.(prepared) ?? true;
    },
  });
  const end = async (file: WaitingFile, prepared: PreparedDocument | Error = read(file)): Promise<void> => {
    const one = underWay.get(file.name);
    if (one === undefined) throw new Error(`${file.name} is not being read`);
    underWay.delete(file.name);
    if (prepared instanceof Error) one.reject(prepared);
    else one.resolve(prepared);
    const calls = onRead.mock.calls.length;
    await setImmediate();
    expect(onRead.mock.calls.length).toBe(calls + 1);
  };
  const put = (...files: readonly WaitingFile[]) => {
    for (const file of files) lane.add(file);
    return files;
  };
  return { lane, reading, underWay, taken, end, put, namesUnderWay: () => [...underWay.keys()] };
}

describe("files near the front", () => {
  test("are read at once, 48 of them at most, the first first", async () => {
    const { reading, end, put, namesUnderWay } = open();
    const files = Array.from({ length: 50 }, (_, second) => waiting(at(second)));
    put(...files.toReversed());
    reading.begin();
    expect(namesUnderWay()).toEqual(files.slice(0, 48).map(({ name }) => name));
    reading.begin();
    expect(reading.preparing).toBe(48);
    await end(files[5] as WaitingFile);
    expect([reading.preparing, reading.ready]).toEqual([47, 1]);
    reading.begin();
    expect(namesUnderWay().at(-1)).toBe(files[48]?.name);
    expect(namesUnderWay()).toHaveLength(48);
  });

  test("are no more than 320 from it", async () => {
    const { reading, end, put, underWay } = open();
    const files = put(...Array.from({ length: 330 }, (_, index) => waiting(at(index))));
    for (let turn = 0; turn < 10; turn += 1) {
      reading.begin();
      for (const file of files) if (underWay.has(file.name)) await end(file);
    }
    expect(reading.ready).toBe(320);
  });
});

describe("documents in memory", () => {
  test("are 6 MiB and one more, until one of them is not needed any more", async () => {
    const { lane, reading, end, put, namesUnderWay } = open();
    const [one, another, three, four] = put(...[1, 2, 3, 4].map((second) => waiting(at(second), 4 * mebi)));
    if (!one || !another || !three || !four) throw new Error("four files were put in line");
    reading.begin();
    expect(namesUnderWay()).toEqual([one.name, another.name]);
    for (const file of [one, another]) await end(file);
    reading.begin();
    expect(namesUnderWay()).toEqual([]);
    expect(lane.takeReady(() => true)).toBe(one);
    reading.drop(one);
    // It holds nothing that could be dropped a second time.
    reading.drop(one);
    reading.begin();
    expect([namesUnderWay(), reading.ready]).toEqual([[three.name], 1]);
    await end(three);
    reading.begin();
    expect(namesUnderWay()).toEqual([]);
  });

  test("are joined by one that goes before them all, when nothing else is being read", async () => {
    const { reading, end, put, namesUnderWay } = open();
    const [first, second] = put(...[1, 2].map((second) => waiting(at(second), 4 * mebi)));
    if (!first || !second) throw new Error("two files were put in line");
    reading.begin();
    await end(first);
    const [front] = put(waiting(at(0), 4 * mebi));
    reading.begin();
    expect(namesUnderWay()).toEqual([second.name]);
    await end(second);
    reading.begin();
    expect(namesUnderWay()).toEqual([front?.name]);
  });

  test("have the size that was read, and none when they are too large, faulty or not kept", async () => {
    const { lane, reading, end, put, namesUnderWay } = open({
      ...{ maxFileBytes: 9 * mebi, keeps: ({ kind }) => kind !== "unreadable" },
    });
    const tooLarge = put(...[1, 2, 3].map((second) => waiting(at(second), 10 * mebi)));
    reading.begin();
    expect(namesUnderWay()).toHaveLength(3);
    const faulty = {
      kind: "refused",
      sha256: null,
      size: 10 * mebi,
      faults: [],
      isIncomplete: false,
    } as const;
    for (const file of tooLarge) await end(file, faulty);
    // It has grown since it came.
    const [grown, unread] = put(waiting(at(4), 1), waiting(at(5), 8 * mebi));
    if (!grown || !unread) throw new Error("two files were put in line");
    unread.stall = { reason: "unreadable", message: "", since: 0 };
    reading.begin();
    await end(unread, unreadable("EACCES"));
    expect(unread.prepared).toBeUndefined();
    lane.remove(unread);
    await end(grown, read({ size: 7 * mebi }));
    const [last] = put(waiting(at(6)));
    reading.begin();
    expect(namesUnderWay()).toEqual([]);
    for (const file of [...tooLarge, grown]) expect(lane.takeReady(() => true)).toBe(file);
    reading.drop(grown);
    reading.begin();
    expect(namesUnderWay()).toEqual([last?.name]);
  });

  test("of one second that are too many are known by their order, and read again in it", async () => {
    const { lane, reading, end, put, underWay } = open();
    const files = put(...["c", "b", "a"].map((stop) => waiting(at(0, stop), 5 * mebi)));
    const order: string[] = [];
    let most = 0;
    for (let turn = 0; turn < 20 && order.length < files.length; turn += 1) {
      reading.begin();
      for (const file of files) if (underWay.has(file.name)) await end(file);
      most = Math.max(most, files.filter(({ prepared }) => prepared !== undefined).length);
      const file = lane.takeReady(() => true);
      if (file === undefined) continue;
      order.push(file.name);
      reading.drop(file);
    }
    expect(order).toEqual(["a", "b", "c"].map((stop) => at(0, stop)));
    expect(most).toBeLessThan(3);
  });
});

describe("a file that cannot be read", () => {
  async function readsOf(file: WaitingFile, prepared: PreparedDocument): Promise<number> {
    let reads = 0;
    const reading = new ReadAhead({
      ...{ lane: new Lane<WaitingFile>(), companyCode: "ACME", clock: systemClock, log },
      ...{ maxFileBytes: () => mebi, takes: () => true, onRead: () => undefined },
      documents: {
        async prepareFile(path) {
          expect(path).toBe(pathOf(file));
          reads += 1;
          return prepared;
        },
      },
    });
    await reading.prepare(file);
    return reads;
  }

  test.each([
    ["now is read four times at its first look", unreadable("EMFILE"), 4],
    ["at any time is read once", unreadable("ELOOP"), 1],
    ["by its content is read once", read({ size: 1 }), 1],
  ])("%s", async (_, prepared, reads) => {
    expect(await readsOf(waiting(at(0)), prepared)).toBe(reads);
  });

  test("and was put aside before is read once", async () => {
    const file = waiting(at(0));
    file.stall = { reason: "machine", message: "", since: 0 };
    expect(await readsOf(file, unreadable("EMFILE"))).toBe(1);
  });

  test("because the parser fails is one that cannot be read; at the end of the process it just waits", async () => {
    const { reading, taken, end, put } = open({ keeps: () => false });
    const [file] = put(waiting(at(0)));
    if (file === undefined) throw new Error("a file was put in line");
    file.stall = { reason: "internal", message: "", since: 0 };
    reading.begin();
    await end(file, new Error("the threads are gone"));
    const prepared = { kind: "unreadable", systemCode: "internal", message: "the threads are gone" };
    expect(taken).toEqual([[file.name, prepared]]);
    reading.begin();
    reading.stop();
    await end(file, new Error("the threads are gone"));
    expect(taken).toHaveLength(1);
    expect([file.prepared, file.isPreparing, reading.preparing]).toEqual([undefined, false, 0]);
  });
});
