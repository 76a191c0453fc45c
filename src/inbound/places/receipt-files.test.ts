import { execFileSync, spawn } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { FilingThread } from "./filing-thread.ts";
import { receiptsOfOthers, SharedReceiptFiles, soleReceiptFiles } from "./receipt-files.ts";
import { makeSharedChange } from "./shared-changes.ts";
import { HoldOverError } from "./shared-moves.ts";

const minuteMs = 60_000;
const thread = new FilingThread();
afterAll(() => thread.close());

let path: string;
beforeEach(() => {
  path = join(temporaryFolder(), "receipts", "1001_20261105_080000.receipt.xml");
  mkdirSync(dirname(path));
});

describe.each([
  ["of one process", soleReceiptFiles],
  ["of a node that has the company", new SharedReceiptFiles(thread, () => minuteMs)],
])("receipts %s", (_, receipts) => {
  it("are written over an older one, and removed, and nothing else lies beside them", async () => {
    expect(await receipts.remove(path)).toBe(false);
    expect(await receipts.write(path, "one")).toBe(true);
    expect(await receipts.write(path, "two")).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(await receipts.remove(path)).toBe(true);
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it("are written only where it stands as it was found", async () => {
    expect(await receipts.write(path, "one", { onlyIf: "there" })).toBe(false);
    expect(existsSync(path)).toBe(false);
    expect(await receipts.write(path, "one", { onlyIf: "missing" })).toBe(true);
    expect(await receipts.write(path, "two", { onlyIf: "missing" })).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("one");
    expect(await receipts.write(path, "two", { onlyIf: "there" })).toBe(true);
    expect(readFileSync(path, "utf8")).toBe("two");
  });

  it("are changed in the order that was asked for, whoever waits", async () => {
    const changes = [receipts.write(path, "of an earlier file"), receipts.remove(path)];
    expect(await Promise.all(changes)).toEqual([true, true]);
    expect(existsSync(path)).toBe(false);
  });

  it("tell that a folder has the name", async () => {
    mkdirSync(path);
    await expect(receipts.remove(path)).rejects.toMatchObject({ code: expect.stringMatching(/^E/) });
    await expect(receipts.write(path, "one")).rejects.toMatchObject({ code: "EISDIR" });
    expect(readdirSync(path)).toEqual([]);
  });
});

describe("receipts of a node that has lost the company", () => {
  it("stay as the new owner has written them", async () => {
    const receipts = new SharedReceiptFiles(thread, () => 0);
    writeFileSync(path, "of the new owner");
    await expect(receipts.remove(path)).rejects.toThrow(HoldOverError);
    await expect(receipts.write(path, "older")).rejects.toThrow(HoldOverError);
    expect(readFileSync(path, "utf8")).toBe("of the new owner");
    expect(readdirSync(dirname(path))).toHaveLength(1);
  });

  it("are left alone when the lease was over before the thread came to them", () => {
    writeFileSync(path, "of the new owner");
    const late = { path, privateName: ".again.0123abcd.gone", goodUntil: 0 };
    expect(makeSharedChange({ ...late, kind: "removeReceipt" })).toEqual({ kind: "over" });
    expect(makeSharedChange({ ...late, kind: "writeReceipt", text: "older" })).toEqual({ kind: "over" });
    expect(makeSharedChange({ ...late, kind: "endTaking", from: path, at: path })).toEqual({ kind: "over" });
    expect(readFileSync(path, "utf8")).toBe("of the new owner");
    expect(readdirSync(dirname(path))).toHaveLength(1);
  });
});

describe("changes that a thread is slow to make", () => {
  /** Keeps the thread busy until it is told to go on. */
  function keepBusy(folder: string): () => void {
    const fifo = join(folder, ".busy");
    execFileSync("mkfifo", [fifo]);
    const { ino, dev } = lstatSync(fifo);
    const change = { kind: "removeReadReceipt", path: fifo, text: "none", file: { ino, dev } } as const;
    void thread.change(fifo, () => ({ ...change, privateName: ".busy.gone" }));
    // A read of it ends when somebody has written to it; what was read is another one then.
    return () => void spawn("sh", ["-c", ': >"$0"', fifo], { stdio: "inherit" });
  }

  it("are not made when they are over by then, or the lease is, and with the lease of then otherwise", async () => {
    const folder = temporaryFolder();
    let goodForMs = 1;
    let isOver = false;
    const receipts = new SharedReceiptFiles(thread, () => goodForMs);
    const goOn = keepBusy(folder);
    const called = receipts.write(path, "called for");
    const over = receipts.write(path, "of an earlier file", { isOver: () => isOver });
    await pause(20);
    isOver = true;
    // It was renewed meanwhile.
    goodForMs = minuteMs;
    goOn();
    expect(await called).toBe(true);
    expect(await over).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("called for");
    const goOnAgain = keepBusy(temporaryFolder());
    const late = receipts.write(path, "late");
    const told = expect(late).rejects.toThrow(HoldOverError);
    goodForMs = 0;
    goOnAgain();
    await told;
    expect(readFileSync(path, "utf8")).toBe("called for");
  });

  it("end with those in line when the company goes: none of them is made after that", async () => {
    const goOn = keepBusy(temporaryFolder());
    const receipts = new SharedReceiptFiles(thread, () => minuteMs);
    const waiting = expect(receipts.write(path, "late")).rejects.toThrow(HoldOverError);
    const end = receipts.end();
    goOn();
    await Promise.all([waiting, end]);
    expect(existsSync(path)).toBe(false);
  });

  it("tell when the lease was renewed and one was undone all the same: it may be asked for again", async () => {
    const undone = {
      async change(): Promise<boolean> {
        throw new HoldOverError();
      },
      receiptIdle: async () => undefined,
    };
    const receipts = new SharedReceiptFiles(undone, () => minuteMs);
    await expect(receipts.write(path, "one")).rejects.toThrow("was not changed in time");
  });

  it("say that there was no receipt when its host has deleted it before their turn", async () => {
    const goOn = keepBusy(temporaryFolder());
    const receipts = new SharedReceiptFiles(thread, () => minuteMs);
    writeFileSync(path, "collected");
    const removing = receipts.remove(path);
    await pause(50);
    rmSync(path);
    goOn();
    expect(await removing).toBe(false);
  });

  it("are waited for at the end when they are being made, and none is begun after it", async () => {
    const receipts = new SharedReceiptFiles(thread, () => minuteMs);
    const writing = receipts.write(path, "one");
    // Its turn has come by then.
    await pause(0);
    await receipts.end();
    expect(readFileSync(path, "utf8")).toBe("one");
    expect(await writing).toBe(true);
    await expect(receipts.write(path, "two")).rejects.toThrow(HoldOverError);
    writeFileSync(path, "two");
    await expect(receipts.remove(path)).rejects.toThrow(HoldOverError);
    expect(readFileSync(path, "utf8")).toBe("two");
  });

  it("hold up nothing else, as on storage that gives no answer", async () => {
    const text = "<StopResponse/>";
    // A read of it ends when somebody has written to it.
    execFileSync("mkfifo", [path]);
    const { ino, dev } = lstatSync(path);
    const folder = dirname(path);
    const writer = spawn(
      "sh",
      [
        "-c",
        `sleep 0.5; printf '${text}' >"$0"; until [ -p .mark.gone ]; do sleep 0.1; done; printf '${text}' >.mark.gone`,
        path,
      ],
      {
        cwd: folder,
        stdio: "inherit",
      },
    );
    const ended = new Promise((resolve) => writer.on("exit", resolve));
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 10);
    try {
      const change = { kind: "removeReadReceipt", path, text, file: { ino, dev } } as const;
      await thread.change(path, () => ({ ...change, privateName: ".mark.gone" }));
      expect(turns).toBeGreaterThan(20);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      clearInterval(timer);
      await ended;
    }
  });

  it("take no receipt of another file for the one that was read", async () => {
    writeFileSync(path, "earlier");
    const receipts = receiptsOfOthers(thread);
    const read = await receipts.read(path);
    if (read === undefined) throw new Error("there is one");
    writeFileSync(path, "later");
    await receipts.removeRead(read);
    expect(readFileSync(path, "utf8")).toBe("later");
    await receipts.removeRead({ ...read, text: "later" });
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});
