/** Files that wait are applied by (time, Function, stop number), each once; what a second sending of a name is answered. */
import { existsSync, renameSync } from "node:fs";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { getStop, sftp } from "../support/clients.ts";
import { company, type LogLine, Site } from "../support/daemon.ts";
import {
  codesOf,
  deletionFile,
  fileName,
  filedIn,
  put,
  receiptFor,
  receiptName,
  type StopFile,
  send,
  stopFile,
  waitingIn,
} from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;

beforeAll(async () => {
  // Two looks of the scan see files that were dropped together, not one after the other.
  site = await Site.make({ inbound: { settleMs: 300, scanMs: 500 } });
});
afterAll(() => site.end());
beforeEach(async () => {
  if (!site.isRunning) await site.start();
});

/** The given names in the order in which they were decided about. The log comes a moment after the receipts. */
async function decidedOrder(files: readonly StopFile[]): Promise<string[]> {
  const names = new Set(files.map(({ name }) => name));
  return await waitFor("the decisions in the log", () => {
    const decided = site.daemon.log
      .filter(({ msg, file }) => msg.startsWith("file ") && names.has(String(file)))
      .map(({ file }) => String(file));
    return decided.length >= names.size && decided;
  });
}

/** All of them within a moment, so that no look of the scan comes between two. */
async function drop(files: readonly StopFile[]): Promise<void> {
  for (const { name, content } of files) await writeFile(site.path("inbound", `.${name}`), content);
  for (const { name } of files) renameSync(site.path("inbound", `.${name}`), site.path("inbound", name));
}

/** Removes the receipt as a host does, and sends a file of that name again. */
async function sendAgain(file: StopFile) {
  const result = await sftp(site, [`rm receipts/${receiptName(file.name)}`]);
  expect(result.exitCode, result.output).toBe(0);
  return await send(site, file);
}

describe("order", () => {
  const sealed = (seal: string) => `<SealNbr>${seal}</SealNbr>`;

  test("files dropped while the daemon is down are applied by time, then Function, then stop number", async () => {
    await site.stop();
    const inOrder = [
      stopFile("O100", { time: "20251231_235959", more: sealed("FIRST") }),
      stopFile("O100", { time: "080000", more: sealed("SECOND") }),
      // Within one second 01 goes before 02, and then the stop number counts.
      stopFile("O101", { time: "080001" }),
      stopFile("O102", { time: "080001" }),
      deletionFile("O100", "080001"),
      stopFile("O100", { time: "080002", more: sealed("LAST") }),
    ];
    await drop([3, 5, 1, 4, 0, 2].flatMap((index) => inOrder[index] ?? []));
    await site.start();
    for (const { name } of inOrder) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    expect(await decidedOrder(inOrder)).toEqual(inOrder.map(({ name }) => name));
    expect(await getStop(site, "O100")).toMatchObject({ stopStatus: "10", sealNbr: "LAST" });
  });

  test("files dropped together into the folder of a running daemon are ordered as well", async () => {
    const times = ["100000", "090000", "080000", "110000", "085959"];
    const files = times.map((time) => stopFile("O110", { time, more: sealed(`T${time}`) }));
    await drop(files);
    for (const { name } of files) expect(await receiptFor(site, name)).toMatchObject({ status: 10 });
    expect(await decidedOrder(files)).toEqual(files.map(({ name }) => name).sort());
    expect(await getStop(site, "O110")).toMatchObject({ sealNbr: "T110000" });
  });

  test("thirty changes of one stop in one session end with the newest, whatever their order on the way", async () => {
    const times = Array.from(
      { length: 30 },
      (_, index) => `08${String((index * 7) % 30).padStart(2, "0")}00`,
    );
    const files = times.map((time) => stopFile("O120", { time, more: sealed(time) }));
    await put(site, ...files);
    const receipts = await Promise.all(files.map(({ name }) => receiptFor(site, name)));
    // Each was applied, or came when a newer one had been: nothing else can have happened.
    for (const receipt of receipts) expect(receipt.status === 10 || codesOf(receipt)[0] === 954).toBe(true);
    expect(await getStop(site, "O120")).toMatchObject({ sealNbr: "082900" });
  });
});

