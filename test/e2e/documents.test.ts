/** The document store: documents that come with stops over all ways, and the legacy service that gives them back. */
import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { getStop, http } from "../support/clients.ts";
import { company, lenient, Site, user } from "../support/daemon.ts";
import { parseReceipt, receiptFor, send, stopElement, stopFile } from "../support/stop-files.ts";

let site: Site;
let drop: string;

beforeAll(async () => {
  site = await Site.make({ security: lenient });
  await site.mustRun("company", "add", "OTHER");
  await site.addUser("viewer", ["DI_Inquiry"]);
  await site.addUser("neighbour", ["DI_Integration"], "OTHER");
  drop = join(site.stateDir, "companies", company, "inbound");
  await site.start();
});
afterAll(() => site.end());

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

function documentsOf(bytes: Uint8Array, name = "bol.pdf"): string {
  const data = Buffer.from(bytes).toString("base64");
  return `<Documents><Document><DocumentName>${name}</DocumentName><DocumentExtType>PDF</DocumentExtType><DocumentData>${data}</DocumentData></Document></Documents>`;
}

interface StoredDocument {
  readonly documentName: string;
  readonly reference: string;
}

/** The one document of a stop as its detail shows it. */
async function documentOf(stopNbr: string): Promise<StoredDocument> {
  const stop = await getStop(site, stopNbr);
  const documents = stop?.["documents"] as readonly StoredDocument[];
  expect(documents).toHaveLength(1);
  expect(JSON.stringify(stop)).not.toContain("documentData");
  const [document] = documents;
  if (document === undefined) throw new Error(`stop ${stopNbr} has no document`);
  return document;
}

interface Ask {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly userName?: string;
  readonly password?: string;
  readonly companyCode?: string;
}

async function getDocument(guid: string, ask: Ask = {}) {
  const { method = "GET", headers = {}, userName = user, password = site.password } = ask;
  const authorization = `Basic ${Buffer.from(`${userName}:${password}`).toString("base64")}`;
  const path = `/api/document/${encodeURIComponent(guid)}/${ask.companyCode ?? company}`;
  const answer = await fetch(`${site.http}${path}`, {
    method,
    headers: { ...headers, authorization, connection: "close" },
    signal: AbortSignal.timeout(30_000),
  });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

function reasonCodes(bytes: Buffer): number[] {
  const { Reasons } = JSON.parse(bytes.toString()) as { Reasons: { reasonCode: number }[] };
  return Reasons.map(({ reasonCode }) => reasonCode);
}

async function post(xml: string) {
  const reply = await http(site, `/api/stop/${company}`, { body: xml, type: "application/xml" });
  return parseReceipt(reply.body);
}

const contentFile = (hash: string) =>
  join(site.stateDir, "documents", hash.slice(0, 2), hash.slice(2, 4), hash);

test("a document that comes over the web service is given back byte by byte", async () => {
  const bytes = randomBytes(1_500_000);
  expect(await post(stopElement("D100", documentsOf(bytes, "Frachtbrief für A&amp;B.pdf")))).toMatchObject({
    status: 10,
  });
  const { reference, documentName } = await documentOf("D100");
  expect(documentName).toBe("Frachtbrief für A&B.pdf");
  const answer = await getDocument(reference);
  expect(answer.status).toBe(200);
  expect(answer.bytes.equals(bytes)).toBe(true);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "application/octet-stream",
    "content-length": "1500000",
    "content-disposition":
      "attachment; filename=\"Frachtbrief f_r A&B.pdf\"; filename*=UTF-8''Frachtbrief%20f%C3%BCr%20A%26B.pdf",
    etag: `"${sha256(bytes)}"`,
    "accept-ranges": "bytes",
  });
});

