/**
 * What 20 viewers of page 1 cost beside 20 files a second: processor time of the daemon with and without them, in turns, and
 * what the host waits for meanwhile. Ends with 1 when they cost more than 5 % of one processor.
 */
import { setTimeout as wait } from "node:timers/promises";
import { consoleBase, makeConsoleSite, otherCompany, signInToConsole } from "../support/console.ts";
import type { Site } from "../support/daemon.ts";
import { type EventListener, listenTo } from "../support/event-stream.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { observe, startSteadyHost } from "./observed-host.ts";

const viewers = 20;
const companies = 30;
const turns = 3;
const turnMs = 20_000;
const mostShare = 0.05;

async function cpuSeconds(site: Site): Promise<number> {
  const text = await (await fetch(`${site.http}/metrics`)).text();
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]);
}

/** Somebody who sees many companies. */
async function addViewer(site: Site): Promise<void> {
  const codes = Array.from({ length: companies }, (_, index) => `C${index}`);
  for (const code of codes) await runInProcess(site, "company", "add", code);
  for (const code of [...codes, otherCompany])
    await runInProcess(site, "user", "add", "admin", "--company", code, "--role", "DI_Inquiry");
}

async function watchAll(site: Site, cookie: string): Promise<readonly EventListener[]> {
  const url = `${consoleBase(site)}/console/live`;
  return await Promise.all(Array.from({ length: viewers }, () => listenTo(url, { cookie })));
}

/** Share of one processor that the daemon takes during the turn. */
async function shareIn(site: Site, turn: () => Promise<void>): Promise<number> {
  const [began, before] = [performance.now(), await cpuSeconds(site)];
  await turn();
  return ((await cpuSeconds(site)) - before) / ((performance.now() - began) / 1_000);
}

const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;

const site = await makeConsoleSite({ http: { maxConnectionsPerAddress: 200 } });
await addViewer(site);
await site.start();
const { cookie } = await signInToConsole(site, "admin");
const host = await startSteadyHost(site, 1);
const shares = { without: [] as number[], beside: [] as number[] };
let events = 0;
try {
  await wait(5_000);
  for (let turn = 0; turn < turns; turn += 1) {
    await observe({ site, host, what: "without viewers" }, async () => {
      shares.without.push(await shareIn(site, () => wait(turnMs).then(() => undefined)));
    });
    const watching = await watchAll(site, cookie);
    if (watching.some(({ status }) => status !== 200)) throw new Error("not all may watch");
    await observe({ site, host, what: `beside ${viewers} viewers` }, async () => {
      shares.beside.push(await shareIn(site, () => wait(turnMs).then(() => undefined)));
    });
    for (const one of watching) {
      events += one.heard.length;
      one.cut();
    }
  }
} finally {
  host.end();
  await site.end();
}
const cost = mean(shares.beside) - mean(shares.without);
const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
const all = (values: readonly number[]) => values.map(percent).join(", ");
console.log(
  `without viewers: ${all(shares.without)}; with ${viewers}: ${all(shares.beside)} of one processor`,
);
console.log(`${viewers} viewers cost ${percent(cost)} of one processor, and heard ${events} events`);
if (cost > mostShare) process.exitCode = 1;
