/** The first start after an upgrade from a version that kept a journal of uploads, and died in a burst before it. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Site } from "../support/daemon.ts";
import { journaledName, journaledStops, plantFormerJournal } from "../support/former-journal.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;
beforeEach(async () => {
  site = await Site.make();
});
afterEach(() => site.end());

interface Verified {
  readonly discrepancies: readonly unknown[];
  readonly atNextStart: number;
}

const verify = (): Promise<Verified> => site.json<Verified>("ledger", "verify");

interface File {
  readonly name: string;
  readonly state: string;
  readonly channel: string;
  readonly user: string | null;
}

test("its uploads are applied once, with their user, and the journal is gone", async () => {
  plantFormerJournal(site.stateDir);
  writeFileSync(site.path("inbound", journaledName("2003")), "<Stop/>");
  expect(await verify()).toMatchObject({ discrepancies: [], atNextStart: 6 });
  await site.start();
  const wanted = journaledStops.map((stop) => `${journaledName(stop)} applied sftp host`).toSorted();
  await waitFor("all uploads applied", async () => {
    const applied = (await site.json<readonly File[]>("files")).filter(({ state }) => state === "applied");
    const found = applied.map(({ name, state, channel, user }) => `${name} ${state} ${channel} ${user}`);
    return JSON.stringify(found.toSorted()) === JSON.stringify(wanted);
  });
  expect(existsSync(join(site.stateDir, "journal"))).toBe(false);
  await site.stop();
  expect(await verify()).toMatchObject({ discrepancies: [] });
});
