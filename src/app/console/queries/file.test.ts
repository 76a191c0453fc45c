import { rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { carrier, stopElement, stopsDocument } from "../../../../test/support/stop-files.ts";
import { plainStop } from "../../../../test/support/plain-stop.ts";
import type { Config } from "../../../config/schema.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import { ledgerOfEachTest } from "../../../inbound/testing/ledger-fixture.ts";
import { ledgerNumberKind } from "../../../inbound/receipts/receipts.ts";
import type { Fault } from "../../../lib/errors.ts";
import { createSealedNumbers, newSealingKey } from "../../../lib/sealed-numbers.ts";
import { requestRetry } from "../../../store/ledger/files.ts";
import { saveStop } from "../../../store/stops/stops.ts";
import { queryFile } from "./file.ts";
import { queryFileContent } from "./file-content.ts";

const ledger = ledgerOfEachTest();
const ledgerNumbers = createSealedNumbers(newSealingKey(), ledgerNumberKind);
const day = "2026-11-05";
const name = "s1_20261105_080000.xml";
const document = stopsDocument([stopElement("S1")]);

const context = () => ({
  ...{ read: ledger.store.read, stateDir: ledger.stateDir, config: {} as Config, ledgerNumbers },
  ...{ now: 1_700_000_100_000, timeLeftMs: () => 2_000 },
});
const scope = (): Scope => ({ companies: [{ id: ledger.companyId, code: "ACME" }], isOperator: false });

const find = (id: number, within = scope()) =>
  queryFile(context(), within, { reference: ledgerNumbers.seal(id) });
async function found(id: number) {
  const file = await find(id);
  if (file === undefined) throw new Error("the file is not found");
  return file;
}
async function contentOf(id: number, fromLine?: number) {
  const asked = { reference: ledgerNumbers.seal(id), fromLine };
  const content = await queryFileContent(context(), scope(), asked);
  if (content === undefined) throw new Error("the file is not found");
  return content;
}

async function decided(
  options: {
    state?: "applied" | "refused" | "superseded";
    faults?: readonly Fault[];
    text?: string;
    name?: string;
    stopNbr?: string;
  } = {},
): Promise<number> {
  const { state = "applied", faults = [], text = document, stopNbr = "S1", name: named = name } = options;
  const id = await ledger.wait(named, { text });
  await rm(join(ledger.stateDir, `companies/ACME/inbound/${named}`));
  const folder = state === "applied" ? "archive" : "error";
  const location = `companies/ACME/${folder}/${day}/${id}-${named}`;
  await ledger.decide(id, { state, faults, location, text, stopNbr });
  return id;
}

const notWellFormed: Fault = { code: "notWellFormed", message: "line 7: the end tag is missing", line: 7 };

describe("a file in the console", () => {
  it("is found by its reference, and not by its number or that of another installation", async () => {
    const id = await decided();
    expect(await found(id)).toMatchObject({ company: "ACME", name, state: "applied", stopNbr: "S1" });
    expect(await queryFile(context(), scope(), { reference: String(id) })).toBeUndefined();
    const foreign = createSealedNumbers(newSealingKey(), ledgerNumberKind).seal(id);
    expect(await queryFile(context(), scope(), { reference: foreign })).toBeUndefined();
  });

  it("of another company is not there, neither itself nor its content", async () => {
    const id = await decided();
    const others: Scope = {
      companies: [{ id: await ledger.company("GLOBEX"), code: "GLOBEX" }],
      isOperator: true,
    };
    const reference = ledgerNumbers.seal(id);
    expect(await find(id, others)).toBeUndefined();
    expect(await queryFileContent(context(), others, { reference, fromLine: undefined })).toBeUndefined();
    expect(await find(id, { companies: [], isOperator: true })).toBeUndefined();
  });

  it("is told in the words of the command, with each remedy once, without numbers and places", async () => {
    const faults = [notWellFormed, { ...notWellFormed, line: 9 }];
    const file = await found(await decided({ state: "refused", faults }));
    expect(file.words.state).toMatch(
      /^Refused 2023-11-14T22:13:21.000Z\. Stop S1, Function 01 \(create or update\)\.$/,
    );
    expect(file.words.reasons.map(({ reasonCode, line }) => [reasonCode, line])).toEqual([
      [950, 7],
      [950, 9],
    ]);
    expect(file.words.remedies).toEqual([
      "The file is damaged or was cut off: correct it and send it again.",
    ]);
    expect(file.words.place).toBe("It is kept as it was sent.");
    expect(JSON.stringify(file)).not.toContain(ledger.stateDir);
  });

  it("that waits names the files before it by their references", async () => {
    const first = await ledger.wait("s1_20261105_070000.xml", { nameTime: 20261105070000 });
    const file = await found(await ledger.wait(name));
    expect(file.state).toBe("waiting");
    expect(file.words.waiting.join(" ")).toContain(
      `s1_20261105_070000.xml (entry ${ledgerNumbers.seal(first)})`,
    );
    expect(file.receipt).toBeUndefined();
  });

  it("has the files of its name and of its stop, the newer ones marked", async () => {
    const older = await decided({ name: "s1_20261105_070000.xml" });
    const id = await decided({
      state: "superseded",
      faults: [{ code: "superseded", message: "a newer file counts" }],
    });
    const newer = await decided({ name: "s1_20261105_090000.xml" });
    const file = await found(id);
    expect(file.ofStop.map(({ reference, isNewer }) => [reference, isNewer])).toEqual([
      [ledgerNumbers.seal(newer), true],
      [ledgerNumbers.seal(older), false],
    ]);
    const again = await decided({
      state: "refused",
      faults: [{ code: "nameReused", message: "another content" }],
    });
    expect((await found(id)).namesakes.map(({ reference }) => reference)).toEqual([
      ledgerNumbers.seal(again),
    ]);
  });

  it("has its receipt, as the host got it", async () => {
    const id = await decided({ state: "refused", faults: [notWellFormed] });
    const { receipt, isReceiptReplaced } = await found(id);
    expect(receipt).toContain(ledgerNumbers.seal(id));
    expect(receipt).toContain("the end tag is missing");
    expect(isReceiptReplaced).toBe(false);
  });

  it("tells the decisions before a retry, and when that was asked for", async () => {
    const id = await decided({
      state: "refused",
      faults: [{ code: "partnerNotFound", message: "no carrier" }],
    });
    expect((await found(id)).words.canPassLater).toBe(true);
    await ledger.store.write("site", (tx) => requestRetry(tx, { id, now: 1_700_000_050_000 }));
    const file = await found(id);
    expect(file.repeats).toEqual([
      expect.objectContaining({
        state: "refused",
        askedAt: 1_700_000_050_000,
        reasons: [{ reasonCode: 925, message: "no carrier" }],
      }),
    ]);
    expect(file.words.canPassLater).toBe(false);
  });

  it("whose bytes went by their age says so, without the folder that they were moved to", async () => {
    const id = await decided();
    await ledger.store.write("site", (tx) =>
      tx
        .updateTable("files")
        .set({ removed_at: 1_700_000_200_000, pruned_days: 90, pruned_to: "/mnt/cold" })
        .where("id", "=", id)
        .execute(),
    );
    const file = await found(id);
    expect(file.words.place).toBe("Its content was pruned on 2023-11-14 by the retention of 90 days.");
    await rm(join(ledger.stateDir, `companies/ACME/archive/${day}/${id}-${name}`));
    expect(await contentOf(id)).toEqual({
      content: { kind: "absent", presence: "removed" },
      forms: { kind: "none", why: "absent" },
    });
  });
});

describe("the content of a file in the console", () => {
  const location = (id: number, folder = "archive") =>
    join(ledger.stateDir, `companies/ACME/${folder}/${day}/${id}-${name}`);

  it("has its lines from the beginning, and those around a fault far below", async () => {
    const text = Array.from({ length: 5_000 }, (_, index) => `<row>${index + 1}</row>`).join("\n");
    const id = await decided({ state: "refused", text, faults: [{ ...notWellFormed, line: 4_000 }] });
    const { content, forms } = await contentOf(id);
    if (content.kind !== "shown") throw new Error("nothing is shown");
    const numbers = content.lines.map(({ number }) => number);
    expect(numbers.slice(398)).toEqual([399, 400, ...[3_997, 3_998, 3_999, 4_000, 4_001, 4_002, 4_003]]);
    expect(content).toMatchObject({
      encoding: "UTF-8",
      lastLine: 5_000,
      isWholeSearched: true,
      isChanged: false,
    });
    expect(forms).toEqual({ kind: "none", why: "notRead" });
    const page = (await contentOf(id, 4_900)).content;
    expect(page.kind === "shown" && page.lines.map(({ number }) => number)).toEqual(
      Array.from({ length: 101 }, (_, index) => 4_900 + index),
    );
  });

  it("in UTF-16 is read as such", async () => {
    const id = await decided({ state: "refused", faults: [notWellFormed] });
    await writeFile(location(id, "error"), Buffer.from("\uFEFF<a>\nä</a>", "utf16le"));
    expect((await contentOf(id)).content).toMatchObject({
      encoding: "UTF-16 (little endian)",
      lines: [
        { number: 1, text: "<a>" },
        { number: 2, text: "ä</a>" },
      ],
      isChanged: true,
    });
  });

  it("of a link is not shown, wherever it leads", async () => {
    const id = await decided();
    await rm(location(id));
    await symlink("/etc/passwd", location(id));
    expect((await contentOf(id)).content).toEqual({ kind: "absent", presence: "notAFile" });
  });

  it("that is not what was decided about is not parsed", async () => {
    const id = await decided();
    await writeFile(location(id), document.replace("Corner", "Corned"));
    expect((await contentOf(id)).forms).toEqual({ kind: "none", why: "changed" });
  });

  it("with a DOCTYPE is shown and never parsed", async () => {
    const text = '<!DOCTYPE a [<!ENTITY b "c">]>\n<a>&b;</a>';
    const fault: Fault = { code: "forbiddenXml", message: "no DOCTYPE", line: 1 };
    const { content, forms } = await contentOf(await decided({ state: "refused", text, faults: [fault] }));
    expect(content).toMatchObject({
      lines: [{ text: '<!DOCTYPE a [<!ENTITY b "c">]>' }, { text: "<a>&b;</a>" }],
    });
    expect(forms).toEqual({ kind: "none", why: "notRead" });
  });

  it("is compared with the file before and with what is stored now, field by field", async () => {
    await decided({ name: "s1_20261105_070000.xml", text: document.replace("Corner Shop", "Old Shop") });
    const text = stopsDocument([stopElement("S1", carrier("FAST"), "03")]);
    const id = await decided({ text });
    const stored = { ...plainStop, companyId: ledger.companyId, stopNbr: "S1", carrierCode: "SLOW" };
    const body = JSON.stringify({
      stopNbr: "S1",
      to: {
        address: { name: "Corner Shop", city: "Shelbyville" },
        schedule: { timeZone: "America/Chicago" },
      },
    });
    await ledger.store.write("site", (tx) => saveStop(tx, { ...stored, body }));
    const { forms } = await contentOf(id);
    if (forms.kind !== "shown") throw new Error(forms.why);
    const [stop] = forms.stops;
    expect(stop).toMatchObject({
      stopNbr: "S1",
      stopFunction: "03",
      isStored: true,
      former: { name: "s1_20261105_070000.xml", isRead: true },
    });
    const fields = Object.fromEntries((stop?.fields ?? []).map(({ path, ...forms }) => [path, forms]));
    expect(fields).toMatchObject({
      "to.address.name": { former: "Old Shop", sent: "Corner Shop", stored: "Corner Shop" },
      "to.address.city": { former: "Springfield", sent: "Springfield", stored: "Shelbyville" },
      "stopAssignment.carrierCode": { sent: "FAST", stored: "SLOW" },
    });
    expect(fields["to.schedule.timeZone"]).toBeUndefined();
  });

  it("is not parsed when it is large, and its lines are shown all the same", async () => {
    const text = stopsDocument([
      stopElement("S1", `<Comments><Comment>${"x".repeat(1_100_000)}</Comment></Comments>`),
    ]);
    const { content, forms } = await contentOf(await decided({ text }));
    expect(forms).toEqual({ kind: "none", why: "tooLarge" });
    expect(content.kind === "shown" && content.lines.some(({ isCut }) => isCut)).toBe(true);
  });
});
