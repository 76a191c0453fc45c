/** The page of a file in the console of the real program: why it was refused, what was sent, and its retry. */
import { readdir, readFile, rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleBrowser, makeConsoleSite, signInToConsole } from "../support/console.ts";
import { importPartner, sftp } from "../support/clients.ts";
import { lenient, type Site, user } from "../support/daemon.ts";
import {
  carrier,
  put,
  filedAway,
  receiptBeside,
  receiptFor,
  receiptName,
  stopElement,
  type StopFile,
  stopFile,
} from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { changeRows, rowsOf } from "../support/site-database.ts";

let site: Site;
let admin: ConsoleBrowser;
let inquiry: ConsoleBrowser;

beforeAll(async () => {
  site = await makeConsoleSite({ security: lenient });
  await site.start();
  admin = await signInToConsole(site, "admin");
  inquiry = await signInToConsole(site, "inquiry");
});
afterAll(() => site.end());

const referenceIn = (receipt: string) => /Ledger="([0-9a-f-]{36})"/.exec(receipt)?.[1] ?? "";

/** The reference in the receipt beside a file that was refused, or in the folder of receipts. */
async function referenceOf(name: string): Promise<string> {
  return await waitFor(`the reference of ${name}`, async () => {
    for (const folder of ["error", "receipts"]) {
      const all = await readdir(site.path(folder), { recursive: true });
      const path = all.find((each) => each.endsWith(receiptName(name)));
      if (path !== undefined) return referenceIn(await readFile(site.path(folder, path), "utf8"));
    }
    return undefined;
  });
}

/** Kind and user of the entries of the audit about a file. */
function auditOf(reference: string): readonly string[] {
  const sql = "select kind || ' ' || user_name as entry from audit where subject like ? order by id";
  return rowsOf<{ entry: string }>(site, sql, `%${reference}`).map(({ entry }) => entry);
}

/** Puts a file and gives its page, as somebody sees it who may only look. */
async function pageOf(file: StopFile): Promise<string> {
  await put(site, file);
  const { status, body } = await inquiry.get(`/console/files/${await referenceOf(file.name)}`);
  expect(status).toBe(200);
  return body;
}

const broken = { name: "f1_20261105_080000.xml", content: "<Stop>\n  <StopNbr>F1</StopNbr>\n" };
const bom = Buffer.from([0xff, 0xfe]);

describe("the page of a refused file", () => {
  test("has the reason with its line, the remedy, and the fault at its place in the XML", async () => {
    const body = await pageOf(broken);
    expect(body).toMatch(/Reason 950, line \d/);
    expect(body).toContain("The file is damaged or was cut off: correct it and send it again.");
    expect(body).toContain('<li class="code-line faulty"');
    expect(body).toContain("&lt;StopNbr&gt;F1&lt;/StopNbr&gt;");
    expect(body).not.toContain(site.stateDir);
  });

  test("tells a wrong value by its element", async () => {
    const { name, content } = stopFile("F2", {
      more: "<StopPriority>x</StopPriority><Nonsense>1</Nonsense>",
    });
    const body = await pageOf({ name, content });
    expect(body).toMatch(/Reason 951, line \d+/);
    expect(body).toContain("Correct the element that is named and send the file again under a new time.");
  });

  test("shows a DOCTYPE as text and resolves nothing", async () => {
    const content = '<!DOCTYPE Stop [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<Stop>&x;</Stop>';
    const body = await pageOf({ name: "f3_20261105_080000.xml", content });
    expect(body).toContain("&lt;!ENTITY x SYSTEM &quot;file:///etc/passwd&quot;&gt;");
    expect(body).not.toContain("root:");
  });

  test("of a name that is no form shows the name as it is", async () => {
    const body = await pageOf({ name: "<b>no form<script>.xml", content: stopElement("F4") });
    expect(body).toContain("&lt;b&gt;no form&lt;script&gt;.xml");
    expect(body).not.toContain("<script>.xml");
    expect(body).toContain("Send the file again under a name of the form");
  });

  test("shows markup, marks of direction and bytes that are no UTF-8 as what they are", async () => {
    const text = `<Stop><Function>01</Function><StopNbr>F5</StopNbr><X a='"><img src=x onerror=alert(1)>'/>\u202Eevil`;
    const content = Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0xfe, 0x00])]);
    const body = await pageOf({ name: "f5_20261105_080000.xml", content });
    expect(body).toContain("&lt;img src=x onerror=alert(1)&gt;");
    expect(body).not.toContain("<img");
    expect(body).toContain("\\u{202e}evil");
    expect(body).not.toContain("\u202E");
    expect(body).toContain("\uFFFD");
  });

  test("of 20 MB comes at once, with some of its lines", async () => {
    const line = `<Comment>${"x".repeat(90)}</Comment>\n`;
    const content = `<Stop>\n${line.repeat(200_000)}`;
    const body = await pageOf({ name: "f6_20261105_080000.xml", content });
    expect(body.length).toBeLessThan(600_000);
    expect(body).toContain("200\u202f002 lines.");
    expect(body).toContain("From line 401");
    const reference = await referenceOf("f6_20261105_080000.xml");
    const further = await inquiry.get(`/console/files/${reference}?line=200000`);
    expect(further.body).toContain('id="line-200001"');
  });
});

