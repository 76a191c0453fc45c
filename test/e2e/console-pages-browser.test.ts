/**
 * Each page of the console in a real browser: for who sees or points badly, dark, narrow, at twice the size, in the colours
 * of the system, on paper, and without a mouse.
 */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { hasBrowser, takePicture, useBrowser, visit } from "../support/browser.ts";
import { addressIn, differentPages, openAs, pageName, subjectsOf } from "../support/console-browser.ts";
import { ConsoleStory } from "../support/console-story.ts";
import { sampled } from "../support/sampled.ts";
import {
  axeViolations,
  outlineFaults,
  tabOn,
  tabStops,
  unseenInPictures,
  widerThanWindow,
} from "../support/page-checks.ts";

let story: ConsoleStory;
let subjects: Readonly<Record<string, string>>;

beforeAll(async () => {
  if (!hasBrowser) return;
  story = await ConsoleStory.open();
  subjects = await subjectsOf(story);
});
afterAll(() => story?.end());

const wide = { width: 1280, height: 900 };
/** CSS pixels: a telephone, 200 % of 1280 pixels, and 400 %, the narrowest that WCAG asks for (1.4.10). */
const narrow = [390, 640, 320];
/** Of a sheet of A4, less its margins. */
const sheetWidth = 718;

const prefixed = (kind: string, faults: readonly string[]) => faults.map((fault) => `${kind}: ${fault}`);

async function inEachScheme(page: Page, name: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    faults.push(...prefixed(colorScheme, await axeViolations(page)));
    await takePicture(page, `${name}-${colorScheme}`);
  }
  return faults;
}

async function inEachWidth(page: Page, name: string): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const width of narrow) {
    await page.setViewportSize({ width, height: 844 });
    faults.push(...prefixed(`${width} px`, await widerThanWindow(page)));
    if (width === narrow[0]) await takePicture(page, `${name}-narrow`);
  }
  return faults;
}

async function inColoursOfTheSystem(page: Page): Promise<readonly string[]> {
  await page.emulateMedia({ forcedColors: "active" });
  const faults = prefixed("forced colours", await unseenInPictures(page));
  await page.emulateMedia({ forcedColors: "none" });
  return faults;
}

/** With the dark theme chosen: paper is white all the same. */
async function onPaper(page: Page): Promise<readonly string[]> {
  await page.setViewportSize({ width: sheetWidth, height: 1000 });
  await page.evaluate('document.documentElement.dataset.theme = "dark"');
  await page.emulateMedia({ media: "print" });
  const isShown = (selector: string) => page.locator(selector).first().isVisible();
  const ground = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const text = await page.evaluate<string>("getComputedStyle(document.body).color");
  const faults = [
    ...(await widerThanWindow(page)),
    ...((await isShown("nav.pages")) || (await isShown("#find-box")) ? ["the navigation"] : []),
    ...((await isShown("h1")) ? [] : ["no heading"]),
    ...(ground === "rgb(255, 255, 255)" && text === "rgb(23, 33, 43)" ? [] : [`${text} on ${ground}`]),
  ];
  await page.emulateMedia({ media: "screen" });
  return prefixed("paper", faults);
}

describe.skipIf(!hasBrowser)("the page", () => {
  const browser = useBrowser();

  test.each(sampled(differentPages, 5).map(({ path }) => [path] as const))("%s", async (path) => {
    const page = await openAs(browser, story, { userName: "operator", ...wide });
    expect((await visit(page, addressIn(subjects, path))).status()).toBe(200);
    const name = pageName(path);
    expect([
      ...(await outlineFaults(page)),
      ...(await inEachScheme(page, name)),
      ...(await inEachWidth(page, name)),
      ...(await inColoursOfTheSystem(page)),
      ...(await onPaper(page)),
    ]).toEqual([]);
  });
});

const focusedId = "document.activeElement?.id";
const focusedText = "document.activeElement?.textContent";

describe.skipIf(!hasBrowser)("keys", () => {
  const browser = useBrowser();

  test("`/` goes to the box, `g f` to the files, `j` and `k` along the rows, Enter opens one", async () => {
    const page = await openAs(browser, story, { userName: "operator" });
    await visit(page, "/console/audit");
    await page.keyboard.press("/");
    expect(await page.evaluate(focusedId)).toBe("find-box");
    // Letters that are typed are letters.
    await page.keyboard.type("gf?");
    expect(await page.locator("#find-box").inputValue()).toBe("gf?");
    await page.locator("#find-box").blur();
    await page.keyboard.press("g");
    await page.keyboard.press("f");
    await page.waitForURL("**/console/files");
    await page.keyboard.press("j");
    const first = await page.evaluate<string>(focusedText);
    await page.keyboard.press("j");
    expect(await page.evaluate<string>(focusedText)).not.toBe(first);
    await page.keyboard.press("k");
    expect(await page.evaluate<string>(focusedText)).toBe(first);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/console\/files\/[0-9a-f-]{36}/);
  });

  test("`?` shows the keys and Escape closes them; keys that are switched off do nothing", async () => {
    const page = await openAs(browser, story, { userName: "operator" });
    await visit(page, "/console/files");
    await page.keyboard.press("?");
    const dialog = page.getByRole("dialog", { name: words.keys.title });
    await dialog.waitFor();
    await takePicture(page, "keys");
    await dialog.getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.keyboard.press("?");
    expect(await dialog.isVisible()).toBe(false);
  });

  test("Tab goes through a whole page and out of it, and the place is always marked and never covered", async () => {
    const page = await openAs(browser, story, { userName: "operator" });
    for (const pattern of ["", "/deliveries", "/hosts", "/files/{reference}"]) {
      await visit(page, addressIn(subjects, `/console${pattern}`));
      const skip = `a ${words.frame.skip}`;
      const seen = [await tabOn(page)];
      const most = (await tabStops(page)) + 20;
      for (
        let place = await tabOn(page);
        place.name !== skip && seen.length < most;
        place = await tabOn(page)
      )
        seen.push(place);
      const isOutside = ({ name }: { name: string }) => name.startsWith("body");
      const lost = seen.filter(
        (place) => !isOutside(place) && !(place.isMarked && place.isInWindow && !place.isCovered),
      );
      expect(lost, pattern).toEqual([]);
      expect(seen[0]?.name, pattern).toBe(skip);
      expect(seen.length, pattern).toBeLessThan(most);
      expect(seen.some(({ name }) => name.startsWith(`button ${words.frame.keys}`))).toBe(true);
    }
  });

  test("the link at the top leads past the navigation", async () => {
    const page = await openAs(browser, story, { userName: "operator" });
    await visit(page, "/console/files");
    await tabOn(page);
    await page.keyboard.press("Enter");
    expect(await page.evaluate(focusedId)).toBe("main");
  });
});
