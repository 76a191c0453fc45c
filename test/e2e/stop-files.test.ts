/** Stop files over OpenSSH's client: from the put to the receipt, the stop over HTTP, and the file in `archive/`. */
import { hash } from "node:crypto";
import { copyFile, readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { getStop, importPartner, sftp } from "../support/clients.ts";
import { Site } from "../support/daemon.ts";
import {
  carrier,
  codesOf,
  declaration,
  deletionFile,
  filedIn,
  fileName,
  parseReceipt,
  put,
  receiptFor,
  receiptName,
  send,
  stopElement,
  stopFile,
  stopsDocument,
  waitingIn,
} from "../support/stop-files.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make();
  await site.start();
});
afterAll(() => site.end());

test("a stop is created, updated and deleted; each file has a receipt, lies in archive and has left inbound", async () => {
  const created = stopFile("S100");
  expect(await send(site, created)).toEqual({
    documentId: "s100_20261105_080000",
    status: 10,
    errors: [],
    records: [1, 0, 0],
  });
  expect(await getStop(site, "S100")).toMatchObject({ stopNbr: "S100", stopStatus: "10" });

  const content = `${declaration}${stopElement("S100").replace("Corner Shop", "Smith &amp; Söhne &lt;2&gt;")}`;
  const updated = { name: fileName("S100", "090000"), content };
  expect(await send(site, updated)).toMatchObject({ status: 10, records: [0, 1, 0] });
  expect((await getStop(site, "S100"))?.to?.address).toMatchObject({ name: "Smith & Söhne <2>" });

  const deleted = deletionFile("S100", "100000");
  expect(await send(site, deleted)).toMatchObject({ status: 10, records: [0, 0, 1] });
  expect(await getStop(site, "S100")).toMatchObject({ stopStatus: "99" });

  const names = [created, updated, deleted].map(({ name }) => name);
  expect(await filedIn(site, "archive")).toEqual(expect.arrayContaining(names));
  expect(await filedIn(site, "error")).not.toEqual(expect.arrayContaining(names));
  expect(await waitingIn(site)).toEqual([]);
});

test("a receipt says which file it answers, by hash, time and a reference that commands take", async () => {
  const began = Date.now();
  const [one, other] = [stopFile("S105"), stopFile("S106")];
  const root = async ({ name, content }: typeof one) => {
    await send(site, { name, content });
    const text = await readFile(site.path("receipts", receiptName(name)), "utf8");
    const [, sha256, received = "", ledger = ""] =
      /<StopResponse Sha256="(.*)" Received="(.*)" Ledger="(.*)">/.exec(text) ?? [];
    expect(sha256).toBe(hash("sha256", content, "hex"));
    expect(Date.parse(received)).toBeGreaterThanOrEqual(began);
    expect(Date.parse(received)).toBeLessThanOrEqual(Date.now());
    return ledger;
  };
  const ledger = await root(one);
  expect(ledger.slice(0, 8)).not.toBe((await root(other)).slice(0, 8));
  expect(await site.mustRun("file", "show", ledger)).toContain(one.name);
  expect(await site.mustRun("explain", ledger)).toContain(one.name);
  const strange = await site.cli("file", "show", "00000000-0000-0000-0000-000000000000");
  expect(strange).toMatchObject({ exitCode: 1, output: expect.stringContaining("there is no ledger entry") });
});

test("the host reads receipt and archived file with its own client, byte for byte", async () => {
  const file = stopFile("S110");
  await send(site, file);
  const commands = [
    `get receipts/${receiptName(file.name)} receipt.xml`,
    `get archive/*/${file.name} archived.xml`,
    `rm receipts/${receiptName(file.name)}`,
    "ls receipts",
    "ls inbound",
  ];
  const result = await sftp(site, commands);
  expect(result.exitCode, result.output).toBe(0);
  const receipt = parseReceipt(await readFile(join(site.client, "receipt.xml"), "utf8"));
  expect(receipt).toMatchObject({ status: 10, records: [1, 0, 0] });
  expect(await readFile(join(site.client, "archived.xml"), "utf8")).toBe(file.content);
  // What is left are the commands as the client shows them.
  expect(result.output.split("sftp> ls receipts")[1]).not.toContain(file.name.replace(".xml", ".receipt"));
  expect(result.output.split("sftp> ls inbound")[1]?.trim()).toBe("");
});