describe("the page of a file", () => {
  test("in UTF-16 has its lines and what was stored of them", async () => {
    const content = Buffer.concat([
      bom,
      Buffer.from(`<?xml version="1.0" encoding="UTF-16"?>\n${stopElement("F7")}`, "utf16le"),
    ]);
    const body = await pageOf({ name: "f7_20261105_080000.xml", content });
    expect(body).toContain("UTF-16 (little endian)");
    expect(body).toContain("&lt;ShipToName&gt;Corner Shop&lt;/ShipToName&gt;");
    expect(body).toContain("Nothing differs: what was sent is what is stored.");
  });

  test("that was refused does not say that it is stored, and leads to all that were refused for its reason", async () => {
    const body = await pageOf(stopFile("F77", { stopFunction: "03", more: carrier("SPEEDY") }));
    expect(body).toContain("There is no such stop now.");
    expect(body).not.toContain("what was sent is what is stored");
    const [, address = ""] = /href="([^"]+)">All files that were refused for reason 925/.exec(body) ?? [];
    const all = await inquiry.get(address.replaceAll("&amp;", "&"));
    expect(all.body).toContain("f77_20261105_080000.xml");
  });

  test("that a newer one has overtaken leads to that one, and a repeated one to the first", async () => {
    const [newer, older] = [stopFile("F8", { time: "090000" }), stopFile("F8", { time: "080000" })];
    await put(site, newer);
    await receiptFor(site, newer.name);
    const body = await pageOf(older);
    expect(body).toContain("Nothing is lost: a newer file counts.");
    expect(body).toContain(`/console/files/${await referenceOf(newer.name)}`);
    const first = await referenceOf(newer.name);
    await rm(site.path("receipts", receiptName(newer.name)));
    await put(site, newer);
    await receiptFor(site, newer.name);
    const again = await inquiry.get(`/console/files/${await referenceOf(newer.name)}`);
    expect(again.body).toContain("Answered as a duplicate; nothing was applied");
    expect(again.body).toContain(`/console/files/${first}`);
  });

  test("of a database from before has no moments made up", async () => {
    const file = stopFile("F12");
    await pageOf(file);
    const none = ["began_at", "entered_at", "parsed_at", "filed_at"].map((column) => `${column} = null`);
    const isNone = await waitFor("the file to be filed away", () => {
      const sql = `update files set ${none.join(", ")} where name = ? and filed_at is not null`;
      return changeRows(site, sql, file.name) === 1 ? true : undefined;
    });
    expect(isNone).toBe(true);
    const { body } = await inquiry.get(`/console/files/${await referenceOf(file.name)}`);
    // Begin, ledger, parsed and collected, each in the picture and in the table.
    expect(body.match(/>not recorded</g)).toHaveLength(8);
    expect(body).toContain("done; the moment is not recorded");
    expect(body).not.toContain("Its host took");
  });

  test("has its time line as a picture and as a table, with who collected its receipt", async () => {
    const { name, content } = stopFile("F9");
    await pageOf({ name, content });
    const address = `/console/files/${await referenceOf(name)}`;
    const pageWith = (text: string) =>
      waitFor(text, async () => {
        const { body: shown } = await inquiry.get(address);
        return shown.includes(text) ? shown : undefined;
      });
    const body = await pageWith("from its close to its receipt: ledger");
    expect(body).toMatch(/<svg class="picture-wide"[^>]*role="img"/);
    expect(body).toMatch(/Its host took \S+ m?s to send it, from the begin of its upload to its close\./);
    expect(body).not.toContain("not recorded");
    expect(body).toContain("not yet over SFTP or FTP");
    const got = await sftp(site, [`get receipts/${receiptName(name)}`]);
    expect(got.exitCode, got.output).toBe(0);
    expect(await pageWith("Its receipt was read first")).toContain(`by user ${user} over SFTP.`);
    expect(await site.mustRun("explain", name)).toContain("Its receipt was read first");
    expect(body).toMatch(/<time datetime="[^"]+\.\d{3}Z" data-precise>/);
    expect(body).not.toMatch(/ style=| on[a-z]+="/);
  });

  test("is not found by those of another company, by a number, or when there is none", async () => {
    const reference = await referenceOf("f9_20261105_080000.xml");
    const stranger = await signInToConsole(site, "stranger");
    const replies = await Promise.all([
      stranger.get(`/console/files/${reference}`),
      inquiry.get("/console/files/1"),
      inquiry.get("/console/files/00000000-0000-0000-0000-000000000000"),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404]);
    const texts = replies.map(({ body }) => /<main[\s\S]*<\/main>/.exec(body)?.[0]);
    expect(texts[0]).toBe(texts[1]);
    expect((await stranger.get(`/console/files/${reference}/retry`)).status).toBe(404);
    expect((await inquiry.get(`/console/files/${reference}/retry`)).status).toBe(403);
  });

  test("is noted in the audit once for each session that has looked at its content", async () => {
    const reference = await referenceOf("f9_20261105_080000.xml");
    await inquiry.get(`/console/files/${reference}`);
    const other = await signInToConsole(site, "inquiry");
    await other.get(`/console/files/${reference}`);
    await other.get(`/console/files/${reference}`);
    const seen = auditOf(reference);
    expect(seen).toEqual(["content.seen inquiry", "content.seen inquiry"]);
  });

  test("whose bytes were lost says so, and what to do", async () => {
    const file = stopFile("F10");
    await pageOf(file);
    const all = await readdir(site.path("archive"), { recursive: true });
    const path = all.find((each) => each.endsWith(file.name)) ?? "";
    await rm(site.path("archive", path));
    const { body } = await inquiry.get(`/console/files/${await referenceOf(file.name)}`);
    expect(body).toContain("Its content is missing: restore it from a backup, or have the file sent again.");
  });
});

