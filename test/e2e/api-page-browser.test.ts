/** The page of the interface in a real browser: its colours, its names for screen readers, and nothing that the policy forbids. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Page } from "playwright-core";
import { axeViolations } from "../support/page-checks.ts";
import { hasBrowser, useBrowser, visit } from "../support/browser.ts";
import { type HttpFixture, startHttp } from "../support/http-fixture.ts";

let http: HttpFixture;

beforeAll(async () => {
  http = await startHttp();
});
afterAll(() => http.close());

async function openOperation(page: Page): Promise<void> {
  await page.locator(".opblock-tag .expand-operation").first().click();
  await page.locator(".opblock-post .opblock-summary-control").first().click();
  await page.locator(".opblock.is-open .responses-wrapper").waitFor();
}

describe.skipIf(!hasBrowser)("the page of the interface", () => {
  const browser = useBrowser();
  const open = (colorScheme: "light" | "dark", width = 1280) =>
    browser.open({ origin: `http://127.0.0.1:${http.port}`, colorScheme, width });

  test.each(["light", "dark"] as const)(
    "has no serious fault for those who cannot see it well, %s",
    async (theme) => {
      const page = await open(theme);
      await visit(page, "/docs");
      await openOperation(page);
      const serious = (await axeViolations(page)).filter((told) =>
        /critical|serious/.test(JSON.stringify(told)),
      );
      expect(serious).toEqual([]);
    },
  );

  test("is dark when the system is, unless the viewer has chosen light for the console", async () => {
    const page = await open("dark");
    await visit(page, "/docs");
    const ground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    expect(await ground()).toBe("rgb(18, 23, 28)");
    await page.evaluate('localStorage.setItem("dropgate.theme", "light")');
    await page.reload();
    expect(await ground()).toBe("rgb(244, 246, 248)");
    expect(await page.locator("html.dark-mode").count()).toBe(0);
  });

  test("fits a narrow screen", async () => {
    const page = await open("light", 390);
    await visit(page, "/docs");
    await openOperation(page);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  });
});