describe("once", () => {
  test("the same file again is answered with the first receipt and changes nothing", async () => {
    const file = stopFile("O200", { more: "<SealNbr>ONE</SealNbr>" });
    const first = await send(site, file);
    await send(site, stopFile("O200", { time: "090000", more: "<SealNbr>TWO</SealNbr>" }));
    expect(await sendAgain(file)).toEqual(first);
    expect(await getStop(site, "O200")).toMatchObject({ sealNbr: "TWO" });
    const entries = await site.json<{ state: string; duplicateOf: number | null }[]>(
      "files",
      "--stop",
      "o200",
    );
    const states = entries.map(({ state }) => state);
    expect(states.filter((state) => state === "applied")).toHaveLength(2);
    expect(states.filter((state) => state === "duplicate")).toHaveLength(1);
  });

  test("the same name with other content, after it was applied: 955, and the stop stays", async () => {
    const file = stopFile("O210", { more: "<SealNbr>ONE</SealNbr>" });
    await send(site, file);
    const other = await sendAgain(stopFile("O210", { more: "<SealNbr>TWO</SealNbr>" }));
    expect(codesOf(other)).toEqual([955]);
    expect(await getStop(site, "O210")).toMatchObject({ sealNbr: "ONE" });
  });

  test("the same name with other content, after it was refused, is processed", async () => {
    const broken = { name: fileName("O220"), content: "<Stop>" };
    expect(codesOf(await send(site, broken))).toEqual([950]);
    expect(await sendAgain(stopFile("O220"))).toMatchObject({ status: 10, records: [1, 0, 0] });
    expect(await filedIn(site, "error")).toContain(broken.name);
    expect((await filedIn(site, "archive")).some((name) => name.startsWith("o220_20261105"))).toBe(true);
  });

  test("a refused file again is refused as the first time", async () => {
    const broken = { name: fileName("O230"), content: "<Stop>" };
    const first = await send(site, broken);
    expect(await sendAgain(broken)).toEqual(first);
  });

  test("a change under a new time is applied, a deleted stop is made anew", async () => {
    await send(site, stopFile("O240", { time: "080000" }));
    await send(site, deletionFile("O240", "090000"));
    const anew = await send(site, stopFile("O240", { time: "100000" }));
    expect(anew).toMatchObject({ status: 10, records: [1, 0, 0] });
    expect(await getStop(site, "O240")).toMatchObject({ stopStatus: "10" });
  });

  test("inbound.lateFiles: apply, taken by SIGHUP, applies a late file", async () => {
    await send(site, stopFile("O250", { time: "090000", more: "<SealNbr>NEW</SealNbr>" }));
    await site.reconfigure({ inbound: { settleMs: 300, scanMs: 500, lateFiles: "apply" } });
    site.daemon.process.kill("SIGHUP");
    await site.daemon.waitForLog(({ msg }) => msg === "configuration reloaded");
    const late = await send(site, stopFile("O250", { time: "080000", more: "<SealNbr>OLD</SealNbr>" }));
    expect(late).toMatchObject({ status: 10, records: [0, 1, 0] });
    expect(await getStop(site, "O250")).toMatchObject({ sealNbr: "OLD" });
  });
});

