/** What a node does that has lost a company between two instructions, beside the node that has it now. */
import { createHash } from "node:crypto";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { monotonicMs } from "../../lib/clock.ts";
import { type FilingTask, fileGroupAway } from "./file-away.ts";
import {
  type Hold,
  HoldOverError,
  linkShared,
  placeReceiptShared,
  removeName,
  removeReadReceipt,
  removeStaleShared,
} from "./shared-moves.ts";

const shaOf = (text: string) => createHash("sha256").update(text).digest("hex");
const privateName = ".7.mark.gone";
const ours = "<StopResponse>ours</StopResponse>";
const good: Hold = { isOver: () => false };

/** A lease that ends at that look, when the other node acts; counted from 1. */
function overAt(look: number, act: () => void = () => undefined): Hold {
  let looks = 0;
  return {
    isOver() {
      looks += 1;
      if (looks === look) act();
      return looks >= look;
    },
  };
}

/** Good at that look, and frozen right after it, until the other node has acted. */
function frozenAfter(look: number, act: () => void): Hold {
  let looks = 0;
  return {
    isOver() {
      looks += 1;
      if (looks === look) act();
      return looks > look;
    },
  };
}

interface Ground {
  readonly from: string;
  readonly to: string;
  readonly receipt: string;
  readonly task: FilingTask;
}

function ground(): Ground {
  const folder = temporaryFolder();
  for (const name of ["inbound", "archive", "receipts"]) mkdirSync(join(folder, name));
  const [from, to] = [join(folder, "inbound", "a.xml"), join(folder, "archive", "a.xml")];
  const receipt = join(folder, "receipts", "a.receipt.xml");
  const task = {
    ...{ id: 7, companyId: 1, reference: "sealed", from, to, sha256: shaOf("ours") },
    ...{ receipt: "<StopResponse>ours</StopResponse>", receiptPaths: [receipt] },
  };
  writeFileSync(from, "ours");
  return { from, to, receipt, task };
}

const text = (path: string) => readFileSync(path, "utf8");
const move = ({ from, to }: Ground, hold: Hold) =>
  linkShared({ from, to, sha256: shaOf("ours"), privateName, hold });

test("a task of a lease that is over changes nothing", () => {
  const at = ground();
  expect(fileGroupAway([{ ...at.task, goodUntil: monotonicMs() - 1 }])).toEqual([{ id: 7, kind: "fenced" }]);
  expect([text(at.from), existsSync(at.to), existsSync(at.receipt)]).toEqual(["ours", false, false]);
});

test("a task of a lease that is good leaves what one without leases leaves", () => {
  const at = ground();
  writeFileSync(at.receipt, "<StopResponse>of before</StopResponse>");
  expect(fileGroupAway([{ ...at.task, goodUntil: monotonicMs() + 60_000 }])).toEqual([
    { id: 7, kind: "filed" },
  ]);
  expect([existsSync(at.from), text(at.to), text(at.receipt)]).toEqual([false, "ours", at.task.receipt]);
  for (const folder of ["inbound", "archive", "receipts"])
    expect(readdirSync(join(at.from, "..", "..", folder)).filter((name) => name.startsWith("."))).toEqual([]);
  expect(statSync(at.to).nlink).toBe(1);
});

test("a file that takes the place during a move is not overwritten: ours goes beside it", () => {
  const at = ground();
  writeFileSync(at.to, "of another");
  const [result] = fileGroupAway([{ ...at.task, goodUntil: monotonicMs() + 60_000 }]);
  expect(result).toMatchObject({ kind: "filed", actual: expect.stringContaining("sealed") });
  expect(text(at.to)).toBe("of another");
});

test("a file that has come under the name since is not moved: its further name is removed again", () => {
  const at = ground();
  const hold = frozenAfter(1, () => {
    unlinkSync(at.from);
    writeFileSync(at.from, "newer");
  });
  expect(() => move(at, hold)).toThrow(HoldOverError);
  expect([text(at.from), existsSync(at.to), statSync(at.from).nlink]).toEqual(["newer", false, 1]);
});

test("the move that the new owner has made stays", () => {
  const at = ground();
  const hold = frozenAfter(1, () => {
    renameSync(at.from, at.to);
    writeFileSync(at.from, "newer");
  });
  expect(move(at, hold)).toBe(false);
  expect([text(at.from), text(at.to)]).toEqual(["newer", "ours"]);
});

