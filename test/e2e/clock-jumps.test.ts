/** Retention by the real program on a machine whose clock is not right (docs/retention.md#the-clock). */
import { readdir, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lenient, oneParser, Site } from "../support/daemon.ts";
import { stopFile } from "../support/stop-files.ts";
import { waitFor } from "../support/wait-for.ts";
import { dayMs } from "../../src/lib/durations.ts";
import { changeRows } from "../support/site-database.ts";

let site: Site;

beforeEach(async () => {
  const retention = { archive: 1 };
  site = await Site.make({
    retention,
    security: lenient,
    inbound: { ...oneParser, settleMs: 100, scanMs: 500 },
  });
});
afterEach(() => site.end());

/** As an earlier version leaves it, and seen by a clock that is months ahead: no note of the clock, all long ago. */
function ageState(): void {
  changeRows(site, "delete from meta where key = 'prune_clock'");
  const then = Date.now() - 100 * dayMs;
  changeRows(site, "update meta set value = ? where key = 'alive_at'", String(then));
  changeRows(site, "update files set received_at = ?, decided_at = ?", then, then);
}

async function archived(): Promise<number> {
  const names = await readdir(site.path("archive"), { recursive: true });
  return names.filter((name) => name.endsWith(".xml")).length;
}

const isPaused = async () =>
  /dropgate_retention_paused 1/.test(await (await fetch(`${site.http}/metrics`)).text());

test("the first start after an upgrade sees that the clock has jumped, and removes nothing until somebody says it is right", async () => {
  await site.start();
  const { name, content } = stopFile("A100");
  await writeFile(site.path("inbound", name), content);
  await waitFor("the file is filed away", async () => (await archived()) === 1);
  await site.stop();
  ageState();
  await site.start();
  await waitFor("the pause", isPaused);
  expect(site.log.some(({ msg }) => /nothing is removed by its age/.test(msg))).toBe(true);
  // Over a restart too: by now the state says that it was alive at that time.
  await site.stop();
  await site.start();
  await waitFor("the pause", isPaused);
  expect(await site.cli("prune")).toMatchObject({ exitCode: 1 });
  expect(await archived()).toBe(1);
  await site.mustRun("prune", "--clock-is-right");
  expect(await archived()).toBe(0);
});
