/** Pages 2 and 3 of the console in the real program: what was sent is found by whatever people have of it. */
import { hash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleBrowser, makeConsoleSite, signInToConsole } from "../support/console.ts";
import { company, type Site } from "../support/daemon.ts";
import { fileName, put, receiptFor, stopFile } from "../support/stop-files.ts";

let site: Site;
let admin: ConsoleBrowser;
let stranger: ConsoleBrowser;

const good = stopFile("4711");
const faulty = {
  name: fileName("4712"),
  content: String(stopFile("4712").content).replaceAll("ShipToCity", "ShipToCty"),
};
const formula = { name: "=cmd.xml", content: stopFile("4799").content };
const sha256 = hash("sha256", good.content);

beforeAll(async () => {
  site = await makeConsoleSite();
  await site.start();
  const files = [good, faulty, formula, stopFile("4713"), stopFile("4713", { time: "090000" })];
  await put(site, ...files);
  for (const { name } of files) await receiptFor(site, name);
  admin = await signInToConsole(site, "admin");
  stranger = await signInToConsole(site, "stranger");
});
afterAll(() => site.end());

const places = async (text: string, browser = admin) => {
  const reply = await browser.get(`/console/find?q=${encodeURIComponent(text)}`);
  return reply.status === 303 ? reply.headers.get("location") : reply.body;
};

describe("the box", () => {
  test("opens at once what can only mean one thing", async () => {
    const file = await places(good.name);
    expect(file).toMatch(/^\/console\/files\/[0-9a-f-]{36}$/);
    expect(await places(sha256)).toBe(file);
    expect(await places(sha256.slice(0, 8).toUpperCase())).toBe(file);
    expect(await places(good.name.replace(".xml", ".receipt.xml"))).toBe(file);
    expect(await places(file?.split("/").at(-1) ?? "")).toBe(file);
    expect(await places("4711")).toBe("/console/stops/ACME/4711");
    expect(await places("2026-11-05")).toBe("/console/files?from=2026-11-05&to=2026-11-05");
  });

  test("opens users, companies and what is configured by their names, for who may see them", async () => {
    expect(await places("dispatch")).toMatch(/^\/console\/users\/\d+$/);
    expect(await places("acme")).toBe("/console/files?company=ACME");
    const inquiry = await signInToConsole(site, "inquiry");
    expect(await places("dispatch", inquiry)).toContain("Nothing is known of");
    expect(await places("acme", stranger)).toContain("Nothing is known of");
    expect(await places("dispatch", stranger)).toContain("Nothing is known of");
    const operator = await signInToConsole(site, "operator");
    expect(await places("strang", operator)).toMatch(/^\/console\/users\/\d+$/);
    expect((await admin.get("/console/find")).body).toContain("What can be typed");
  });

  test("lists what may be meant, each with its state, its reason and the remedy", async () => {
    const body = await places("47");
    for (const text of ["4711_", "4712_", "refused", "951", "Correct the element that is named"])
      expect(body).toContain(text);
  });

  test("says of what is known nowhere where it could be, and what to do", async () => {
    const body = await places("99<script>.xml");
    expect(body).toContain('Nothing is known of <bdi class="foreign">99&lt;script&gt;.xml</bdi>.');
    expect(body).toContain("The name is not of the form");
    expect(body).toContain("Have it sent again");
  });

  test("finds a request by the id that its client was told, for those of its company", async () => {
    const asked = await fetch(`${site.http}/v5/stop/info/4711/${company}`, {
      headers: { authorization: `Basic ${btoa(`host:${site.password}`)}` },
    });
    const id = asked.headers.get("x-request-id") ?? "";
    const found = (await places(id)) ?? "";
    expect(found).toContain("A request over HTTP");
    expect(found).toMatch(/<dt>User<\/dt><dd><bdi class="foreign">host</);
    expect(found).toMatch(/<dt>Answer<\/dt><dd>200</);
    const elsewhere = (await places(id, stranger)) ?? "";
    expect(elsewhere).not.toContain("A request over HTTP");
    expect(elsewhere).toContain(`<code class="command">journalctl -u dropgate | grep -F -e ${id}</code>`);
    const refused = await admin.get("/console/stops/none/none");
    const ofPage = await places(refused.headers.get("x-request-id") ?? "");
    expect(ofPage).not.toContain("A request over HTTP");
    const operator = await signInToConsole(site, "operator");
    const page = await places(refused.headers.get("x-request-id") ?? "", operator);
    expect(page).toMatch(/<dt>Answer<\/dt><dd>404</);
    expect(page).toContain("It was refused");
  });

  test("finds nothing of another company", async () => {
    for (const text of [good.name, "4711", sha256, (await places(good.name))?.split("/").at(-1) ?? ""])
      expect(await places(text, stranger)).toContain("Nothing is known of");
  });
});