describe("a folder that others write to", () => {
  test("a file that grows is taken when it is whole, not before", async () => {
    const file = stopFile("O300");
    const path = site.path("inbound", file.name);
    const text = String(file.content);
    await writeFile(path, text.slice(0, 200));
    // Looks go by: it is settled, but breaks off at its end.
    await site.daemon.waitForLog(({ msg }) => msg.startsWith("a file ends in the middle"));
    expect(await site.cli("explain", file.name)).toMatchObject({
      output: expect.stringContaining("later files of its stop wait"),
    });
    // By another way in: it waits for the one that goes before it.
    const later = stopFile("O300", { time: "090000", more: "<SealNbr>LATER</SealNbr>" });
    await put(site, later);
    await send(site, stopFile("O301"));
    expect(existsSync(site.path("receipts", receiptName(later.name)))).toBe(false);
    await writeFile(path, text);
    expect(await receiptFor(site, file.name)).toMatchObject({ status: 10, records: [1, 0, 0] });
    expect(await receiptFor(site, later.name)).toMatchObject({ status: 10, records: [0, 1, 0] });
    expect(await getStop(site, "O300")).toMatchObject({ sealNbr: "LATER" });
  });

  test("a half that is given up leaves the receipt of the whole file that came after it", async () => {
    const [half, whole] = [stopFile("O302"), stopFile("O302", { more: "<SealNbr>WHOLE</SealNbr>" })];
    await writeFile(site.path("inbound", half.name), String(half.content).slice(0, 200));
    await site.daemon.waitForLog(({ msg, file }) => msg.startsWith("a file ends in") && file === half.name);
    await put(site, whole);
    const receipt = await receiptFor(site, whole.name);
    expect(receipt).toMatchObject({ status: 10 });
    await site.reconfigure({ inbound: { settleMs: 300, scanMs: 500, incompleteGraceMs: 1_000 } });
    site.daemon.process.kill("SIGHUP");
    await waitFor("the refusal of the half", async () => {
      const entries = await site.json<{ name: string; state: string }[]>("files", "--stop", "O302");
      return entries.some(({ name, state }) => name === half.name && state === "refused");
    });
    await waitFor("nothing waits", async () => (await waitingIn(site)).length === 0);
    expect(await receiptFor(site, whole.name)).toEqual(receipt);
  });

  test.each(["SIGTERM", "SIGKILL"])(
    "a half in a further folder keeps back the later files of its stop also after %s and a start",
    async (signal) => {
      const folder = join(site.folder, `drop-${signal.toLowerCase()}`);
      await mkdir(folder);
      await site.reconfigure({
        inbound: { settleMs: 300, scanMs: 500 },
        companies: { [company]: { folders: [{ path: folder }] } },
      });
      await site.stop();
      await site.start();
      const stop = `O303${signal}`;
      const [half, later] = [stopFile(stop), stopFile(stop, { time: "090000" })];
      await writeFile(join(folder, half.name), String(half.content).slice(0, 200));
      const isHalf = ({ msg, file }: LogLine) => msg.startsWith("a file ends in") && file === half.name;
      await site.daemon.waitForLog(isHalf);
      await put(site, later);
      await waitFor(
        "the ledger to have it",
        async () => (await site.json<unknown[]>("files", "--stop", stop)).length === 1,
      );
      await (signal === "SIGTERM" ? site.stop() : site.kill());
      await site.start();
      // Of another stop: it is decided about behind whatever could be decided at the start.
      await send(site, stopFile(`O304${signal}`));
      await site.daemon.waitForLog(isHalf);
      const [entry] = await site.json<{ name: string; state: string }[]>("files", "--stop", stop);
      expect(entry).toMatchObject({ name: later.name, state: "waiting" });
      await writeFile(join(folder, half.name), half.content);
      expect(await receiptFor(site, half.name)).toMatchObject({ status: 10, records: [1, 0, 0] });
      expect(await receiptFor(site, later.name)).toMatchObject({ status: 10, records: [0, 1, 0] });
    },
  );

  test("a temporary name is left alone until it is renamed", async () => {
    const file = stopFile("O310");
    await writeFile(site.path("inbound", `${file.name}.part`), file.content);
    await drop([stopFile("O311")]);
    await receiptFor(site, fileName("O311"));
    expect(await getStop(site, "O310")).toBeUndefined();
    await rename(site.path("inbound", `${file.name}.part`), site.path("inbound", file.name));
    expect(await receiptFor(site, file.name)).toMatchObject({ status: 10 });
  });
});

test("after all of this the accounting is right", async () => {
  const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
  expect(report.discrepancies).toEqual([]);
});
