/** What waits longest, and why, from rows in a real store. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { QueryContext } from "../../src/app/console/query-context.ts";
import { queryWaiting } from "../../src/app/console/queries/waiting.ts";
import type { Config } from "../../src/config/schema.ts";
import { minuteMs } from "../../src/lib/durations.ts";
import { createSealedNumbers, newSealingKey } from "../../src/lib/sealed-numbers.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { listOutboundTargets, saveTargetPause } from "../../src/store/outbound/outbound-targets.ts";
import { DeliverySite } from "../support/delivery-site.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

interface Waiting {
  readonly companyId?: number;
  readonly name: string;
  readonly nameTime?: number;
  readonly at: number;
}

async function fileWaits(site: DeliverySite, { companyId, name, nameTime, at }: Waiting): Promise<void> {
  const counts = { records_created: 0, records_updated: 0, records_deleted: 0, is_filed: 0 };
  await site.store.write("site", async (tx) => {
    await tx
      .insertInto("files")
      .values({
        ...{ ...counts, company_id: companyId ?? site.companyId, name, name_time: nameTime ?? null, size: 1 },
        ...{
          channel: "sftp",
          received_at: at,
          state: "waiting",
          reasons: "[]",
          source: name,
          location: name,
        },
      })
      .execute();
  });
}

function contextOf(site: DeliverySite): QueryContext {
  return {
    ...{ read: site.store.read, stateDir: temporaryFolder(), now: site.now, timeLeftMs: () => 2_000 },
    ledgerNumbers: createSealedNumbers(newSealingKey(), "ledger"),
    config: { companies: {} } as Config,
  };
}

test("files of all companies come with the oldest first, page by page, each with why it waits", async () => {
  const site = await DeliverySite.open();
  const { company } = await site.store.write("site", (tx) => insertCompany(tx, { code: "B", createdAt: 1 }));
  const context = contextOf(site);
  const times = { first: 20261105080000, second: 20261105080100 };
  await fileWaits(site, { name: "second.xml", nameTime: times.second, at: site.now - 3 * minuteMs });
  await fileWaits(site, { name: "first.xml", nameTime: times.first, at: site.now - 2 * minuteMs });
  await fileWaits(site, { companyId: company.id, name: "b.xml", at: site.now - 4 * minuteMs });
  await fileWaits(site, { name: "held.xml", nameTime: times.second, at: site.now - minuteMs });
  const held = {
    ...{ company: "ACME", halt: undefined, keptBack: [] },
    files: [{ id: 4, name: "held.xml", reason: "unreadable", message: "EACCES", forMs: 60_000 }],
  };
  const report = { pid: process.pid, companies: [held], remotes: [], troubles: [] };
  writeFileSync(join(context.stateDir, "dropgate.held.json"), JSON.stringify(report));
  const companies = [
    { id: site.companyId, code: "ACME" },
    { id: company.id, code: "B" },
  ];
  const ask = (asked: object) =>
    queryWaiting(context, { companies, isOperator: false }, { limit: 3, ...asked });
  const { files, nextFiles } = await ask({});
  expect(files.map(({ name, company: code }) => [code, name])).toEqual([
    ["B", "b.xml"],
    ["ACME", "second.xml"],
    ["ACME", "first.xml"],
  ]);
  const [b, second, first] = files.map(({ why }) => why.join(" "));
  expect(b).toBe("No file with an earlier time waits before it.");
  expect(second).toMatch(
    /^1 file goes before it in order; the first of them is first\.xml \(entry [\w-]+\)\. 1 more have the same time\.$/,
  );
  expect(first).toBe("No file with an earlier time waits before it.");
  const rest = await ask({ filesAfter: nextFiles ?? "" });
  expect(rest.files.map(({ name }) => name)).toEqual(["held.xml"]);
  expect(rest.files[0]?.why.join(" ")).toMatch(/^It is held since .*EACCES.*What to do: give the user/);
  expect(rest.nextFiles).toBeNull();
  expect((await ask({ company: "b" })).files).toHaveLength(1);
  expect((await ask({ company: "NOBODY" })).files).toEqual([]);
});

test("deliveries come with the oldest first over all targets, with the pause or the rest of their target", async () => {
  const site = await DeliverySite.open();
  for (const stopNbr of ["4711", "4712", "4713"]) await site.complete(stopNbr);
  const [target] = await listOutboundTargets(site.store.read);
  const pausedUntil = site.now + minuteMs;
  await site.store.write("site", (tx) =>
    saveTargetPause(tx, { id: target?.id ?? 0, failures: 4, pausedUntil }),
  );
  const scope = { companies: [{ id: site.companyId, code: "ACME" }], isOperator: false };
  const context = contextOf(site);
  const { deliveries, nextDeliveries } = await queryWaiting(context, scope, { limit: 2 });
  expect(deliveries.map(({ orderKey, restsUntil }) => [orderKey, restsUntil])).toEqual([
    ["4711", pausedUntil],
    ["4712", pausedUntil],
  ]);
  const rest = await queryWaiting(context, scope, { limit: 2, deliveriesAfter: nextDeliveries ?? "" });
  expect(rest.deliveries.map(({ orderKey }) => orderKey)).toEqual(["4713"]);
  expect(rest.nextDeliveries).toBeNull();
  const stranger = { companies: [{ id: site.companyId + 7, code: "X" }], isOperator: false };
  expect((await queryWaiting(context, stranger, { limit: 2 })).deliveries).toEqual([]);
});