describe("the list of files", () => {
  test("has the newest first, with reason and remedy, and links to the file and its stop", async () => {
    const { status, body } = await admin.get("/console/files");
    expect(status).toBe(200);
    expect(body).toContain("5 files");
    expect(body.indexOf("4713_20261105_090000")).toBeLessThan(body.indexOf("4713_20261105_080000"));
    expect(body).toMatch(/<strong>951<\/strong>.*What to do:.*Correct the element that is named/);
    expect(body).toContain('href="/console/stops/ACME/4711"');
  });

  test.each([
    ["state=refused", [faulty.name, formula.name]],
    ["reason=951", [faulty.name]],
    ["state=applied&name=4713*", ["4713_20261105_080000.xml", "4713_20261105_090000.xml"]],
    ["channel=ftp", []],
    ["user=host&name=4711*", [good.name]],
    ["state=waiting", []],
    ["day=2001-01-01", []],
  ])("shows by %s what is asked for, and how many", async (query, names) => {
    const { body } = await admin.get(`/console/files?${query}`);
    for (const { name } of [good, faulty, formula])
      expect(body.includes(`>${name}<`), name).toBe(names.includes(name));
    if (names.length === 0) expect(body).toContain("No file is of this filter");
  });

  test("says at its field what is wrong with a filter", async () => {
    const { status, body } = await admin.get("/console/files?state=done&from=2026-13-01&reason=1");
    expect(status).toBe(400);
    for (const text of ["there is no such state", "this is no day", "this is no reason code"])
      expect(body).toContain(text);
  });

  test("can be had as CSV in which nothing is calculated", async () => {
    const { headers, body } = await admin.get("/console/files.csv?state=refused");
    expect(headers.get("content-type")).toContain("text/csv");
    expect(headers.get("content-disposition")).toContain('filename="files.csv"');
    const lines = body.split("\r\n");
    expect(lines[0]).toContain('"reference","company","name","state"');
    expect(lines).toHaveLength(4);
    expect(body).toContain(`,"'=cmd.xml",`);
    expect(body).toMatch(/,951,"[^\r]*ShipToCty/);
  });

  test("shows others nothing, and lets only who may act choose files", async () => {
    expect((await stranger.get("/console/files")).body).not.toContain("4711");
    expect((await stranger.get("/console/files?company=ACME")).body).not.toContain("4711");
    expect((await stranger.get("/console/files.csv")).body.split("\r\n")).toHaveLength(2);
    const inquiry = await signInToConsole(site, "inquiry");
    expect((await admin.get("/console/files")).body).toContain('name="of"');
    expect((await inquiry.get("/console/files")).body).not.toContain('name="of"');
  });
});

describe("a retry of chosen files", () => {
  test("shows first what would become of each, and is done with a reason by who may act", async () => {
    const of = (await places(faulty.name))?.split("/").at(-1) ?? "";
    const preview = await admin.post("/console/files/retry", { of });
    expect(preview.status).toBe(200);
    expect(preview.body).toContain(`name="of" value="${of}"`);
    expect((await admin.get("/console/files?state=refused")).body).toContain(`>${faulty.name}<`);
    expect((await admin.get("/console/files/retry?state=refused")).body).toContain(of);
    const agreed = { of, seenAt: String(Date.now()), reason: "the carrier is mended" };
    const inquiry = await signInToConsole(site, "inquiry");
    expect((await inquiry.post("/console/files/retry", agreed)).status).toBe(403);
    expect((await stranger.post("/console/files/retry", agreed)).status).not.toBe(303);
    const done = await admin.post("/console/files/retry", agreed);
    expect([done.status, done.headers.get("location")]).toEqual([303, "/console/files?done=filesRetried"]);
    const file = async () => (await admin.get(`/console/files/${of}`)).body;
    await expect.poll(file).toContain("somebody asked for it to be tried");
  });
});
