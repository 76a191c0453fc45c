/**
 * What the console weighs, and when it can be used over a slow line (400 kbit/s, 100 ms): the sign-in of somebody who comes
 * for the first time, the first page behind it, and a further page. Bytes are those of the line, with their heads. A page
 * can be used when its box to find things, or the field of the user's name, takes letters. Exit code 1 when a first visit
 * has more than 200 kB or takes longer than ten seconds.
 *
 *   node test/nightly/console-weight.ts [--kilobits 400] [--latency 100]
 */
import { parseArgs } from "node:util";
import type { CDPSession, Page } from "playwright-core";
import { launchBrowser } from "../support/browser-process.ts";
import { ConsoleStory } from "../support/console-story.ts";

const mostBytes = 200_000;
const mostMs = 10_000;

const { values } = parseArgs({
  options: {
    kilobits: { type: "string", default: "400" },
    latency: { type: "string", default: "100" },
  },
});

interface Visit {
  readonly name: string;
  readonly requests: number;
  readonly bytes: number;
  readonly usableMs: number;
  readonly loadedMs: number;
}

/** Counts what comes over the line from now on. */
class Line {
  requests = 0;
  bytes = 0;

  constructor(session: CDPSession) {
    session.on("Network.responseReceived", ({ response }) => {
      if (!response.fromDiskCache) this.requests += 1;
    });
    session.on("Network.loadingFinished", ({ encodedDataLength }) => {
      this.bytes += encodedDataLength;
    });
  }

  reset(): void {
    this.requests = 0;
    this.bytes = 0;
  }
}

async function slowDown(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  const throughput = (Number(values.kilobits) * 1_000) / 8;
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    ...{ offline: false, latency: Number(values.latency) },
    ...{ downloadThroughput: throughput, uploadThroughput: throughput },
  });
  return session;
}

interface Step {
  readonly name: string;
  /** Begins to load the page. */
  readonly begin: () => Promise<unknown>;
  /** What takes letters once the page can be used. */
  readonly field: string;
}

async function measure(page: Page, line: Line, { name, begin, field }: Step): Promise<Visit> {
  line.reset();
  const begun = performance.now();
  await Promise.all([begin(), page.waitForEvent("domcontentloaded")]);
  await page.locator(field).fill("x");
  const usableMs = performance.now() - begun;
  await page.waitForLoadState("load");
  const loadedMs = performance.now() - begun;
  return { name, requests: line.requests, bytes: line.bytes, usableMs, loadedMs };
}

function rowOf({ name, requests, bytes, usableMs, loadedMs }: Visit): string {
  const kilobytes = `${(bytes / 1_000).toFixed(1)} kB`;
  const [usable, loaded] = [usableMs, loadedMs].map((ms) => `${(ms / 1_000).toFixed(2)} s`);
  return `${name.padEnd(24)} ${String(requests).padStart(3)} requests ${kilobytes.padStart(10)}   usable after ${usable}, whole after ${loaded}`;
}

async function visits(story: ConsoleStory, page: Page): Promise<readonly Visit[]> {
  const line = new Line(await slowDown(page));
  const first: Step = {
    name: "sign-in, first visit",
    begin: () => page.goto(`${story.site.http}/console/sign-in`, { waitUntil: "commit" }),
    field: "input[name=userName]",
  };
  const measured = [await measure(page, line, first)];
  await page.fill("input[name=userName]", "operator");
  await page.fill("input[name=password]", story.site.password);
  const steps: readonly Step[] = [
    { name: "first page behind it", begin: () => page.keyboard.press("Enter"), field: "#find-box" },
    {
      name: "files",
      begin: () => page.goto(`${story.site.http}/console/files`, { waitUntil: "commit" }),
      field: "#find-box",
    },
  ];
  for (const step of steps) measured.push(await measure(page, line, step));
  return measured;
}

const story = await ConsoleStory.open();
const browser = await launchBrowser();
try {
  const measured = await visits(story, await browser.newPage());
  console.log(`${values.kilobits} kbit/s, ${values.latency} ms`);
  for (const visit of measured) console.log(rowOf(visit));
  const [signIn, first] = measured;
  const bytes = (signIn?.bytes ?? 0) + (first?.bytes ?? 0);
  console.log(`a first visit, up to the first page: ${(bytes / 1_000).toFixed(1)} kB`);
  const isHeavy = bytes > mostBytes || measured.some(({ usableMs }) => usableMs > mostMs);
  process.exitCode = isHeavy ? 1 : 0;
} finally {
  await browser.close();
  await story.end();
}
