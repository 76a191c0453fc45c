/** Which incidents, and which deliveries of alerts, commands list. */
import { describe, expect, test } from "vitest";
import { countIncidents, listIncidents } from "../../src/app/admin/alert-admin.ts";
import { listDeliveries } from "../../src/app/admin/outbound-admin.ts";
import { operatorId } from "../../src/domain/alerts/audience.ts";
import { insertIncident, listClosedIncidents } from "../../src/store/alerts/incidents.ts";
import { AlertSite, finding } from "../support/alert-site.ts";

/** A site with one closed incident of ACME, and that incident without its number. */
async function siteWithClosed() {
  const site = await AlertSite.open();
  site.find([finding()]);
  await site.look();
  site.find([]);
  await site.pass(20);
  const [own] = await listClosedIncidents(site.store.read, { since: 0, limit: 9 });
  const { id, ...incident } = own ?? expect.fail("there is no closed incident");
  return { site, id, incident };
}

test("closed incidents of a company are listed however many of others are newer", async () => {
  const { site, id, incident } = await siteWithClosed();
  await site.store.write("site", (tx) =>
    insertIncident(tx, { ...incident, companyId: operatorId, closedAt: (incident.closedAt ?? 0) + 1 }),
  );
  const ofCompany = { since: 0, companyId: incident.companyId, limit: 1 };
  expect(await listClosedIncidents(site.store.read, ofCompany)).toMatchObject([{ id }]);
});

describe("a long list of incidents", () => {
  test("goes on page by page, each incident once, open ones before the first page, and is counted", async () => {
    const { site, incident } = await siteWithClosed();
    await site.store.write("site", async (tx) => {
      // Several were closed at one moment.
      for (let index = 0; index < 9; index += 1)
        await insertIncident(tx, { ...incident, closedAt: (incident.closedAt ?? 0) + Math.floor(index / 3) });
    });
    site.find([finding({ cause: "tms" })], "deadLetters");
    await site.look();
    const config = { stateDir: site.stateDir };
    const all = { all: true } as const;
    const first = await listIncidents(config, all, { limit: 4 });
    expect(first.isCut).toBe(true);
    expect(first.items.map(({ closedAt }) => closedAt === null)).toEqual([true, false, false, false, false]);
    const seen = first.items.map(({ id }) => id);
    for (let isCut = true; isCut; ) {
      const page = await listIncidents(config, all, { limit: 4, before: seen.at(-1) ?? 0 });
      seen.push(...page.items.map(({ id }) => id));
      isCut = page.isCut;
    }
    expect(seen).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    expect([await countIncidents(config, all), await countIncidents(config, {})]).toEqual([11, 1]);
    const open = await listIncidents(config, {}, { limit: 1 });
    expect([open.items.map(({ id }) => id), open.isCut]).toEqual([[11], false]);
  });

  test("has no page behind what is not closed, and says so", async () => {
    const { site } = await siteWithClosed();
    site.find([finding({ cause: "tms" })], "deadLetters");
    await site.look();
    const behind = (before: number) =>
      listIncidents({ stateDir: site.stateDir }, { all: true }, { limit: 4, before });
    await expect(behind(2)).rejects.toThrow("--before: the incident 2 is open; give the last number");
    await expect(behind(7)).rejects.toThrow("--before: there is no incident 7; give");
    await expect(listIncidents({ stateDir: site.stateDir }, {}, { limit: 4, before: 1 })).rejects.toThrow(
      "--before is for closed incidents: give --all too",
    );
  });
});

test("deliveries of alerts are listed by their channel", async () => {
  const site = await AlertSite.open({}, { alerts: { to: ["orders@acme.example"] } });
  const https = { url: site.web.url, allowPlain: true };
  await site.configure({ https }, { alerts: { to: ["orders@acme.example"] } });
  site.find([finding()]);
  await site.look();
  const listed = async (channel: string) => {
    const { items } = await listDeliveries(
      { ...site.config, stateDir: site.stateDir },
      { channel },
      { limit: 9 },
    );
    return items.map((one) => `${one.company} ${one.target} ${one.receiver}`).toSorted();
  };
  expect(await listed("email")).toEqual([
    "(operator) alerts.email ops@example.com",
    "ACME alerts.email orders@acme.example",
  ]);
  expect(await listed("https")).toEqual(["(operator) alerts.https https"]);
  await site.configure({ email: undefined, to: [], https });
  expect(await listed("email")).toHaveLength(2);
  await expect(listed("sms")).rejects.toThrow(
    "there is no target of type sms; there is email, folder, https",
  );
});
