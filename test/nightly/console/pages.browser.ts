/** What each page of the console has to fulfil, whatever it shows: for who sees or points badly, on narrow screens, in print. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { consoleRoutes } from "../../../src/endpoints/http/console/routes.ts";
import { hasBrowser, takePicture, useBrowser, visit } from "../../support/browser.ts";
import { addressIn, openAs, subjectsOf } from "../../support/console-browser.ts";
import { ConsoleStory } from "../../support/console-story.ts";
import { axeViolations, outlineFaults, widerThanWindow } from "../../support/page-checks.ts";

const schemes = ["light", "dark"] as const;
const widths = [1280, 390] as const;

let story: ConsoleStory;
let subjects: Readonly<Record<string, string>>;

/** Pages that are looked at as documents: no streams, no tables to be saved. */
const pages = consoleRoutes.filter(
  ({ method, path }) => method === "GET" && !/\.csv$|\/live|\/events/.test(path),
);
const nameOf = (path: string) =>
  path.replace("/console", "").replaceAll(/[{}]/g, "").replaceAll("/", "-").replace(/^-/, "") || "today";

describe.skipIf(!hasBrowser)("a page", () => {
  const browser = useBrowser();
  beforeAll(async () => {
    story = await ConsoleStory.open();
    subjects = await subjectsOf(story);
  });
  afterAll(() => story.end());

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
    return faults;
  }

  test.each(pages.map(({ path }) => [path] as const))("%s", async (path) => {
    const page = await openAs(browser, story, { userName: "operator" });
    const answer = await visit(page, addressIn(subjects, path));
    expect(answer.status()).toBe(200);
    expect(await look(page, nameOf(path))).toEqual([]);
  });
});
