import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { sharedReceiptFiles, soleReceiptFiles } from "./receipt-files.ts";
import { HoldOverError } from "./shared-moves.ts";

let path: string;
beforeEach(() => {
  path = join(temporaryFolder(), "receipts", "1001_20261105_080000.receipt.xml");
  mkdirSync(dirname(path));
});

describe.each([
  ["of one process", soleReceiptFiles],
  ["of a node that has the company", sharedReceiptFiles({ isOver: () => false })],
])("receipts %s", (_, receipts) => {
  it("are written over an older one, and removed, and nothing else lies beside them", async () => {
    expect(await receipts.remove(path)).toBe(false);
    receipts.write(path, "one");
    receipts.write(path, "two");
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(await receipts.remove(path)).toBe(true);
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

describe("receipts of a node that has lost the company", () => {
  it("stay as the new owner has written them", async () => {
    const receipts = sharedReceiptFiles({ isOver: () => true });
    writeFileSync(path, "of the new owner");
    await expect(receipts.remove(path)).rejects.toThrow(HoldOverError);
    expect(() => receipts.write(path, "older")).toThrow(HoldOverError);
    expect(readFileSync(path, "utf8")).toBe("of the new owner");
    expect(readdirSync(dirname(path))).toHaveLength(1);
  });

  it("come back when the lease ends in the middle of a change", async () => {
    let asked = 0;
    const receipts = sharedReceiptFiles({
      isOver() {
        asked += 1;
        return asked > 1;
      },
    });
    writeFileSync(path, "of the new owner");
    await expect(receipts.remove(path)).rejects.toThrow(HoldOverError);
    asked = 0;
    expect(() => receipts.write(path, "older")).toThrow(HoldOverError);
    expect(existsSync(path) && readFileSync(path, "utf8")).toBe("of the new owner");
  });
});
