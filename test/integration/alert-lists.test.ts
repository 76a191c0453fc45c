/** Which incidents are listed. */
import { expect, test } from "vitest";
import { operatorId } from "../../src/domain/alerts/audience.ts";
import { insertIncident, listClosedIncidents } from "../../src/store/alerts/incidents.ts";
import { AlertSite, finding } from "../support/alert-site.ts";

test("closed incidents of a company are listed however many of others are newer", async () => {
  const site = await AlertSite.open();
  site.find([finding()]);
  await site.look();
  site.find([]);
  await site.pass(20);
  const [own] = await listClosedIncidents(site.store.read, { since: 0, limit: 9 });
  const { id: _id, ...incident } = own ?? expect.fail("there is no closed incident");
  await site.store.write("site", (tx) =>
    insertIncident(tx, { ...incident, companyId: operatorId, closedAt: (incident.closedAt ?? 0) + 1 }),
  );
  const ofCompany = { since: 0, companyId: incident.companyId, limit: 1 };
  expect(await listClosedIncidents(site.store.read, ofCompany)).toMatchObject([{ id: own?.id }]);
});
