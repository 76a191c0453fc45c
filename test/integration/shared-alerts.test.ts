/** Incidents where several nodes watch: each sees to those of the companies that it has. */
import { expect, test } from "vitest";
import { listOpenIncidents } from "../../src/store/alerts/incidents.ts";
import { AlertSite, finding } from "../support/alert-site.ts";

test("incidents are opened and told by the node that has the company, and by no other one", async () => {
  const site = await AlertSite.open();
  site.isOurs = () => false;
  site.find([finding()]);
  await site.pass(2);
  expect([await listOpenIncidents(site.store.read), site.subjects]).toEqual([[], []]);
  site.isOurs = () => true;
  await site.pass(1);
  expect(await listOpenIncidents(site.store.read)).toHaveLength(1);
  expect(site.subjects).toEqual([expect.stringContaining("ACME: files were refused")]);
});
