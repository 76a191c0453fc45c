/** Names, documents and questions of clients that are made to break pages of the console, or to run in them. */
import { createServer, type Server } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, useBrowser, visit } from "../support/browser.ts";
import { openAs, referenceOf } from "../support/console-browser.ts";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { signInToConsole } from "../support/console.ts";
import { ConsoleStory, files } from "../support/console-story.ts";
import { company } from "../support/daemon.ts";
import { hostileFiles, hostileTexts } from "../support/hostile-texts.ts";
import { listenFree } from "../support/listen-free.ts";
import { sampled } from "../support/sampled.ts";
import { outlineFaults, widerThanWindow } from "../support/page-checks.ts";

const browser = useBrowser();
let story: ConsoleStory;

beforeAll(async () => {
  if (hasBrowser) story = await ConsoleStory.open();
});
afterAll(() => story?.end());

/** What the page did or lost because of a text. That an image is asked for, or a rule of style broken, the browser tells. */
async function harm(page: Page): Promise<readonly string[]> {
  const ran = await page.evaluate<unknown>("window.ran");
  const hidden = await page.locator("main").isHidden();
  return [
    ...(ran === undefined ? [] : ["a script has run"]),
    ...(hidden ? ["nothing is shown"] : []),
    ...(await outlineFaults(page)),
    ...(await widerThanWindow(page)),
  ];
}

describe.skipIf(!hasBrowser)("what clients write", () => {
  const open = () => openAs(browser, story, { userName: "operator", width: 390 });

  test("runs nothing, and breaks no page, in lists", async () => {
    const page = await open();
    for (const path of ["/console", "/console/files", "/console/files?state=refused", "/console/audit"]) {
      expect((await visit(page, path)).status()).toBe(200);
      expect(await harm(page), path).toEqual([]);
    }
  });

  test("runs nothing, and breaks no page, on the page of its file, where the document is shown", async () => {
    const page = await open();
    for (const { name } of hostileFiles) {
      expect(
        (await visit(page, `/console/files/${await referenceOf(story.site, name)}`)).status(),
        name,
      ).toBe(200);
      expect(await harm(page), name).toEqual([]);
      const shown = await page.locator("main").innerText();
      expect(
        shown.replaceAll(/[\s\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2069]/g, "").length,
      ).toBeGreaterThan(100);
    }
  });

  test("runs nothing, and breaks no page, on the page of its stop", async () => {
    const page = await open();
    for (const index of Array.from({ length: Object.keys(hostileTexts).length + 1 }).keys()) {
      const stopNbr = `66${String(index).padStart(2, "0")}`;
      expect((await visit(page, `/console/stops/${company}/${stopNbr}`)).status(), stopNbr).toBe(200);
      expect(await harm(page), stopNbr).toEqual([]);
    }
  });
});

describe.skipIf(!hasBrowser)("what is asked for in an address", () => {
  const long = "W".repeat(2_000);

  test.each(sampled(Object.entries({ ...hostileTexts, long }), 6))(
    "runs nothing when it is %s",
    async (_name, text) => {
      const page = await openAs(browser, story, {
        userName: "operator",
        width: 390,
        allowed: [/^status of 40[04]/],
      });
      const asked = encodeURIComponent(text);
      const paths = [`/find?q=${asked}`, `/files?stop=${asked}&state=${asked}&user=${asked}&done=${asked}`];
      const subjects = [`/files/${asked}`, `/stops/${company}/${asked}`, `/deliveries/${asked}`];
      for (const path of [...paths, ...subjects]) {
        const answer = await visit(page, `/console${path}`);
        expect([200, 400, 404], path).toContain(answer.status());
        const isPage = (await answer.headerValue("content-type"))?.startsWith("text/html") === true;
        // What no route takes is answered like any other request that is none: by what is no page.
        expect(isPage ? await harm(page) : await page.evaluate("window.ran"), path).toEqual(
          isPage ? [] : undefined,
        );
      }
    },
  );
});

describe.skipIf(!hasBrowser)("a page of somebody else", () => {
  let other: Server;
  let elsewhere: string;
  /** A server on the same machine: for a browser it is the same site, so that it sends the cookie of the session along. */
  beforeAll(async () => {
    const address = `${story.site.http}/console`;
    const reference = await referenceOf(story.site, files.faulty.name);
    const fields = { reason: "not mine", seenAt: "9999999999999", formToken: "x" };
    const inputs = Object.entries(fields).map(([name, value]) => `<input name="${name}" value="${value}">`);
    const form = `<form method="post" action="${address}/files/${reference}/retry">${inputs.join("")}</form>`;
    const pages: Readonly<Record<string, string>> = {
      "/frame": `<iframe src="${address}/files" width="600" height="600"></iframe>`,
      "/form": `${form}<script>document.forms[0].submit()</script>`,
    };
    other = createServer(({ url = "" }, response) => {
      response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html>${pages[url] ?? ""}`);
    });
    elsewhere = `http://127.0.0.1:${await listenFree(other)}`;
  });
  afterAll(() => {
    other.close();
    other.closeAllConnections();
  });

  const open = async (allowed: readonly RegExp[]) => {
    const signedIn = await openAs(browser, story, { userName: "operator" });
    const cookies = await signedIn.context().cookies();
    return await browser.open({ origin: elsewhere, cookies, allowed });
  };

  test("shows no page of the console in a frame", async () => {
    const page = await open([/asks another host/, /frame-ancestors|ERR_BLOCKED_BY_RESPONSE/]);
    await page.goto("/frame", { waitUntil: "load" });
    const frame = page.frames().find((one) => one !== page.mainFrame());
    expect(frame?.url()).toBe("chrome-error://chromewebdata/");
    expect(await frame?.locator("body").innerText()).not.toContain(files.applied.name);
  });

  test("has no form of the console sent", async () => {
    const page = await open([/asks another host/, /^status of 403/]);
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().includes("/retry")),
      page.goto("/form", { waitUntil: "commit" }),
    ]);
    // The session was sent along: without one the answer would lead to the sign-in.
    expect([answer.status(), await answer.text()]).toEqual([
      403,
      expect.stringContaining(words.session.foreignForm),
    ]);
    const audit = await signInToConsole(story.site, "operator");
    expect((await audit.get("/console/audit")).body).not.toContain("not mine");
  });
});
