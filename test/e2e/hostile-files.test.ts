/** Files that are made to hurt, or only very large: a clear receipt, the daemon goes on, its memory stays bounded. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getStop, http } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import {
  codesOf,
  fileName,
  parseReceipt,
  put,
  type Receipt,
  receiptFor,
  send,
  stopElement,
  stopFile,
} from "../support/stop-files.ts";

/** Two parser threads, each with documents of up to 50 MiB, and the daemon itself. */
const maxMemoryMb = 1_200;
const maxFileBytes = 50 * 1024 * 1024;

let site: Site;

beforeAll(async () => {
  site = await Site.make();
  await site.start();
});
afterAll(() => site.end());

/** A file of exactly this size, most of it comments. */
function fileOfSize(stopNbr: string, bytes: number) {
  const comment = `<!--${"x".repeat(4_000_000)}-->`;
  const bare = Buffer.byteLength(stopFile(stopNbr).content.toString());
  const whole = Math.floor((bytes - bare) / comment.length);
  const rest = bytes - bare - whole * comment.length;
  const more = `${comment.repeat(whole)}<!--${"y".repeat(rest - 7)}-->`;
  const file = stopFile(stopNbr, { more });
  expect(Buffer.byteLength(file.content.toString())).toBe(bytes);
  return file;
}

const bomb = `<!DOCTYPE Stop [<!ENTITY a "ha">${"abcdefghijklmnop"
  .split("")
  .map((name, index, all) => (index === 0 ? "" : `<!ENTITY ${name} "${`&${all[index - 1]};`.repeat(10)}">`))
  .join("")}]>`;

function expectRefusal(receipt: Receipt, code: number): void {
  expect(receipt).toMatchObject({ status: 99, records: [0, 0, 0] });
  expect(codesOf(receipt)).toEqual([code]);
}

describe("large files", () => {
  test("of 50 MiB to the byte is applied; one byte more is refused with 909, naming the limit", async () => {
    const [most, tooMuch] = [fileOfSize("F100", maxFileBytes), fileOfSize("F101", maxFileBytes + 1)];
    await put(site, most, tooMuch);
    expect(await receiptFor(site, most.name)).toMatchObject({ status: 10, records: [1, 0, 0] });
    const refused = await receiptFor(site, tooMuch.name);
    expectRefusal(refused, 909);
    expect(refused.errors[0]?.text).toMatch(/52428800|50 MiB/);
  });

  test("with 20,000 details is applied, and all of them are shown", async () => {
    const details = Array.from(
      { length: 20_000 },
      (_, index) =>
        `<StopDetail><StopDetailSeq>${index + 1}</StopDetailSeq><Product>P${index}</Product></StopDetail>`,
    );
    const file = stopFile("F110", { more: `<StopDetails>${details.join("")}</StopDetails>` });
    await put(site, file);
    expect(await receiptFor(site, file.name)).toMatchObject({ status: 10, records: [1, 0, 0] });
    const stop = await getStop(site, "F110");
    expect(stop?.stopDetails).toHaveLength(20_000);
    expect(JSON.stringify(stop?.stopDetails?.at(-1))).toContain("P19999");
  });

  test("with a text over its limit is refused with 909", async () => {
    const file = stopFile("F120", { more: `<ShipToLandmark>${"x".repeat(10_100_000)}</ShipToLandmark>` });
    await put(site, file);
    const receipt = await receiptFor(site, file.name);
    expectRefusal(receipt, 909);
    expect(receipt.errors[0]?.text).toContain("a text is longer than 10000000 characters. Shorten that text");
  });

  test("of 300 nested elements is refused with the limit of the settings, and no advice to cut it", async () => {
    const content = `<Stop>${"<Comments>".repeat(300)}${"</Comments>".repeat(300)}</Stop>`;
    const receipt = await send(site, { name: fileName("F130"), content });
    expectRefusal(receipt, 909);
    expect(receipt.errors[0]?.text).toContain("elements are nested deeper than 64. Close each element");
  });

  test("of zero bytes alone is refused as what it is", async () => {
    const receipt = await send(site, { name: fileName("F131"), content: Buffer.alloc(100) });
    expectRefusal(receipt, 950);
    expect(receipt.errors[0]?.text).toContain("nothing in it but zero bytes");
  });
});

describe("hostile documents", () => {
  const deep = `<Stop>${"<Comments>".repeat(100_000)}${"</Comments>".repeat(100_000)}</Stop>`;
  const documents = [
    ["an entity bomb", "F200", `${bomb}${stopElement("F200").replace("Corner Shop", "&p;")}`, 957],
    ["100,000 levels of elements", "F201", deep, 909],
    ["100,000 levels that are never closed", "F202", "<Stop>".repeat(100_000), 909],
  ] as const;

  test.each(documents)(
    "%s is refused over SFTP and over the web service",
    async (_what, stopNbr, content, code) => {
      expectRefusal(await send(site, { name: fileName(stopNbr), content }), code);
      const ask = { body: content, type: "application/xml" };
      const answer = await http(site, `/api/stop/${company}`, ask);
      expect(answer.status).toBe(200);
      expectRefusal(parseReceipt(answer.body), code);
    },
  );

  test("many of them at once do not keep a good file waiting for long", async () => {
    const bad = documents.flatMap(([, , content], kind) =>
      Array.from({ length: 5 }, (_, index) => ({ name: fileName(`f3${kind}${index}`), content })),
    );
    const good = stopFile("F399", { time: "235959" });
    await put(site, ...bad, good);
    expect(await receiptFor(site, good.name)).toMatchObject({ status: 10 });
    for (const { name } of bad) expect((await receiptFor(site, name)).status).toBe(99);
  });
});

test("after all of this the same daemon is ready, its ledger right and its memory bounded", async () => {
  expect(await (await fetch(`${site.http}/readyz`)).json()).toMatchObject({ status: "ready" });
  expect(await send(site, stopFile("F900"))).toMatchObject({ status: 10 });
  const report = await site.json<{ discrepancies: unknown[] }>("ledger", "verify");
  expect(report.discrepancies).toEqual([]);
  const { now, peak } = await site.daemon.memoryMb();
  console.log(`hostile files: resident memory ${now.toFixed(0)} MiB, at its highest ${peak.toFixed(0)} MiB`);
  expect(peak).toBeLessThan(maxMemoryMb);
});
