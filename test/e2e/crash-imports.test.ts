/** Imports of loads over kill -9: what was answered is applied, once. */
import { afterEach, expect, test } from "vitest";
import type { HttpReply } from "../support/clients.ts";
import { company, oneParser, Site } from "../support/daemon.ts";
import { eventCodes, importFinished, post } from "../support/gateway-client.ts";
import { sampled } from "../support/sampled.ts";

let site: Site;
afterEach(() => site.end());

const loads = Array.from({ length: 40 }, (_, at) => ({
  loadHeader: { loadNbr: `L${at}` },
  stops: [{ stopNbr: `S${at}-1` }, { stopNbr: `S${at}-2` }],
}));

// An import is taken by one commit; groups of its loads follow.
const deaths = [
  "unit@import-loads.acceptStandard:2",
  "commit@import-loads.acceptStandard:2",
  "unit@decide-load.decideLoad:9",
  "commit@decide-load.decideLoad:1",
  "unit@decide-load.decideLoad:22",
];

test.each(sampled(deaths, 2))("killed at %s, an import goes on where it was", async (point) => {
  site = await Site.make({ inbound: oneParser });
  const run = await site.start({ env: { DROPGATE_KILL_POINT: point } });
  const answered: (HttpReply | undefined)[] = [];
  for (let attempt = 0; attempt < 3 && run.exitCode === undefined; attempt += 1) {
    const body = { companyCode: company, loads };
    answered.push(await post(site, "/v5/load/update/default", body).catch(() => undefined));
  }
  expect(await run.exit).toBe(137);
  await site.start();
  const ids = answered
    .filter((reply) => reply !== undefined)
    .map((reply) => (JSON.parse(reply.body) as { importId: string }).importId);
  for (const importId of ids)
    expect(await importFinished(site, importId)).toMatchObject({ status: "Success" });
  expect(ids.length).toBeGreaterThan(0);
  for (const at of [0, 7, 8, 20, 39]) {
    const events = await eventCodes(site, `loadNbr=L${at}`);
    // Each import that was answered, and perhaps one whose answer was lost, is there once.
    expect(events.slice(0, 3)).toEqual([7000, 7028, 7028]);
    expect(events.slice(3).every((code) => code === 7024)).toBe(true);
    expect(events.length - 3).toBeGreaterThanOrEqual(ids.length - 1);
    expect(events.length - 3).toBeLessThanOrEqual(answered.length - 1);
  }
});