test("what a node has left that died in the middle of a move is tidied up, and what it took by mistake is given back", () => {
  const at = ground();
  const task = { ...at.task, goodUntil: monotonicMs() + 60_000 };
  fileGroupAway([task]);
  const left = (folder: string, name: string) => join(at.from, "..", "..", folder, name);
  linkSync(at.to, left("inbound", ".7.00000000.gone"));
  writeFileSync(left("inbound", ".7.11111111.gone"), "newer");
  writeFileSync(left("receipts", ".7.00000000.gone.new"), "<StopRes");
  writeFileSync(left("inbound", ".77.00000000.gone"), "of another task");
  expect(fileGroupAway([task])).toEqual([{ id: 7, kind: "filed" }]);
  expect(readdirSync(left("inbound", ".")).sort()).toEqual([".77.00000000.gone", "a.xml"]);
  expect([text(at.from), text(at.to), readdirSync(left("receipts", "."))]).toEqual([
    ...["newer", "ours"],
    ["a.receipt.xml"],
  ]);
});

test("of two files the old name is removed only from the one that was moved", () => {
  const at = ground();
  expect(move(at, good)).toBe(true);
  const moved = statSync(at.to);
  unlinkSync(at.from);
  writeFileSync(at.from, "newer");
  removeName(at.from, moved, privateName);
  expect(text(at.from)).toBe("newer");
  unlinkSync(at.from);
  linkSync(at.to, at.from);
  removeName(at.from, moved, privateName);
  expect([existsSync(at.from), text(at.to)]).toEqual([false, "ours"]);
  removeName(at.from, moved, privateName);
});

/** Puts a receipt there as another node does: a file of its own. */
function putReceipt(path: string, content: string): void {
  const temporary = `${path}.of-another`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
}

const looks = [1, 2, 3, 4];
const holds = [
  ...looks.map((look) => [`is over at look ${look}`, (act: () => void) => overAt(look, act)] as const),
  ...looks.map(
    (look) => [`freezes after look ${look}`, (act: () => void) => frozenAfter(look, act)] as const,
  ),
];

describe.each([
  ["where none was", undefined],
  ["where that of before lay", "<StopResponse>of before</StopResponse>"],
])("a receipt %s, by a node that", (_, before) => {
  const newer = "<StopResponse>newer</StopResponse>";
  /** Whether it was placed, and the lease good at the last look. */
  function place(path: string, hold: Hold): boolean {
    try {
      placeReceiptShared({ path, text: ours, privateName, hold });
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(HoldOverError);
      return false;
    }
  }

  test.each(holds)("%s, is that of the new owner in the end", (_name, holdWith) => {
    const at = ground();
    if (before !== undefined) putReceipt(at.receipt, before);
    let hasActed = false;
    const hold = holdWith(() => {
      hasActed = true;
      putReceipt(at.receipt, newer);
    });
    place(at.receipt, hold);
    // Without that look all was done before.
    expect(text(at.receipt)).toBe(hasActed ? newer : ours);
    expect(readdirSync(join(at.receipt, ".."))).toEqual(["a.receipt.xml"]);
  });

  test.each(holds)("%s, is there in the end when the new owner writes the same one", (_name, holdWith) => {
    const at = ground();
    if (before !== undefined) putReceipt(at.receipt, before);
    const ofNewOwner = { path: at.receipt, text: ours, privateName: ".7.another.gone" };
    place(
      at.receipt,
      holdWith(() => placeReceiptShared({ ...ofNewOwner, hold: good })),
    );
    expect(text(at.receipt)).toBe(ours);
    expect(readdirSync(join(at.receipt, ".."))).toEqual(["a.receipt.xml"]);
  });

  test.each(holds)("%s, is as before when the new owner has done nothing yet", (_name, holdWith) => {
    const at = ground();
    if (before !== undefined) putReceipt(at.receipt, before);
    const isPlaced = place(
      at.receipt,
      holdWith(() => undefined),
    );
    expect(existsSync(at.receipt) ? text(at.receipt) : undefined).toBe(isPlaced ? ours : before);
    expect(readdirSync(join(at.receipt, "..")).filter((name) => name.startsWith("."))).toEqual([]);
  });
});

test("a receipt that lies there already is replaced", () => {
  const at = ground();
  writeFileSync(at.receipt, "<StopResponse>of before</StopResponse>");
  placeReceiptShared({ path: at.receipt, text: ours, privateName, hold: good });
  expect(text(at.receipt)).toBe(ours);
});

