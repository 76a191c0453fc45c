/** Acts that are disturbed: by somebody else, by a second click, by a restart, by the end of the session. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { hasBrowser, useBrowser, visit } from "../support/browser.ts";
import { type ConsoleUserName, makeConsoleSite, signInToConsole } from "../support/console.ts";
import { openAs, referenceOf } from "../support/console-browser.ts";
import { company, lenient, oneParser, type Site } from "../support/daemon.ts";
import { freePort } from "../support/server-process.ts";
import { carrier, filedAway, put, receiptFor, stopFile } from "../support/stop-files.ts";

const browser = useBrowser();
const said = words.file.retryPage;
let site: Site;

beforeAll(async () => {
  const http = { port: await freePort() };
  const console = { operators: [`operator@${company}`] };
  site = await makeConsoleSite({ security: lenient, inbound: oneParser, http, console });
  if (hasBrowser) await site.start();
});
afterAll(() => site.end());

/** A file is refused; gives the address of its retry. */
async function refused(stopNbr: string): Promise<string> {
  const file = stopFile(stopNbr, { more: carrier("NOBODY"), stopFunction: "03" });
  await put(site, file);
  await receiptFor(site, file.name);
  await filedAway(site, file.name);
  return `/console/files/${await referenceOf(site, file.name)}/retry`;
}

async function openForm(
  path: string,
  { userName = "admin", ...more }: { userName?: ConsoleUserName; javaScript?: boolean; allowed?: RegExp[] },
): Promise<Page> {
  const page = await openAs(browser, { site }, { userName, ...more });
  await visit(page, path);
  await page.getByLabel(words.kit.reason).fill(`as ${userName} wants it`);
  return page;
}

const button = (page: Page) => page.locator("details.act form").getByRole("button", { name: said.label });
const done = (page: Page) => page.locator("#notices", { hasText: words.done.fileRetried }).waitFor();

/** Who has had the file of the address tried again, by the audit. */
async function retriesOf(path: string): Promise<readonly string[]> {
  const { body } = await (await signInToConsole(site, "operator")).get("/console/audit.csv");
  const [, reference = "?"] = /files\/([^/]+)\//.exec(path) ?? [];
  const rows = body.split("\r\n").filter((row) => row.includes("file.retry") && row.includes(reference));
  return rows.map((row) => /as (\w+) wants it/.exec(row)?.[1] ?? row);
}

describe.skipIf(!hasBrowser)("a file", () => {
  test("that two people have tried again at the same moment is so once, and the other is told who was quicker", async () => {
    const path = await refused("T1");
    const pages = [
      await openForm(path, { userName: "admin", allowed: [/^status of 409/] }),
      await openForm(path, { userName: "operator", allowed: [/^status of 409/] }),
    ];
    await Promise.all(pages.map((page) => button(page).click()));
    const texts = await Promise.all(
      pages.map(async (page) => {
        await page.locator("main .notice", { hasText: "tried again" }).first().waitFor();
        return await page.locator("main").innerText();
      }),
    );
    const [winner = "?", ...more] = await retriesOf(path);
    expect(more).toEqual([]);
    expect(texts.filter((text) => text.includes(words.done.fileRetried))).toHaveLength(1);
    const other = texts.find((text) => !text.includes(words.done.fileRetried));
    expect(other).toMatch(new RegExp(`was retried by ${winner} at|it has changed at`));
  });

  test.each([true, false])("is tried again once by a double click (JavaScript: %s)", async (javaScript) => {
    const path = await refused(javaScript ? "T2" : "T3");
    const page = await openForm(path, { javaScript });
    await button(page).dblclick();
    await done(page);
    expect(await retriesOf(path)).toEqual(["admin"]);
  });

  test("is tried again by a form that was left open over a restart", async () => {
    const path = await refused("T4");
    const page = await openForm(path, {});
    await site.stop();
    await site.start();
    await button(page).click();
    await done(page);
    expect(await retriesOf(path)).toEqual(["admin"]);
  });

  test("is not tried again when the session had ended: that is told, and the way back leads to the form", async () => {
    const path = await refused("T5");
    const page = await openForm(path, { userName: "operator" });
    const elsewhere = await signInToConsole(site, "operator");
    await elsewhere.post("/console/sign-out-everywhere");
    await button(page).click();
    await page.getByText(words.session.endedBeforeForm).waitFor();
    expect(await retriesOf(path)).toEqual([]);
    await page.getByLabel(words.session.userName).fill("operator");
    await page.getByLabel(words.session.password).fill(site.password);
    await page.getByRole("button", { name: words.session.signIn }).click();
    await page.waitForURL(`**${path}`);
    await page.getByLabel(words.kit.reason).fill("as operator wants it");
    await button(page).click();
    await done(page);
    expect(await retriesOf(path)).toEqual(["operator"]);
  });
});
