/** The console while things happen: rows that come by themselves, the button Back, no JavaScript, two hundred viewers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { hasBrowser, useBrowser, visit } from "../support/browser.ts";
import { consoleBase, signInToConsole } from "../support/console.ts";
import { openAs, subjectsOf, addressIn } from "../support/console-browser.ts";
import { ConsoleStory, files, load } from "../support/console-story.ts";
import { company } from "../support/daemon.ts";
import { carrier, deletionFile, put, send, stopFile } from "../support/stop-files.ts";
import { patienceMs, waitFor } from "../support/wait-for.ts";

const browser = useBrowser();
let story: ConsoleStory;

const ofNobody = (stopNbr: string) => stopFile(stopNbr, { more: carrier("NOBODY"), stopFunction: "03" });

beforeAll(async () => {
  story = await ConsoleStory.open();
});
afterAll(() => story.end());

describe.skipIf(!hasBrowser)("Today", () => {
  test("of a company in which nothing was refused says so, and shows no empty table", async () => {
    const page = await openAs(browser, story, { userName: "stranger" });
    await visit(page, "/console");
    await page.locator("#no-refusals").waitFor();
    expect(await page.locator("#refusals").count()).toBe(1);
    expect(await page.getByRole("table", { name: words.today.refusals }).isVisible()).toBe(false);
  });

  test("shows files that are refused as they come over SFTP, and counts, without being loaded again", async () => {
    const page = await openAs(browser, story, { userName: "admin" });
    await visit(page, "/console");
    await page.evaluate("window.isSame = true");
    const refused = [
      [ofNobody("8001"), "925"],
      [ofNobody("8002"), "925"],
      [deletionFile("8003", "080000"), "921"],
    ] as const;
    for (const [file, reason] of refused) {
      await put(story.site, file);
      const row = page.locator("#refusals tr", { hasText: file.name });
      await row.waitFor();
      expect(await row.innerText()).toContain(reason);
    }
    await send(story.site, stopFile("8004"));
    const shown = page.locator("#refusals tr").first();
    await shown.getByRole("link").first().click();
    await page.waitForURL(/\/console\/files\/[0-9a-f-]{36}/);
    await page.goBack();
    await page.locator("#refusals tr", { hasText: stopFile("8003").name }).waitFor();
    // From five of a reason on, one row takes the place of theirs.
    await put(story.site, ...["8006", "8007", "8008"].map(ofNobody));
    await page.locator("#refusals tr[data-many]", { hasText: "925" }).waitFor();
    expect(await page.locator("#refusals tr", { hasText: stopFile("8001").name }).count()).toBe(0);
    expect(await page.locator("#refusals tr", { hasText: stopFile("8003").name }).count()).toBe(1);
  });

  test("shows the other company nothing of it", async () => {
    const page = await openAs(browser, story, { userName: "stranger" });
    await visit(page, "/console");
    const file = deletionFile("8005", "080000");
    await send(story.site, file);
    const seen = await openAs(browser, story, { userName: "admin" });
    await visit(seen, "/console");
    await seen.locator("#refusals tr", { hasText: file.name }).waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/8005|ACME/);
  });
});

describe.skipIf(!hasBrowser)("the button Back", () => {
  test("leads from a file to the list with its filter, and forth again", async () => {
    const page = await openAs(browser, story, { userName: "admin" });
    await visit(page, "/console/files?state=refused");
    const list = page.url();
    await page.getByRole("link", { name: files.unknownCarrier.name }).first().click();
    await page.getByRole("heading", { level: 1, name: files.unknownCarrier.name }).waitFor();
    const file = page.url();
    await page.goBack();
    expect(page.url()).toBe(list);
    const shown = page.locator("main");
    await shown.getByRole("link", { name: files.unknownCarrier.name }).first().waitFor();
    expect(await shown.getByRole("link", { name: files.applied.name }).count()).toBe(0);
    await page.goForward();
    expect(page.url()).toBe(file);
    await page.getByRole("heading", { level: 1, name: files.unknownCarrier.name }).waitFor();
  });
});

describe.skipIf(!hasBrowser)("without JavaScript", () => {
  test("a file is found, its refusal understood, its stop and its load looked at", async () => {
    const page = await openAs(browser, story, { userName: "admin", javaScript: false });
    await visit(page, "/console/files");
    await page.locator("#find-box").fill(files.unknownCarrier.name);
    await page.getByRole("search", { name: words.frame.find }).getByRole("button").click();
    await page.getByRole("heading", { level: 1, name: files.unknownCarrier.name }).waitFor();
    expect(await page.locator("main").innerText()).toMatch(
      /SPEEDY[\s\S]*Import the carrier; or have the host/,
    );
    await visit(page, `/console/loads/${company}/${load.loadNbr}`);
    await page.getByRole("link", { name: load.stops[0] }).first().click();
    await page.waitForURL(`**/console/stops/${company}/${load.stops[0]}`);
  });

  test("what waits longest is one click from Today, with why it waits and whose move it is", async () => {
    const page = await openAs(browser, story, { userName: "inquiry", javaScript: false });
    await visit(page, "/console");
    const waiting = page.locator(`#companies td[data-label="${words.today.waiting}"]`);
    await waiting.getByRole("link").click();
    await page.waitForURL("**/console/waiting?**");
    const row = (text: string) => page.locator("main tr", { hasText: text });
    expect(await row(files.waiting.name).innerText()).toMatch(/It waits for .* of one of its stops/);
    const delivery = await page.locator("#deliveries tbody tr").first().innerText();
    expect(delivery).toContain(words.move.moves.administrator);
    await page.getByRole("link", { name: files.waiting.name }).click();
    await page.getByRole("heading", { level: 1, name: files.waiting.name }).waitFor();
  });

  test("a filter narrows the list, and a second page follows the first", async () => {
    const page = await openAs(browser, story, { userName: "admin", javaScript: false });
    await visit(page, "/console/files");
    await page.getByLabel("State").first().selectOption("superseded");
    await page.getByRole("button", { name: words.kit.show }).click();
    const shown = await page.locator("main table").first().innerText();
    expect(shown).toContain(files.late.name);
    expect(shown).not.toContain(files.applied.name);
  });

  test("each page of finding, files, stops and loads is whole", async () => {
    const subjects = await subjectsOf(story);
    const page = await openAs(browser, story, { userName: "admin", javaScript: false });
    const patterns = [
      "/find",
      "/files",
      "/files/{reference}",
      "/stops/{companyCode}/{stopNbr}",
      "/loads/{companyCode}/{loadNbr}",
    ];
    for (const pattern of patterns) {
      expect((await visit(page, addressIn(subjects, `/console${pattern}`))).status()).toBe(200);
      expect((await page.locator("main").innerText()).length, pattern).toBeGreaterThan(60);
    }
  });
});

describe("two hundred viewers", () => {
  test("who only look leave the daemon answering: twenty get events, the others are told when to come again", async () => {
    const { site } = story;
    const viewer = await signInToConsole(site, "admin");
    const ends = new AbortController();
    const open = () =>
      fetch(`${consoleBase(site)}/console/live`, {
        headers: { cookie: viewer.cookie, accept: "text/event-stream" },
        signal: AbortSignal.any([ends.signal, AbortSignal.timeout(patienceMs)]),
      });
    const answers = await Promise.all(Array.from({ length: 200 }, open));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(20);
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(10);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(answers.find(({ status }) => status === 503)?.headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await send(site, stopFile("8010"))).status).toBe(10);
    expect((await viewer.get("/console/files")).status).toBe(200);
    expect((await fetch(`${site.http}/readyz`)).status).toBe(200);
    ends.abort();
    // Whoever goes makes room.
    await waitFor("room for one more", async () => {
      const last = new AbortController();
      const { status } = await fetch(`${consoleBase(site)}/console/live`, {
        headers: { cookie: viewer.cookie, accept: "text/event-stream" },
        signal: last.signal,
      });
      last.abort();
      return status === 200;
    });
  });
});
