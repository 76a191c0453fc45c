/** Files in `inbound/` whose copies are put in their places, over kill -9 at each step: each comes once. */
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { oneParser, Site } from "../support/daemon.ts";
import { stopText } from "../support/remote-site.ts";
import { waitFor } from "../support/wait-for.ts";
import { ledgerOf } from "./crash-check.ts";
import { killedExitCode } from "./crash-host.ts";
import { sampled } from "../support/sampled.ts";

let site: Site;
beforeAll(async () => {
  site = await Site.make({ inbound: { ...oneParser, settleMs: 100, scanMs: 400 } });
  await site.start();
  await site.stop();
});
afterAll(() => site.end());

const steps = [
  "rename@place-files.exchange:2",
  "link@place-files.linkUnlessThere:3",
  "fsync@place-files.syncFolder:1",
  "unlink@place-files.removeSource:2",
  "unit@entering-files.enterTogether:1",
];

test.each(sampled(steps, 2))("killed at %s", async (step) => {
  const stops = ["a", "b", "c"].map((letter) => `${letter}${steps.indexOf(step)}`);
  const names = stops.map((stop) => `${stop}_20261105_080000.xml`);
  const before = ledgerOf(site).length;
  for (const [at, name] of names.entries())
    writeFileSync(site.path("inbound", name), stopText(stops[at] ?? ""));
  const run = await site.start({ env: { DROPGATE_KILL_POINT: step } }).catch(() => site.daemon);
  expect(await run.exit).toBe(killedExitCode);
  await site.start();
  await waitFor("all to be decided", () => {
    const files = ledgerOf(site);
    return files.length >= before + names.length && files.every(({ state }) => state !== "waiting");
  });
  const taken = ledgerOf(site).slice(before);
  expect(taken.map(({ name, state }) => `${name} ${state}`).sort()).toEqual(
    names.map((name) => `${name} applied`),
  );
  expect((await site.cli("ledger", "verify")).exitCode).toBe(0);
  await site.stop();
});
