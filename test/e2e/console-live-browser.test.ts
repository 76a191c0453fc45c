/** Page 1 in a browser, however its events come: through proxies that cut or gather them, not at all, or unseen. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { words } from "../../src/endpoints/http/console/words/words.ts";
import { hasBrowser, type OpenOptions, useBrowser, visit } from "../support/browser.ts";
import { consoleBase, makeConsoleSite, signInToConsole } from "../support/console.ts";
import { openAs } from "../support/console-browser.ts";
import { lenient, oneParser, type Site } from "../support/daemon.ts";
import { listenTo } from "../support/event-stream.ts";
import { hasReverseProxy, startReverseProxy } from "../support/reverse-proxy.ts";
import { carrier, deletionFile, put, stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";

const browser = useBrowser();
const { on, polling } = words.today.live;
let site: Site;

beforeAll(async () => {
  site = await makeConsoleSite({ security: lenient, inbound: oneParser });
  if (hasBrowser) await site.start();
});
afterAll(() => site.end());

const open = (options: Partial<OpenOptions> = {}) =>
  openAs(browser, { site }, { userName: "admin", ...options });

async function openBehind(rules: readonly string[], allowed: readonly RegExp[]): Promise<Page> {
  const proxy = await startReverseProxy(Number(new URL(site.http).port), rules);
  // After its pages have been closed.
  onTestFinished(() => proxy.end());
  return await open({ origin: proxy.origin, allowed });
}

/** A file is refused; gives its name. More than four for one reason would be one row. */
async function refuse(stopNbr: string, why: "carrier" | "noStop" = "carrier"): Promise<string> {
  const file =
    why === "noStop"
      ? deletionFile(stopNbr, "080000")
      : stopFile(stopNbr, { more: carrier("NOBODY"), stopFunction: "03" });
  await put(site, file);
  return file.name;
}

const rowOf = (page: Page, name: string) => page.locator("#refusals tr", { hasText: name });

/** What the page says of how live it is, as soon as it is that. */
const toldLive = (page: Page, text: string) => page.locator("#live-state", { hasText: text }).waitFor();

const isOfEvents = (url: string) => /\/console\/live(?:\?|$)/.test(url);

describe.skipIf(!hasBrowser || !hasReverseProxy)("behind a proxy", () => {
  test("that cuts what is silent, events come all the same, none is lost, and none shown twice", async () => {
    // The page itself may take as long as it does on a busy machine.
    const cut = "http-request set-timeout server 4s if { path_end /console/live }";
    const page = await openBehind([cut], [/ERR_INCOMPLETE_CHUNKED_ENCODING/]);
    let asked = 0;
    page.on("request", (request) => {
      if (isOfEvents(request.url())) asked += 1;
    });
    await visit(page, "/console");
    await page.evaluate("window.isSame = true");
    const first = await refuse("P1");
    await rowOf(page, first).waitFor();
    await waitFor("the connection to have been cut", () => asked > 1);
    const second = await refuse("P2");
    await rowOf(page, second).waitFor();
    await toldLive(page, on);
    expect([await rowOf(page, first).count(), await rowOf(page, second).count()]).toEqual([1, 1]);
    expect(await page.evaluate("window.isSame")).toBe(true);
  });

  test("that gathers events, the page is read again every ten seconds, and says so", async () => {
    const gather =
      "http-response wait-for-body time 600s if { res.hdr(content-type) -m beg text/event-stream }";
    const page = await openBehind([gather, "timeout server 700s"], []);
    await page.clock.install();
    await visit(page, "/console");
    await page.clock.runFor(11_000);
    await toldLive(page, polling);
    for (const stopNbr of ["P3", "P4"]) {
      const name = await refuse(stopNbr);
      await waitFor("the row of the file", async () => {
        await page.clock.runFor(10_000);
        return (await rowOf(page, name).count()) === 1;
      });
      await toldLive(page, polling);
    }
  });
});

describe.skipIf(!hasBrowser)("page 1", () => {
  test("of the 21st viewer is read again every ten seconds, says so, and is live once somebody has gone", async () => {
    const { cookie } = await signInToConsole(site, "admin");
    const watch = () => listenTo(`${consoleBase(site)}/console/live`, { cookie });
    const watching = await Promise.all(Array.from({ length: 20 }, watch));
    expect(watching.map(({ status }) => status)).toEqual(watching.map(() => 200));
    const page = await open({ allowed: [/^status of 503/] });
    await page.clock.install();
    await visit(page, "/console");
    await toldLive(page, polling);
    const name = await refuse("P5", "noStop");
    await waitFor("the row of the file", async () => {
      await page.clock.runFor(10_000);
      return (await rowOf(page, name).count()) === 1;
    });
    await toldLive(page, polling);
    for (const one of watching) one.cut();
    // The server notices a moment later that they have gone.
    await waitFor("a place", async () => {
      await page.clock.fastForward(310_000);
      return await page.locator("#live-state", { hasText: on }).isVisible();
    });
  });

  test("that is live is read as a whole each minute, and keeps what somebody has opened", async () => {
    const page = await open();
    await page.clock.install();
    await visit(page, "/console");
    await toldLive(page, on);
    await page.evaluate(`{
      const details = Object.assign(document.createElement("details"), { id: "opened", open: true });
      document.body.append(details);
      Idiomorph.morph(details, "<details id=opened><summary>anew</summary></details>", { morphStyle: "outerHTML" });
    }`);
    expect(await page.locator("#opened").textContent()).toBe("anew");
    expect(await page.locator("#opened").getAttribute("open")).toBe("");
    const whole = page.waitForRequest((request) => request.url().endsWith("/console/live/page"));
    // From here on time goes by as the test has it, however long a file takes.
    await page.clock.pauseAt(Number(await page.evaluate("Date.now()")) + 500);
    for (const stopNbr of ["P7", "P8", "P9"]) {
      const sound = stopFile(stopNbr);
      // For another reason than those of the other tests, of which many are one row by now.
      const faulty = { ...sound, content: String(sound.content).replaceAll("ShipToCity", "ShipToCty") };
      await put(site, faulty);
      await rowOf(page, faulty.name).waitFor();
      // Less than the silence after which the page would be read again for want of events.
      await page.clock.runFor(20_500);
    }
    await (await whole).response();
    await toldLive(page, on);
  });

  test("of a tab that nobody looks at keeps no connection, and has what came meanwhile as soon as somebody does", async () => {
    const page = await open();
    await visit(page, "/console");
    await toldLive(page, on);
    const show = (isHidden: boolean) =>
      page.evaluate(`{
        Object.defineProperty(document, "hidden", { configurable: true, get: () => ${isHidden} });
        document.dispatchEvent(new Event("visibilitychange"));
      }`);
    const ended = page.waitForEvent("requestfailed", (request) => isOfEvents(request.url()));
    await show(true);
    await ended;
    const name = await refuse("P6", "noStop");
    const again = page.waitForRequest((request) => isOfEvents(request.url()));
    await show(false);
    await again;
    await rowOf(page, name).waitFor();
    await toldLive(page, on);
  });
});
