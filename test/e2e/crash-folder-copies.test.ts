/** Files in `inbound/` whose copies are put in their places, over kill -9 at each step: each comes once. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { stopText } from "../support/remote-site.ts";
import { company, Site } from "../support/daemon.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;
afterEach(() => site.end());

const names = ["a", "b", "c"].map((stop) => `${stop}_20261105_080000.xml`);

test.each([
  "rename@place-files.exchange:2",
  "link@place-files.linkUnlessThere:3",
  "fsync@place-files.syncFolder:1",
  "unlink@place-files.removeSource:2",
  "unit@enter-files.enterSurely:1",
])(
  "killed at %s",
  async (point) => {
    site = await Site.make();
    const inbound = join(site.folder, "var", "companies", company, "inbound");
    await site.start();
    await site.stop();
    for (const name of names) writeFileSync(join(inbound, name), stopText(name.slice(0, 1)));
    const run = await site.start({ env: { DROPGATE_KILL_POINT: point } }).catch(() => site.daemon);
    expect(await run.exit).toBe(137);
    await site.start();
    const ledger = () => site.json<readonly { name: string; state: string }[]>("files");
    await waitFor("all to be decided", async () => {
      const files = await ledger();
      return files.length >= names.length && files.every(({ state }) => state !== "waiting");
    });
    expect((await ledger()).map(({ name, state }) => `${name} ${state}`).sort()).toEqual(
      names.map((name) => `${name} applied`),
    );
    expect((await site.cli("ledger", "verify")).exitCode).toBe(0);
  },
  60_000,
);