describe("a receipt that is written only where it stands as it was found", () => {
  /** Acts at that look; the lease stays good. */
  const actingAt = (look: number, act: () => void): Hold => {
    let looks = 0;
    return {
      isOver() {
        looks += 1;
        if (looks === look) act();
        return false;
      },
    };
  };

  test.each([1, 2])("does not come again when its host deletes it meanwhile (look %i)", (look) => {
    const at = ground();
    putReceipt(at.receipt, "<StopResponse>of before</StopResponse>");
    let hasDeleted = false;
    const hold = actingAt(look, () => {
      unlinkSync(at.receipt);
      hasDeleted = true;
    });
    const onlyIf = "there";
    expect(placeReceiptShared({ path: at.receipt, text: ours, privateName, hold, onlyIf })).toBe(false);
    expect(hasDeleted).toBe(true);
    expect(readdirSync(join(at.receipt, ".."))).toEqual([]);
  });

  test("replaces none that has come meanwhile, and is written where there is none", () => {
    const at = ground();
    const given = { path: at.receipt, text: ours, privateName, onlyIf: "missing" } as const;
    const newer = "<StopResponse>newer</StopResponse>";
    const hold = actingAt(1, () => putReceipt(at.receipt, newer));
    expect(placeReceiptShared({ ...given, hold })).toBe(false);
    expect(text(at.receipt)).toBe(newer);
    unlinkSync(at.receipt);
    expect(placeReceiptShared({ ...given, hold: good })).toBe(true);
    expect(text(at.receipt)).toBe(ours);
    expect(readdirSync(join(at.receipt, ".."))).toEqual(["a.receipt.xml"]);
  });
});

test("a stale receipt comes back when the lease is over", () => {
  const at = ground();
  writeFileSync(at.receipt, "<StopResponse>stale</StopResponse>");
  expect(() => removeStaleShared(at.receipt, privateName, overAt(2))).toThrow(HoldOverError);
  expect(text(at.receipt)).toContain("stale");
  expect(removeStaleShared(at.receipt, privateName, good)).toBe(true);
  expect(existsSync(at.receipt)).toBe(false);
  expect(removeStaleShared(at.receipt, privateName, good)).toBe(false);
});

test("a receipt that somebody else has dealt with before it is given back is no fault", () => {
  const at = ground();
  const taken = join(at.receipt, "..", privateName);
  const quicker = overAt(2, () => rmSync(taken));
  writeFileSync(at.receipt, "<StopResponse>stale</StopResponse>");
  expect(() => removeStaleShared(at.receipt, privateName, quicker)).toThrow(HoldOverError);
  const former = overAt(3, () => rmSync(`${taken}.former`));
  writeFileSync(at.receipt, "<StopResponse>of before</StopResponse>");
  expect(() => placeReceiptShared({ path: at.receipt, text: ours, privateName, hold: former })).toThrow(
    HoldOverError,
  );
  expect(readdirSync(join(at.receipt, ".."))).toEqual([]);
});

test("a folder in the place of a receipt stays there, and is told", () => {
  const at = ground();
  mkdirSync(at.receipt);
  expect(() => removeStaleShared(at.receipt, privateName, good)).toThrow("EISDIR");
  expect(() => placeReceiptShared({ path: at.receipt, text: ours, privateName, hold: good })).toThrow(
    "EISDIR",
  );
  expect(readdirSync(join(at.receipt, ".."))).toEqual(["a.receipt.xml"]);
  expect(statSync(at.receipt).isDirectory()).toBe(true);
});

test("of a company of others, the receipt that was read is removed, and none that has come since", () => {
  const at = ground();
  const read = () => ({ path: at.receipt, text: text(at.receipt), file: lstatSync(at.receipt) });
  writeFileSync(at.receipt, "<StopResponse>of before</StopResponse>");
  const before = read();
  writeFileSync(at.receipt, ours);
  expect(removeReadReceipt(before, privateName)).toBe(false);
  expect(text(at.receipt)).toBe(ours);
  // The same text again, in a file of its own.
  const replaced = read();
  placeReceiptShared({ path: at.receipt, text: ours, privateName, hold: good });
  expect(removeReadReceipt(replaced, privateName)).toBe(false);
  expect(text(at.receipt)).toBe(ours);
  expect(removeReadReceipt(read(), privateName)).toBe(true);
  removeReadReceipt(replaced, privateName);
  expect(readdirSync(join(at.receipt, ".."))).toEqual([]);
});