describe("a retry", () => {
  test("shows what it would change, asks for a reason, and is done once", async () => {
    const file = stopFile("F11", { more: carrier("LATER"), stopFunction: "03" });
    await put(site, file);
    await receiptBeside(site, file.name);
    await filedAway(site, file.name);
    const reference = await referenceOf(file.name);
    const address = `/console/files/${reference}`;
    expect((await inquiry.get(address)).body).not.toContain("Try it again …");
    const page = await admin.get(address);
    expect(page.body).toContain(`href="${address}/retry"`);
    expect((await admin.get(`${address}/retry`)).body).toContain("It would be refused again.");
    expect((await importPartner(site, "LATER")).status).toBe(200);
    const mended = await admin.get(`${address}/retry`);
    expect(mended.body).toContain("It would be applied now.");
    expect(mended.body).toContain("is created");
    const seenAt = /name="seenAt" value="(\d+)"/.exec(mended.body)?.[1] ?? "";
    const without = await admin.post(`${address}/retry`, { reason: " ", seenAt });
    expect(without.status).toBe(400);
    expect(without.body).toContain("Give a reason: it is what others find in the audit.");
    expect((await inquiry.post(`${address}/retry`, { reason: "x", seenAt })).status).toBe(403);
    const done = await admin.post(`${address}/retry`, { reason: "the carrier is there now", seenAt });
    expect([done.status, done.headers.get("location")]).toEqual([303, `${address}?done=fileRetried`]);
    await waitFor("the file to be applied", async () => {
      const { body } = await admin.get(address);
      return body.includes("Decisions before") && body.includes("Applied <time") ? true : undefined;
    });
    expect(auditOf(reference)).toContain("file.retry admin");
    // Somebody looks at it meanwhile, which changes nothing: the same form once more is done already.
    await (await signInToConsole(site, "dispatcher")).get(address);
    expect(
      (await admin.post(`${address}/retry`, { reason: "the carrier is there now", seenAt })).status,
    ).toBe(303);
    const again = await admin.post(`${address}/retry`, { reason: "another", seenAt });
    expect(again.status).toBe(409);
  });
});
