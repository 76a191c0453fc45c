import { describe, expect, test } from "vitest";
import { type HeldFiles, heldFilesOf, heldInDetailOf, logHeld } from "./held-files.ts";
import type { StallReason } from "./waiting-file.ts";
import { toWaitingFile, type WaitingFile } from "./waiting-file.ts";
import { minuteMs } from "../../lib/durations.ts";

const giveUpAfterMs = 60 * minuteMs;

function held(name: string, reason: StallReason, forMs: number): WaitingFile {
  const source = { companyId: 1, name, path: `/in/${name}`, channel: "sftp", userName: null, id: 1 } as const;
  const file = toWaitingFile({ ...source, receivedAt: 1, size: 1, sequence: 1 });
  file.stall = { reason, message: `why ${name}`, since: performance.now() - forMs };
  return file;
}

function stateOf(...files: readonly WaitingFile[]) {
  return { files, keptBack: 2, halt: undefined, giveUpAfterMs };
}

const of = (...files: readonly WaitingFile[]) => heldFilesOf("ACME", stateOf(...files));
const namesIn = ({ first }: HeldFiles) => first.map(({ name }) => name);

describe("what is held of a company", () => {
  test("is counted by reason, our own faults first, then what waits longest", () => {
    const files = of(
      held("a", "unreadable", minuteMs),
      held("b", "unreadable", 3 * minuteMs),
      held("c", "store", 2 * minuteMs),
      held("d", "machine", minuteMs),
    );
    expect(namesIn(files)).toEqual(["c", "d", "b", "a"]);
    expect(files).toMatchObject({ company: "ACME", keptBack: 2, isOwnFault: true });
    expect(files.counts).toEqual({ unreadable: 2, incomplete: 0, machine: 1, store: 1, internal: 0 });
    expect(files.oldestMs).toBeGreaterThanOrEqual(3 * minuteMs);
    expect(files.oldestMs).toBeLessThan(4 * minuteMs);
    expect(files.first[3]).toMatchObject({
      id: 1,
      reason: "unreadable",
      message: "why a",
      isOwnFault: false,
    });
  });

  test("is nothing without a fault, and twenty are named", () => {
    const well = held("a", "store", 1);
    well.stall = undefined;
    expect(of(well)).toMatchObject({ oldestMs: 0, first: [], isOwnFault: false });
    expect(of(...Array.from({ length: 21 }, () => held("a", "internal", 1))).first).toHaveLength(20);
  });

  test("is our own fault when it should have been given up two minutes ago, unless it is cut off", () => {
    const overdue = giveUpAfterMs + 2 * minuteMs;
    expect(of(held("a", "unreadable", overdue + minuteMs)).isOwnFault).toBe(true);
    expect(of(held("a", "unreadable", overdue - minuteMs)).isOwnFault).toBe(false);
    expect(of(held("a", "incomplete", overdue + minuteMs)).isOwnFault).toBe(false);
  });

  test("is all of it when nothing can be decided, with how long and how many wait", () => {
    const halt = { message: "disk full", since: performance.now() - 5 * minuteMs, files: 9 };
    const files = heldFilesOf("ACME", { ...stateOf(held("a", "incomplete", minuteMs)), halt });
    expect(files).toMatchObject({ isOwnFault: true, halt: { message: "disk full", files: 9 } });
    expect(files.halt?.forMs).toBeGreaterThanOrEqual(5 * minuteMs);
    expect(files.oldestMs).toBeGreaterThanOrEqual(5 * minuteMs);
    const detail = heldInDetailOf(files, stateOf(), []);
    expect(detail).toEqual({ company: "ACME", files: [], keptBack: [], halt: files.halt });
  });

  test("is told file by file, of at most 2,000, with what each waits for", () => {
    const [file, behind] = [held("a", "store", 1), held("b", "store", 1)];
    const state = stateOf(...Array.from({ length: 2_001 }, () => file));
    const pairs = Array.from({ length: 2_001 }, () => ({ file, behind }));
    const detail = heldInDetailOf(heldFilesOf("ACME", state), state, pairs);
    expect([detail.files.length, detail.keptBack.length]).toEqual([2_000, 2_000]);
    expect(detail.keptBack[0]).toEqual({ id: 1, behind: { name: "b", id: 1 } });
    expect(detail).not.toHaveProperty("halt");
  });
});

describe("the line of the log", () => {
  function logged(files: HeldFiles): readonly object[] {
    const lines: object[] = [];
    logHeld({ warn: (fields: object) => lines.push(fields) } as never, files);
    return lines;
  }

  test("names the reasons that there are, and five files", () => {
    const files = of(...["a", "b", "c", "d", "e", "f"].map((name) => held(name, "store", 90_000)));
    const [line] = logged(files);
    expect(line).toMatchObject({
      ...{ company: "ACME", held: 6, reasons: { store: 6 }, keptBack: 2, oldestSeconds: 90 },
      first: ["a", "b", "c", "d", "e"].map((name) => `${name} (why ${name})`),
    });
    expect(line).not.toHaveProperty("allWait");
  });

  test("is none when nothing is held, and tells when all wait", () => {
    expect(logged(of())).toEqual([]);
    const halt = { message: "disk full", since: performance.now(), files: 9 };
    expect(logged(heldFilesOf("ACME", { ...stateOf(), halt }))).toMatchObject([
      { held: 0, allWait: "disk full", inLine: 9 },
    ]);
  });
});
