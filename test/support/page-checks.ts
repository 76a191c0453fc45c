/** What each page of the console has to fulfil, looked at in a real browser. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { AxeResults, NodeResult } from "axe-core";
import type { Page } from "playwright-core";

const axeFile = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
const inPageFile = join(import.meta.dirname, "in-page.js");

/** WCAG 2.2 AA, and what it took over from the versions before. */
const axeTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

const sources = new Map<string, Promise<string>>();

async function sourceOf(file: string): Promise<string> {
  const known = sources.get(file) ?? readFile(file, "utf8");
  sources.set(file, known);
  return await known;
}

/** What a function of `in-page.js` gives. */
async function ask<Found>(page: Page, name: string): Promise<Found> {
  await page.evaluate(await sourceOf(inPageFile));
  return await page.evaluate<Found>(`inPage.${name}()`);
}

/** Where the page is no good for people who see, hear or point badly; one line for each place. */
export async function axeViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(await sourceOf(axeFile));
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(document, { runOnly: ${JSON.stringify(axeTags)}, resultTypes: ["violations"] })`,
  );
  const lineOf = ({ target, failureSummary = "" }: NodeResult) =>
    `${target.join(" ")}: ${failureSummary.replaceAll(/\s+/g, " ")}`;
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map((node) => `${id} (${impact}) at ${lineOf(node)}`),
  );
}

/** What makes the page wider than its window; nothing when nobody has to scroll sideways. */
export async function widerThanWindow(page: Page): Promise<readonly string[]> {
  return await ask(page, "widerThanWindow");
}

/** What a page lacks whatever it shows: a title, one main heading, one main part, a language, values that are some. */
export async function outlineFaults(page: Page): Promise<readonly string[]> {
  return await ask(page, "outlineFaults");
}

export interface Focused {
  /** Its tag and its text. */
  readonly name: string;
  /** An outline, or another sign that the element has the focus. */
  readonly isMarked: boolean;
  readonly isInWindow: boolean;
  /** Something else lies over all of it. */
  readonly isCovered: boolean;
}

/** Goes on with the Tab key and says what has the focus then. */
export async function tabOn(page: Page): Promise<Focused> {
  await page.keyboard.press("Tab");
  return await ask(page, "focused");
}

/** How many elements the Tab key stops at. */
export async function tabStops(page: Page): Promise<number> {
  return await ask(page, "tabStops");
}

/** The parts of pictures that have the colour of their ground, and so are not seen; one class for each. */
export async function unseenInPictures(page: Page): Promise<readonly string[]> {
  return await ask(page, "unseenInPictures");
}