test("a password signs in as well as a key", async () => {
  const result = await sftp(site, ["pwd", "ls"], { password: site.password });
  expect(result.exitCode, result.output).toBe(0);
  expect(result.output).toContain("Remote working directory: /");
  for (const folder of ["inbound", "outbound", "receipts", "archive", "error"])
    expect(result.output).toContain(folder);
});

test("a carrier is imported over REST, assigned by Function 03 and taken away by an empty one", async () => {
  expect(await importPartner(site, "CARRIER1")).toMatchObject({ status: 200, body: '{"status":"Success"}' });
  const assigned = stopFile("S120", { more: carrier("CARRIER1"), stopFunction: "03" });
  expect(await send(site, assigned)).toMatchObject({ status: 10, records: [1, 0, 0] });
  expect(JSON.stringify(await getStop(site, "S120"))).toContain("CARRIER1");
  const taken = stopFile("S120", { time: "090000", more: carrier(""), stopFunction: "03" });
  expect(await send(site, taken)).toMatchObject({ status: 10, records: [0, 1, 0] });
  expect(JSON.stringify(await getStop(site, "S120"))).not.toContain("CARRIER1");
});

describe("a document of several stops", () => {
  test("is applied as a whole, and its receipt bears its DocumentID", async () => {
    const stops = ["S131", "S132", "S133"].map((stopNbr) => stopElement(stopNbr));
    const content = stopsDocument(stops, "<DocumentID>BATCH-7</DocumentID>");
    const receipt = await send(site, { name: fileName("S131"), content });
    expect(receipt).toMatchObject({ documentId: "BATCH-7", status: 10, records: [3, 0, 0] });
    for (const stopNbr of ["S131", "S132", "S133"]) expect(await getStop(site, stopNbr)).toBeDefined();
  });

  test("is refused as a whole for one bad stop, by the rules of the stop as by the XSD", async () => {
    const unknownCarrier = stopElement("S142", carrier("NOBODY"), "03");
    const content = stopsDocument([stopElement("S141"), unknownCarrier, stopElement("S143")]);
    const receipt = await send(site, { name: fileName("S141"), content });
    expect(receipt).toMatchObject({ status: 99, records: [0, 0, 0] });
    expect(codesOf(receipt)).toEqual([925]);
    for (const stopNbr of ["S141", "S142", "S143"]) expect(await getStop(site, stopNbr)).toBeUndefined();

    const misspelt = stopsDocument([stopElement("S145"), stopElement("S146", "<Colour>red</Colour>")]);
    const other = await send(site, { name: fileName("S145"), content: misspelt });
    expect(codesOf(other)).toEqual([951]);
    expect(await getStop(site, "S145")).toBeUndefined();
  });
});

test("UTF-16 and ISO-8859-1 are read as they declare themselves", async () => {
  const text = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?>${stopElement("S150").replace("Corner Shop", "Bäckerei Groß")}`;
  const latin = { name: fileName("S150"), content: Buffer.from(text("ISO-8859-1"), "latin1") };
  const wide = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text("UTF-16"), "utf16le")]);
  for (const file of [latin, { name: fileName("S150", "090000"), content: wide }]) {
    expect(await send(site, file)).toMatchObject({ status: 10 });
    expect((await getStop(site, "S150"))?.to?.address).toMatchObject({ name: "Bäckerei Groß" });
  }
});

test("every sample of config/samples is applied, in the order of its time", async () => {
  const folder = resolve(import.meta.dirname, "../../config/samples");
  const names = (await readdir(folder)).filter((name) => name.endsWith(".xml"));
  await Promise.all(names.map((name) => copyFile(join(folder, name), join(site.client, name))));
  const result = await sftp(
    site,
    names.map((name) => `put ${name} inbound/${name}`),
  );
  expect(result.exitCode, result.output).toBe(0);
  for (const name of names) expect(await receiptFor(site, name)).toMatchObject({ status: 10, errors: [] });
  expect(await getStop(site, "1001")).toMatchObject({ stopStatus: "99" });
});

test("what is put while the daemon is down with the last file is there after the next start", async () => {
  await put(site, stopFile("S160"));
  await site.stop();
  await site.start();
  expect(await receiptFor(site, fileName("S160"))).toMatchObject({ status: 10 });
  expect(await getStop(site, "S160")).toBeDefined();
  const report = await site.json<{ discrepancyCount: number }>("ledger", "verify");
  expect(report.discrepancyCount).toBe(0);
});
