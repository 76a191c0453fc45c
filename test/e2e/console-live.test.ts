/** Page 1 of the console and its live events, in the real program. */
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type ConsoleBrowser,
  consoleBase,
  type ConsoleUserName,
  makeConsoleSite,
  signInToConsole,
} from "../support/console.ts";
import type { Site } from "../support/daemon.ts";
import { type EventListener, listenTo } from "../support/event-stream.ts";
import { put, send, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;

beforeAll(async () => {
  site = await makeConsoleSite({ http: { maxConnectionsPerAddress: 200 } });
  await site.start();
});

afterAll(() => site.end());

/** Where page 1 has its events from, as its script reads it. */
async function eventsOf(browser: ConsoleBrowser): Promise<string> {
  const { body } = await browser.get("/console");
  const [, path = ""] = /data-live="([^"]+)"/.exec(body) ?? [];
  return `${consoleBase(site)}${path.replaceAll("&amp;", "&")}`;
}

async function watch(browser: ConsoleBrowser, lastEventId?: string): Promise<EventListener> {
  return await listenTo(await eventsOf(browser), { cookie: browser.cookie, lastEventId });
}

async function watchAs(userName: ConsoleUserName): Promise<EventListener> {
  return await watch(await signInToConsole(site, userName));
}

function refusedFile(stopNbr: string) {
  return { ...stopFile(stopNbr), content: "<Stop><Function>01</Function></Stop>" };
}

test("all is well, in one sentence, until something is not", async () => {
  const admin = await signInToConsole(site, "admin");
  const { body } = await admin.get("/console");
  expect(body).toContain("All is well");
  expect(body).toContain('id="company-');
  expect(body).not.toContain("OTHER");
});

test("a file that comes by sftp is counted, and one that is refused is told, to those of its company alone", async () => {
  const [own, other] = [await watchAs("inquiry"), await watchAs("stranger")];
  expect(own.headers["content-type"]).toContain("text/event-stream");
  await send(site, stopFile("L1"));
  await own.next(
    "the count of applied files",
    ({ event, data }) => event === "companies" && />1<\/a>/.test(data),
  );
  const { name } = refusedFile("L2");
  await put(site, refusedFile("L2"));
  const told = await own.next("the refusal", ({ event }) => event === "refusal");
  expect(told.data).toContain(name);
  expect(told.data).toContain(`href="/console/files/${told.id}"`);
  await other.next("a sign of life", ({ event }) => event === "beat");
  expect(other.heard.map(({ data }) => data).join("")).not.toMatch(/ACME|l2_/);
  own.cut();
  other.cut();
});

test("who was cut off is told what was missed; after a restart, to read the page again", async () => {
  const browser = await signInToConsole(site, "dispatcher");
  const first = await watch(browser);
  await put(site, refusedFile("R1"));
  await first.next("the first refusal", ({ event, data }) => event === "refusal" && data.includes("r1_"));
  first.cut();
  await put(site, refusedFile("R2"), refusedFile("R3"));
  await waitFor("both on page 1", async () => {
    const { body } = await browser.get("/console");
    return body.includes("r2_") && body.includes("r3_");
  });
  const again = await listenTo(`${consoleBase(site)}/console/live`, {
    cookie: browser.cookie,
    lastEventId: first.lastEventId,
  });
  await again.next("what was missed", ({ data }) => data.includes("r3_"));
  const missed = again.heard.filter(({ event }) => event === "refusal");
  expect(missed.map(({ data }) => /r\d_/.exec(data)?.[0])).toEqual(["r2_", "r3_"]);
  await site.stop();
  await waitFor("the end of the stream", () => again.isEnded);
  await site.start();
  const back = await listenTo(`${consoleBase(site)}/console/live`, {
    cookie: browser.cookie,
    lastEventId: again.lastEventId,
  });
  await back.next("the call to read the page again", ({ event }) => event === "reload");
  back.cut();
  expect((await (await signInToConsole(site, "dispatcher")).get("/console")).body).toContain("r3_");
});

test("many of one reason are one row, with their number and the list of just these; who may act can try them again", async () => {
  const [acting, looking] = [await watchAs("admin"), await watchAs("inquiry")];
  await put(site, ...["F1", "F2", "F3", "F4", "F5"].map(refusedFile));
  const isMany = ({ event, data }: { event: string; data: string }) =>
    event === "refusal" && data.includes("data-many") && Number(/>(\d+) files</.exec(data)?.[1]) >= 9;
  const [row, seen] = [
    await acting.next("the row of many", isMany),
    await looking.next("the row of many", isMany),
  ];
  const [, list = ""] = /href="(\/console\/files\?[^"]+)"/.exec(row.data) ?? [];
  const retry = list.replace("/console/files?", "/console/files/retry?");
  expect(row.data).toContain(`href="${retry}"`);
  expect(seen.data).not.toContain("/console/files/retry");
  const browser = await signInToConsole(site, "admin");
  const { body } = await browser.get("/console");
  expect(body).toContain(`href="${list}">9 files</a>`);
  expect(body).not.toContain("r2_20261105");
  expect((await browser.get(list.replaceAll("&amp;", "&"))).body).toContain("9 files");
  // A refusal is told before its file is filed away, and only then it can be tried again.
  await waitFor("all of them to be offered", async () => {
    const { body: difference } = await browser.get(retry.replaceAll("&amp;", "&"));
    const [, of = ""] = /name="of" value="([^"]+)"/.exec(difference) ?? [];
    return of.match(/[0-9a-f-]{36}/g)?.length === 9;
  });
  acting.cut();
  looking.cut();
});

test("20 watch, the 21st is refused and reads the page instead, until one has gone", async () => {
  const browser = await signInToConsole(site, "admin");
  const watching = await Promise.all(Array.from({ length: 20 }, () => watch(browser)));
  expect(watching.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  const late = await watch(browser);
  expect([late.status, late.headers["retry-after"]]).toEqual([503, "30"]);
  const part = await browser.get("/console/live/page", { "hx-request": "true" });
  expect([part.status, part.body]).toEqual([200, expect.stringMatching(/^<div id="today"/)]);
  watching[0]?.cut();
  await waitFor("a place for one more", async () => {
    const one = await watch(browser);
    one.cut();
    return one.status === 200;
  });
  for (const one of watching) one.cut();
});

test("a stream ends with its session, and does not come back", async () => {
  const browser = await signInToConsole(site, "operator");
  const stream = await watch(browser);
  expect(stream.status).toBe(200);
  await (await signInToConsole(site, "operator")).post("/console/sign-out-everywhere");
  await waitFor("the end of the stream", () => stream.isEnded);
  const back = await listenTo(`${consoleBase(site)}/console/live`, { cookie: browser.cookie });
  expect(back.status).toBe(204);
});

test("files of each minute are still told after a restart, as chart and as table", async () => {
  await send(site, stopFile("M1"));
  await site.stop();
  await site.start();
  const { body } = await (await signInToConsole(site, "admin")).get("/console?span=24h");
  const [, chart = ""] = /data-chart="([^"]+)"/.exec(body) ?? [];
  const drawn = JSON.parse(chart.replaceAll("&quot;", '"')) as { series: { values: (number | null)[] }[] };
  const files = drawn.series[0]?.values.reduce<number>((sum, value) => sum + (value ?? 0) * 5, 0);
  expect(files).toBeGreaterThanOrEqual(1);
  expect(body).toMatch(/Half of the receipts were there after/);
});
