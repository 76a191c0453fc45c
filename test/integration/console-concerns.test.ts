/** What page 1 says of targets and remotes that fail, from their rows in a real store. */
import { expect, test } from "vitest";
import { queryStandings } from "../../src/app/console/queries/standings.ts";
import type { Config } from "../../src/config/schema.ts";
import type { ConsoleServices } from "../../src/endpoints/http/console/console-services.ts";
import { addresses } from "../../src/endpoints/http/console/kit/link.ts";
import { concernsOf, verdict } from "../../src/endpoints/http/console/pages/today/concerns.ts";
import { createSealedNumbers, newSealingKey } from "../../src/lib/sealed-numbers.ts";
import { dayMs, hourMs, minuteMs } from "../../src/lib/durations.ts";
import { addFileRates } from "../../src/store/ledger/file-rates.ts";
import { saveRemoteRounds } from "../../src/store/ledger/remote-states.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { insertIncident } from "../../src/store/alerts/incidents.ts";
import { listOutboundTargets, saveTargetPause } from "../../src/store/outbound/outbound-targets.ts";
import { DeliverySite } from "../support/delivery-site.ts";

const to = addresses({ basePath: () => "" } as ConsoleServices);
const ledgerNumbers = createSealedNumbers(newSealingKey(), "ledger");
const told = { to: ["ops@example.com"], email: { host: "smtp.example.com" } };
const remotes = { companies: { ACME: { remotes: { partner: {} } } } };

async function stored(site: DeliverySite, config: object) {
  const { companyId, now } = site;
  const found = await queryStandings(
    {
      ...{ read: site.store.read, stateDir: "/nowhere", ledgerNumbers, now, timeLeftMs: () => 2_000 },
      config: { companies: {}, ...config } as Config,
    },
    { companies: [{ id: companyId, code: "ACME" }], isOperator: true },
    {},
  );
  const [company] = found.companies;
  if (company === undefined) throw new Error("the company has no standing");
  return company;
}

async function sentences(site: DeliverySite, config: object = remotes): Promise<string> {
  const standing = await stored(site, config);
  const rest = { waiting: 0, oldestAgeMs: 0, halt: undefined, late: [], uncollected: undefined };
  return String(verdict(1, concernsOf({ ...standing, ...rest }, to)));
}

async function failTarget(site: DeliverySite, failures: number): Promise<void> {
  const [target] = await listOutboundTargets(site.store.read);
  const pause = { id: target?.id ?? 0, failures, pausedUntil: site.now + 60_000 };
  await site.store.write("site", (tx) => saveTargetPause(tx, pause));
}

async function failRemote(site: DeliverySite, failures: number): Promise<void> {
  const rounds = { polledAt: site.now, succeededAt: null, pausedUntil: 0, answeredAskedAt: 0 };
  const fault = { fault: "unreachable" as const, faultText: "nobody answers" };
  await site.store.write("site", (tx) =>
    saveRemoteRounds(tx, { companyId: site.companyId, remote: "partner", failures, ...rounds, ...fault }),
  );
}

test("a target that fails again and again is told while something waits for it, with the way to it", async () => {
  const site = await DeliverySite.open();
  await failTarget(site, 5);
  expect(await sentences(site)).toContain("All is well");
  await site.complete("4711");
  await failTarget(site, 2);
  expect(await sentences(site)).toContain("All is well");
  await failTarget(site, 3);
  const told = await sentences(site);
  expect(told).toContain("ACME: nothing goes out to host: it has failed 3 times in a row");
  expect(told).toContain('href="/console/deliveries?company=ACME&amp;target=host"');
});

test("a remote that fails again and again is told, until it is not in the configuration any more", async () => {
  const site = await DeliverySite.open();
  await failRemote(site, 2);
  expect(await sentences(site)).toContain("All is well");
  await failRemote(site, 8);
  const told = await sentences(site);
  expect(told).toContain("ACME: nothing is fetched from partner: it has failed 8 times in a row");
  expect(told).toContain("</a> (the partner&#39;s move)");
  expect(told).toContain('href="/console/remotes"');
  expect(await sentences(site, {})).toContain("All is well");
});

test("a company is watched for incidents only while somebody is to be told", async () => {
  const site = await DeliverySite.open();
  expect(await stored(site, {})).toMatchObject({ isWatched: false });
  expect(await stored(site, { alerts: { ...told, ofCompanies: true } })).toMatchObject({ isWatched: true });
  expect(await stored(site, { alerts: { ...told, ofCompanies: false } })).toMatchObject({ isWatched: false });
});

async function openIncidents(site: DeliverySite, companyId: number, count: number): Promise<void> {
  const moments = { openedAt: site.now, seenAt: site.now, closedAt: null, reopened: 0 };
  const told = { count: 1, level: 1, summary: "host does not answer", remedy: "look at it", samples: [] };
  await site.store.write("site", async (tx) => {
    for (let cause = 0; cause < count; cause += 1)
      await insertIncident(tx, {
        ...{ companyId, kind: "pausedTarget", cause: `target ${cause}` },
        ...{ ...moments, ...told },
      });
  });
}

test("a flood of incidents in one company does not hide that of another", async () => {
  const site = await DeliverySite.open();
  const flood = { code: "FLOOD", createdAt: site.now };
  const { company: other } = await site.store.write("site", (tx) => insertCompany(tx, flood));
  await openIncidents(site, other.id, 600);
  await openIncidents(site, site.companyId, 1);
  expect((await stored(site, {})).incidents).toHaveLength(1);
});

test("today is compared with what had been decided by the same time a week ago", async () => {
  const site = await DeliverySite.open();
  const { companyId, now } = site;
  expect(await stored(site, {})).toMatchObject({ weekBeforeByNow: undefined });
  const begin = now - (now % dayMs) - 7 * dayMs;
  const passed = Math.floor((now % dayMs) / hourMs);
  const hours = [-1, 0, passed - 1, passed, passed + 1];
  const rates = hours.map((hour) => ({
    ...{ companyId, at: begin + hour * hourMs, applied: 100, refused: 10, others: 1, delays: new Map() },
  }));
  await site.store.write("site", (tx) => addFileRates(tx, rates, now));
  expect(await stored(site, {})).toMatchObject({ weekBeforeByNow: { applied: 200, refused: 20 } });
  site.now += 31 * minuteMs;
  expect(await stored(site, {})).toMatchObject({ weekBeforeByNow: { applied: 250, refused: 25 } });
});
