/** The console without a mouse, at twice the size, and on paper. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { words } from "../../../src/endpoints/http/console/words/words.ts";
import { hasBrowser, takePicture, useBrowser, visit } from "../../support/browser.ts";
import { addressIn, openAs, subjectsOf } from "../../support/console-browser.ts";
import { ConsoleStory, files } from "../../support/console-story.ts";
import { outlineFaults, tabOn, widerThanWindow } from "../../support/page-checks.ts";

let story: ConsoleStory;

beforeAll(async () => {
  if (hasBrowser) story = await ConsoleStory.open();
});
afterAll(() => story?.end());

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
    const second = await page.evaluate<string>(focusedText);
    expect(second).not.toBe(first);
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

  test("Tab reaches the content first, then all else in the order of the page, and the place is always marked", async () => {
    const page = await openAs(browser, story, { userName: "operator" });
    for (const path of ["/console/files", "/console/audit", "/console/users"]) {
      await visit(page, path);
      const first = await tabOn(page);
      expect(first.name).toBe(`a ${words.frame.skip}`);
      const seen = [first];
      for (let step = 0; step < 30; step += 1) seen.push(await tabOn(page));
      expect(
        seen.filter(({ isMarked }) => !isMarked),
        path,
      ).toEqual([]);
      expect(
        seen.filter(({ isInWindow, name }) => !isInWindow && !name.startsWith("body")),
        path,
      ).toEqual([]);
      expect(
        seen.some(({ name }) => name.includes(words.frame.names.audit)),
        path,
      ).toBe(true);
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

describe.skipIf(!hasBrowser)("twice the size, and paper", () => {
  const browser = useBrowser();
  const patterns = [
    "",
    "/files",
    "/files/{reference}",
    "/stops/{companyCode}/{stopNbr}",
    "/deliveries",
    "/users",
  ];

  test("at 200 % all of a page is there, and nobody scrolls sideways", async () => {
    const subjects = await subjectsOf(story);
    const page = await openAs(browser, story, { userName: "operator", zoom: 2 });
    for (const pattern of patterns) {
      await visit(page, addressIn(subjects, `/console${pattern}`));
      expect(await widerThanWindow(page), pattern).toEqual([]);
      expect(await outlineFaults(page), pattern).toEqual([]);
      expect(await page.locator("#find-box").isVisible(), pattern).toBe(true);
    }
  });

  test("printed pages have their content and no navigation, in black on white also in the dark", async () => {
    const subjects = await subjectsOf(story);
    const page = await openAs(browser, story, { userName: "operator", colorScheme: "dark" });
    for (const pattern of patterns) {
      await visit(page, addressIn(subjects, `/console${pattern}`));
      await page.emulateMedia({ media: "print" });
      expect(await page.locator("nav.pages").isVisible(), pattern).toBe(false);
      expect(await page.locator("#find-box").isVisible(), pattern).toBe(false);
      expect(await page.locator("h1").isVisible(), pattern).toBe(true);
      const background = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      expect(["rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"], pattern).toContain(background);
      await page.emulateMedia({ media: "screen" });
    }
    await visit(page, "/console/files");
    await page.emulateMedia({ media: "print" });
    await takePicture(page, "files-print");
    const pdf = await page.pdf();
    expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
    expect(await page.locator("main").innerText()).toContain(files.applied.name);
  });
});
