import { afterAll, beforeAll, expect, test } from "vitest";
import { http, sftp } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import { filedIn, receiptFor, stopFile, waitingIn, writeLocally } from "../support/stop-files.ts";

const clients = 50;
const filesEach = 5;

let site: Site;

beforeAll(async () => {
  site = await Site.make({ security: { bans: { allow: ["127.0.0.0/8"] } } });
  await site.start();
});
afterAll(() => site.end());

interface Report {
  readonly accounts: readonly Readonly<Record<string, unknown>>[];
  readonly discrepancies: readonly unknown[];
}

test("50 clients at once put 5 files each, and every file is applied exactly once", async () => {
  const plans = Array.from({ length: clients }, (_, client) =>
    Array.from({ length: filesEach }, (_unused, file) => stopFile(`M${client}-${file}`)),
  );
  await writeLocally(site, plans.flat());
  const results = await Promise.all(
    plans.map((files) =>
      sftp(
        site,
        files.map(({ name }) => `put ${name} inbound/${name}`),
      ),
    ),
  );
  for (const { exitCode, output } of results) expect(exitCode, output).toBe(0);
  for (const { name } of plans.flat())
    expect(await receiptFor(site, name)).toMatchObject({ status: 10, records: [1, 0, 0] });

  const total = clients * filesEach;
  expect(await filedIn(site, "archive")).toHaveLength(total);
  expect(await waitingIn(site)).toEqual([]);
  const stops = await http(site, `/api/stop/${company}?limit=1`);
  expect(stops.headers.get("x-total-count")).toBe(String(total));
  const report = await site.json<Report>("ledger", "verify");
  expect(report.discrepancies).toEqual([]);
  expect(report.accounts).toEqual([
    {
      company,
      received: total,
      applied: total,
      refused: 0,
      duplicate: 0,
      superseded: 0,
      waiting: 0,
      pruned: 0,
    },
  ]);
  const { peak } = await site.daemon.memoryMb();
  console.log(`50 clients: peak memory ${peak.toFixed(0)} MiB`);
  expect(peak).toBeLessThan(700);
});
