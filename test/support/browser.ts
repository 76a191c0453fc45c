/**
 * A real browser (Chromium of the system) for the tests of pages. One for each test file; each test opens pages in a
 * profile of their own, which ends with the test. Whatever happens in a page that nobody would want to happen fails the
 * test that opened it: a report of the content security policy, an error of the console or of a script, a dialog, a
 * request that fails or goes to another host.
 *
 *   describe.skipIf(!hasBrowser)("the page", () => {
 *     const browser = useBrowser();
 *     test("…", async () => {
 *       const page = await browser.open({ origin: site.http, cookies });
 *       await page.goto("/console");
 *       expect(await axeViolations(page)).toEqual([]);
 *     });
 *   });
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Browser, BrowserContext, BrowserContextOptions, Page, Response } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { hasBrowser, launchBrowser } from "./browser-process.ts";
import { waitFor } from "./wait-for.ts";

export { hasBrowser };

/** The longest that a step in a page may take: it fails long before the test that waits for it. */
const stepMs = 60_000;

/** A query that takes longer than two seconds on a machine that is busy with others: no fault of the page. */
const busyStatus = 503;

export type Cookies = Parameters<BrowserContext["addCookies"]>[0];

export interface OpenOptions {
  /** Where relative addresses begin, and the only host that may be asked: `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** Those of a session; none unless given. */
  readonly cookies?: Cookies;
  readonly colorScheme?: "light" | "dark";
  /** Of the window in CSS pixels; 1280 unless given. */
  readonly width?: number;
  readonly height?: number;
  /** A window of so many CSS pixels for each pixel: 2 is what a zoom of 200 % makes. */
  readonly zoom?: number;
  readonly javaScript?: boolean;
  /** Complaints that the test causes on purpose, such as `status of 403`. */
  readonly allowed?: readonly RegExp[];
  readonly timezone?: string;
}

export interface Browsing {
  /** A page in a profile of its own. */
  open(options: OpenOptions): Promise<Page>;
  /** A further tab beside the page, in the same profile. */
  openBeside(page: Page): Promise<Page>;
  /** Closes all pages of the test. Gives what they did that fails it, and forgets that. */
  closePages(): Promise<readonly string[]>;
}

/** What a page did that fails its test, in words. */
class Complaints {
  readonly #allowed: readonly RegExp[];
  readonly #texts: string[] = [];

  constructor(allowed: readonly RegExp[]) {
    this.#allowed = allowed;
  }

  add(text: string): void {
    if (!this.#allowed.some((form) => form.test(text))) this.#texts.push(text);
  }

  get texts(): readonly string[] {
    return this.#texts;
  }
}

function watchRequests(context: BrowserContext, origin: string, complaints: Complaints): void {
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:"))
      complaints.add(`asks another host: ${url}`);
  });
  context.on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "failed";
    // What a page has under way when it is left or closed.
    if (reason !== "net::ERR_ABORTED") complaints.add(`${reason}: ${request.method()} ${request.url()}`);
  });
  context.on("response", (response) => {
    if (response.status() >= 400 && response.status() !== busyStatus)
      complaints.add(`status of ${response.status()}: ${response.url()}`);
  });
}

function watchPages(context: BrowserContext, complaints: Complaints): void {
  context.on("console", (message) => {
    // The status of a response is told by itself, with its address.
    if (message.text().startsWith("Failed to load resource")) return;
    if (message.type() === "error" || message.type() === "warning") complaints.add(message.text());
  });
  context.on("weberror", (event) => complaints.add(`a script failed: ${event.error().message}`));
  context.on("dialog", (dialog) => {
    complaints.add(`a dialog: ${dialog.message()}`);
    dialog.dismiss().catch((error: unknown) => complaints.add(String(error)));
  });
}

function profileOf(options: OpenOptions): BrowserContextOptions {
  const { origin, zoom = 1, colorScheme = "light", javaScript = true } = options;
  const { width = 1280, height = 900, timezone = "Europe/Berlin" } = options;
  return {
    baseURL: origin,
    colorScheme,
    javaScriptEnabled: javaScript,
    locale: "en-GB",
    timezoneId: timezone,
    deviceScaleFactor: zoom,
    viewport: { width: Math.round(width / zoom), height: Math.round(height / zoom) },
    reducedMotion: "reduce",
  };
}

class Profiles implements Browsing {
  #browser: Browser | undefined;
  readonly #open = new Map<BrowserContext, Complaints>();

  async launch(): Promise<void> {
    this.#browser = await launchBrowser();
  }

  async open(options: OpenOptions): Promise<Page> {
    if (this.#browser === undefined) throw new Error("the browser has not been started");
    const context = await this.#browser.newContext(profileOf(options));
    context.setDefaultTimeout(stepMs);
    const complaints = new Complaints(options.allowed ?? []);
    this.#open.set(context, complaints);
    watchRequests(context, options.origin, complaints);
    watchPages(context, complaints);
    await context.addInitScript({ path: join(import.meta.dirname, "tell-violations.js") });
    if (options.cookies !== undefined) await context.addCookies(options.cookies);
    return await context.newPage();
  }

  async openBeside(page: Page): Promise<Page> {
    return await page.context().newPage();
  }

  async closePages(): Promise<readonly string[]> {
    const open = [...this.#open];
    this.#open.clear();
    await Promise.all(open.map(([context]) => context.close()));
    return open.flatMap(([, { texts }]) => texts);
  }

  async end(): Promise<void> {
    await this.#browser?.close();
  }
}

/**
 * A browser for the tests of the file, or of the `describe` that it is called in. Where there is none, tests skip themselves
 * (`hasBrowser`).
 */
export function useBrowser(): Browsing {
  const profiles = new Profiles();
  beforeAll(() => (hasBrowser ? profiles.launch() : undefined));
  afterEach(async () => expect(await profiles.closePages(), "what pages did that they may not").toEqual([]));
  afterAll(() => profiles.end());
  return profiles;
}

/** Opens an address of the site and gives the answer; comes again while the server is too busy, as it asks for. */
export async function visit(page: Page, path: string): Promise<Response> {
  return await waitFor(`an answer to ${path}`, async () => {
    const response = await page.goto(path);
    if (response === null) throw new Error(`${path} gave no answer`);
    return response.status() === busyStatus ? undefined : response;
  });
}

const pictures = resolve(import.meta.dirname, "../../test-artefacts/screenshots");

/** Keeps a picture of the whole page below `test-artefacts/screenshots`; the name has no ending. */
export async function takePicture(page: Page, name: string): Promise<void> {
  await mkdir(pictures, { recursive: true });
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true, animations: "disabled" });
}
