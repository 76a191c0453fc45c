/** The page for host developers in a real browser: trying a document by hand and from a file, light, dark and narrow. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { makeConsoleSite, signInToConsole } from "../support/console.ts";
import { company, lenient, type Site } from "../support/daemon.ts";
import { hasBrowser, takePicture, useBrowser, visit } from "../support/browser.ts";
import { axeViolations, widerThanWindow } from "../support/page-checks.ts";
import { carrier, send, stopElement, stopFile } from "../support/stop-files.ts";

let site: Site;

beforeAll(async () => {
  site = await makeConsoleSite({ security: lenient });
  await site.start();
  expect((await send(site, stopFile("B1"))).status).toBe(10);
  expect((await send(site, stopFile("B2", { more: carrier("NOBODY") }))).status).toBe(99);
});
afterAll(() => site.end());

/** The session of a user as the browser keeps it. */
async function cookiesOf(user: "integration") {
  const { cookie } = await signInToConsole(site, user);
  const equals = cookie.indexOf("=");
  const kept = { name: cookie.slice(0, equals), value: cookie.slice(equals + 1), url: site.http };
  return [kept];
}

async function tryIt(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Try it" }).click();
  await page.locator("#result").waitFor();
}

describe.skipIf(!hasBrowser)("the page for host developers", () => {
  const browser = useBrowser();

  async function open(colorScheme: "light" | "dark", width: number): Promise<Page> {
    const page = await browser.open({
      ...{ origin: site.http, cookies: await cookiesOf("integration"), colorScheme, width },
    });
    await visit(page, "/console/hosts?of=company");
    return page;
  }

  test.each([
    ["light", 1280],
    ["dark", 1280],
    ["light", 390],
    ["dark", 390],
  ] as const)("shows what a document would change, %s, %d pixels wide", async (theme, width) => {
    const page = await open(theme, width);
    expect(await axeViolations(page)).toEqual([]);
    const changed = stopElement("B1").replace(
      "Corner Shop",
      `Shop ${"x".repeat(300)} \u202e<b>`.replace("<b>", ""),
    );
    await page.getByLabel("XML of a stop document").fill(changed);
    await page.getByLabel("Name of the file").fill("b1_20261106_080000.xml");
    await tryIt(page);
    expect(await page.locator("#result").innerText()).toContain("Fields of stop B1 that would change");
    expect(await axeViolations(page)).toEqual([]);
    expect(await widerThanWindow(page)).toEqual([]);
    await takePicture(page, `hosts-${theme}-${width}`);
  });

  test("takes text and name from a file, in the encoding that it names", async () => {
    const page = await open("light", 1280);
    const content = `<?xml version="1.0" encoding="ISO-8859-1"?>${stopElement("B9").replace("Corner", "Café")}`;
    await page.getByLabel("Take the text from a file").setInputFiles({
      ...{ name: "b9_20261106_080000.xml", mimeType: "text/xml", buffer: Buffer.from(content, "latin1") },
    });
    await page.waitForFunction('document.getElementById("field-text").value.includes("Café")');
    expect(await page.getByLabel("Name of the file").inputValue()).toBe("b9_20261106_080000.xml");
    await tryIt(page);
    expect(await page.locator("#result").innerText()).toContain("It would be applied.");
  });

  test("names this server in the samples as the browser does", async () => {
    const page = await open("light", 1280);
    const samples = await page.locator("#samples").innerText();
    expect(samples).toContain("integration@127.0.0.1");
    expect(samples).not.toContain("SERVER");
    expect(samples).toContain(`/api/stop/${company}`);
  });
});
