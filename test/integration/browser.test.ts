/** What the browser of the tests notices by itself: each of these pages would fail a test that opens it. */
import { createServer, type Server } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasBrowser, useBrowser } from "../support/browser.ts";
import { listenFree } from "../support/listen-free.ts";
import {
  axeViolations,
  outlineFaults,
  tabOn,
  tabStops,
  unseenInPictures,
  widerThanWindow,
} from "../support/page-checks.ts";

const policy =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'nonce-ours'; img-src *; connect-src 'self'";
const page = (content: string, head = "<title>A page</title>") =>
  `<!doctype html><html lang="en"><head>${head}</head><body><main><h1>A page</h1>${content}</main></body></html>`;
const script = (text: string) => page(`<script nonce="ours">${text}</script>`);

const pages: Readonly<Record<string, string>> = {
  "/good": page("<p>Nothing is wrong here.</p>"),
  "/policy": page("<script>window.ran = 1</script>"),
  "/script": script("null.x"),
  "/console": script("console.error('oh dear')"),
  "/dialog": script("alert('a word')"),
  "/elsewhere": page('<img alt="" src="http://127.0.0.1:9/x.png">'),
  "/lacking": page('<img alt="" src="/none.png">'),
  "/pale": page('<p style="color: #bbb; background: #fff">pale</p>'),
  "/wide": page('<p style="width: 900px">wide</p>'),
  "/bare": page("<h1>again</h1><p id=a></p><p id=a>undefined</p>", ""),
  "/unmarked": page('<a href="/good" style="outline: none">a link</a>'),
  "/covered": page(
    '<a href="/good">a link</a><div style="position: fixed; inset: 0; background: red"></div>',
  ),
  "/faint": page(
    '<svg><circle class="lost" r="9" fill="#fff"/><path class="told" fill="#000" d="M0 0h9v9"/></svg>',
  ),
};

let server: Server;
let origin: string;

beforeAll(async () => {
  server = createServer(({ url = "" }, response) => {
    const content = pages[url];
    const head = { "content-type": "text/html; charset=utf-8", "content-security-policy": policy };
    response.writeHead(content === undefined ? 404 : 200, head).end(content ?? page("none"));
  });
  origin = `http://127.0.0.1:${await listenFree(server)}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

describe.skipIf(!hasBrowser)("the browser of the tests", () => {
  const browser = useBrowser();

  async function complaintsAbout(path: string): Promise<string> {
    const opened = await browser.open({ origin });
    await opened.goto(path, { waitUntil: "networkidle" });
    return (await browser.closePages()).join("\n");
  }

  test("has nothing to say about a page that is in order", async () => {
    expect(await complaintsAbout("/good")).toBe("");
  });

  test.each([
    ["/policy", /^CSP: script-src-elem forbids inline/m],
    ["/script", /a script failed: .*null/],
    ["/console", /oh dear/],
    ["/dialog", /a dialog: a word/],
    ["/elsewhere", /asks another host: http:\/\/127\.0\.0\.1:9\/x\.png/],
    ["/lacking", /status of 404: \S+\/none\.png/],
  ])("complains about %s", async (path, complaint) => {
    expect(await complaintsAbout(path)).toMatch(complaint);
  });

  test("does not complain about what a test allows", async () => {
    const opened = await browser.open({ origin, allowed: [/oh dear/] });
    await opened.goto("/console");
    expect(await browser.closePages()).toEqual([]);
  });

  test("sees what is pale, wide, or lacks what pages have to have", async () => {
    const opened = await browser.open({ origin, width: 390 });
    await opened.goto("/good");
    const isGood = async () => [
      await axeViolations(opened),
      await widerThanWindow(opened),
      await outlineFaults(opened),
    ];
    expect(await isGood()).toEqual([[], [], []]);
    await opened.goto("/pale");
    expect(await axeViolations(opened)).toEqual([
      expect.stringMatching(/^color-contrast \(serious\) at p: /),
    ]);
    await opened.goto("/wide");
    expect(await widerThanWindow(opened)).toEqual(["908 of 390 px", "p"]);
    await opened.goto("/bare");
    const faults = ["no title", "2 h1", "an id twice: a", "a value that is none: undefined"];
    expect(await outlineFaults(opened)).toEqual(faults);
  });

  test("sees where the focus is not to be seen", async () => {
    const opened = await browser.open({ origin });
    await opened.goto("/unmarked");
    const link = { name: "a a link", isInWindow: true };
    expect(await tabOn(opened)).toEqual({ ...link, isMarked: false, isCovered: false });
    await opened.goto("/covered");
    expect(await tabOn(opened)).toEqual({ ...link, isMarked: true, isCovered: true });
  });

  test("sees what of a picture is lost in the colours of the system, and where the Tab key stops", async () => {
    const opened = await browser.open({ origin });
    await opened.emulateMedia({ forcedColors: "active", colorScheme: "light" });
    await opened.goto("/faint");
    expect(await unseenInPictures(opened)).toEqual(["lost"]);
    await opened.goto("/unmarked");
    expect(await tabStops(opened)).toBe(1);
  });

  test("opens pages without JavaScript, and can look at them all the same", async () => {
    const opened = await browser.open({ origin, javaScript: false });
    await opened.goto("/console");
    expect(await outlineFaults(opened)).toEqual([]);
  });
});