test("a document that comes with a file, over SFTP and in a drop folder, is stored once", async () => {
  const bytes = randomBytes(50_000);
  const more = documentsOf(bytes);
  expect(await send(site, stopFile("D110", { more }))).toMatchObject({ status: 10 });
  const dropped = stopFile("D111", { more });
  await writeFile(join(drop, dropped.name), dropped.content);
  expect(await receiptFor(site, dropped.name)).toMatchObject({ status: 10 });
  const [first, second] = [await documentOf("D110"), await documentOf("D111")];
  expect(second.reference).toBe(first.reference);
  const answer = await getDocument(first.reference.toUpperCase());
  expect(answer.bytes.equals(bytes)).toBe(true);
  const folder = join(contentFile(sha256(bytes)), "..");
  expect(await readdir(folder)).toEqual([sha256(bytes)]);
  expect((await stat(join(site.stateDir, "documents"))).mode & 0o777).toBe(0o750);
});

test("ranges, conditions and HEAD are answered as by any file server", async () => {
  const bytes = randomBytes(10_000);
  await post(stopElement("D120", documentsOf(bytes)));
  const { reference } = await documentOf("D120");
  const etag = `"${sha256(bytes)}"`;
  const part = await getDocument(reference, { headers: { range: "bytes=100-199" } });
  expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 100-199/10000"]);
  expect(part.bytes.equals(bytes.subarray(100, 200))).toBe(true);
  const statusOf = async (ask: Ask) => (await getDocument(reference, ask)).status;
  expect(await statusOf({ headers: { range: "bytes=10000-" } })).toBe(416);
  expect(await statusOf({ headers: { range: "bytes=0-1,5-6" } })).toBe(200);
  expect(await statusOf({ headers: { range: "bytes=0-1", "if-range": '"old"' } })).toBe(200);
  expect(await statusOf({ headers: { "if-none-match": etag } })).toBe(304);
  const head = await getDocument(reference, { method: "HEAD" });
  expect([
    head.status,
    head.headers.get("content-length"),
    head.headers.get("etag"),
    head.bytes.length,
  ]).toEqual([200, "10000", etag, 0]);
});

test("no document is 923, another company's is no document, and nobody gets one without the right to it", async () => {
  await post(stopElement("D130", documentsOf(randomBytes(100))));
  const { reference } = await documentOf("D130");
  const unknown = ["nothing", "00000000-0000-8000-8000-000000000000", "..dropgate.db", `${reference}0`];
  for (const guid of unknown) {
    const { status, bytes } = await getDocument(guid);
    expect([status, ...reasonCodes(bytes)]).toEqual([404, 923]);
  }
  const foreign = await getDocument(reference, { userName: "neighbour", companyCode: "OTHER" });
  expect([foreign.status, ...reasonCodes(foreign.bytes)]).toEqual([404, 923]);
  const refused = [
    await getDocument(reference, { userName: "neighbour" }),
    await getDocument(reference, { companyCode: "OTHER" }),
    await getDocument(reference, { userName: "viewer" }),
    await getDocument(reference, { password: "wrong" }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 403, 401]);
});

test("a dry run stores nothing and tells no difference to what is there", async () => {
  const bytes = randomBytes(1_000);
  await post(stopElement("D140", documentsOf(bytes)));
  const [same, other] = [stopFile("D140", { more: documentsOf(bytes) }), randomBytes(1_000)];
  const files = [same, stopFile("D141", { more: documentsOf(other) })].map(({ name, content }) => ({
    path: join(site.client, name),
    content,
  }));
  for (const { path, content } of files) await writeFile(path, content);
  const result = await site.cli("validate", "--json", "--company", company, ...files.map(({ path }) => path));
  expect(result.exitCode, result.output).toBe(0);
  const [first] = JSON.parse(result.stdout) as { changes: { fields: unknown[] }[] }[];
  expect(first?.changes[0]?.fields).toEqual([]);
  expect(existsSync(contentFile(sha256(other)))).toBe(false);
});

test("an answered document survives SIGKILL, and comes back under its reference after Delete and replacement", async () => {
  const bytes = randomBytes(200_000);
  await post(stopElement("D150", documentsOf(bytes)));
  const { reference } = await documentOf("D150");
  await site.kill();
  expect(sha256(await readFile(contentFile(sha256(bytes))))).toBe(sha256(bytes));
  await site.start();
  await post(stopElement("D150"));
  await post("<Stop><Function>02</Function><StopNbr>D150</StopNbr></Stop>");
  expect((await getDocument(reference)).bytes.equals(bytes)).toBe(true);
});
