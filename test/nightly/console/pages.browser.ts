/**
 * All pages of the console in all forms in which people see them, each kept as a picture to be looked at: wide and narrow,
 * light and dark, in the colours of the system, and printed. `test/e2e` has a part of it for each change.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { company } from "../../support/daemon.ts";
import { hasBrowser, takePicture, useBrowser, visit } from "../../support/browser.ts";
import { addressIn, consolePages, openAs, pageName, subjectsOf } from "../../support/console-browser.ts";
import { ConsoleStory, files } from "../../support/console-story.ts";
import { axeViolations, outlineFaults, widerThanWindow } from "../../support/page-checks.ts";

const schemes = ["light", "dark"] as const;
const widths = [1280, 640, 390] as const;

/** Lists that are empty or filtered, things in other states, and forms that were refused. */
const further: Readonly<Record<string, string>> = {
  "files-refused": "/console/files?state=refused",
  "files-none": "/console/files?name=none*",
  "files-faulty-filter": "/console/files?from=tomorrow",
  "find-many": "/console/find?q=4711",
  "find-nothing": "/console/find?q=none",
  "stop-of-files": `/console/stops/${company}/4711`,
  "stop-reached": `/console/stops/${company}/4722`,
  "deliveries-dead": "/console/deliveries?state=dead",
  "today-14d": "/console?span=14d",
  "no-such-file": "/console/files/none",
};

let story: ConsoleStory;
let subjects: Readonly<Record<string, string>>;

describe.skipIf(!hasBrowser)("a page", () => {
  const browser = useBrowser();
  beforeAll(async () => {
    story = await ConsoleStory.open();
    subjects = await subjectsOf(story);
  });
  afterAll(() => story.end());

  async function inOtherColours(page: Page, name: string): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, forcedColors: "active" });
      const found = await axeViolations(page);
      // The browser's own colours of links and buttons are nothing that a page chooses.
      faults.push(...found.filter((fault) => !fault.startsWith("color-contrast")));
      await takePicture(page, `${name}-forced-${colorScheme}`);
    }
    await page.emulateMedia({ forcedColors: "none" });
    await page.setViewportSize({ width: 718, height: 1000 });
    await page.emulateMedia({ media: "print" });
    await takePicture(page, `${name}-paper`);
    faults.push(...(await widerThanWindow(page)));
    await page.emulateMedia({ media: "screen" });
    const pdf = await page.pdf();
    return pdf.subarray(0, 5).toString() === "%PDF-" ? faults : [...faults, "no PDF"];
  }

  async function look(page: Page, name: string): Promise<readonly string[]> {
    const faults: string[] = [...(await outlineFaults(page))];
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        const kind = `${width}-${colorScheme}`;
        faults.push(...(await axeViolations(page)).map((fault) => `${kind}: ${fault}`));
        await takePicture(page, `${name}-${kind}`);
      }
      faults.push(
        ...(await widerThanWindow(page)).map((fault) => `${width}: wider than the window: ${fault}`),
      );
    }
    return [...faults, ...(await inOtherColours(page, name))];
  }

  test.each(consolePages.map(({ path }) => [path] as const))("%s", async (path) => {
    const page = await openAs(browser, story, { userName: "operator" });
    const answer = await visit(page, addressIn(subjects, path));
    expect(answer.status()).toBe(200);
    expect(await look(page, pageName(path))).toEqual([]);
  });

  test.each(Object.entries(further))("%s", async (name, address) => {
    const page = await openAs(browser, story, { userName: "operator", allowed: [/^status of 40[04]/] });
    await visit(page, address);
    expect(await look(page, name)).toEqual([]);
  });

  test("printed has all of its rows", async () => {
    const page = await openAs(browser, story, { userName: "operator" });
    await visit(page, "/console/files");
    await page.emulateMedia({ media: "print" });
    const rows = page.locator("main tbody tr");
    expect(await rows.count()).toBeGreaterThan(20);
    expect(await rows.last().isVisible()).toBe(true);
    expect((await rows.allInnerTexts()).join("\n")).toContain(files.waiting.name);
  });
});
