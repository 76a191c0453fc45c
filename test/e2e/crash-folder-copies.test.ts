/**
 * Files in `inbound/` whose copies are put in their places, over kill -9 at each step, and of the start after it: each comes
 * once, and before a later one of its name, although its copy is younger than that.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { company, oneParser, Site } from "../support/daemon.ts";
import { rowsOf } from "../support/site-database.ts";
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
  const [first = "", name = ""] = [stops[0], names[0]];
  mkdirSync(site.path("inbound", ".again"), { recursive: true });
  writeFileSync(site.path("inbound", ".again", `0123456789ab-${name}`), stopText(first, "later"));
  // The start after it dies too, before it has entered what it has found.
  for (const killedAt of [step, "unit@entering-files.enterTogether:1"]) {
    const run = await site.start({ env: { DROPGATE_KILL_POINT: killedAt } }).catch(() => site.daemon);
    expect(await run.exit).toBe(killedExitCode);
  }
  await site.start();
  await waitFor("all to be decided", () => {
    const files = ledgerOf(site);
    return files.length > before + names.length && files.every(({ state }) => state !== "waiting");
  });
  const taken = ledgerOf(site).slice(before);
  const told = taken.map((file) => `${file.name} ${file.state}`).sort();
  expect(told).toEqual([
    `${name} applied`,
    `${name} refused`,
    ...names.slice(1).map((one) => `${one} applied`),
  ]);
  const [applied] = rowsOf<{ location: string; source: string }>(
    site,
    "select location, source from files where name = ? and state = 'applied'",
    name,
  );
  expect(applied?.source).toBe(`companies/${company}/inbound/${name}`);
  expect((await site.cli("ledger", "verify")).exitCode).toBe(0);
  await site.stop();
  const filed = join(site.stateDir, String(applied?.location));
  expect(readFileSync(filed, "utf8")).not.toContain("later");
  expect(statSync(filed).mode & 0o777).toBe(0o640);
});
