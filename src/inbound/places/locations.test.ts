import { relative, resolve } from "node:path";
import { expect, test } from "vitest";
import { createLocations } from "./locations.ts";

const stateDir = "/var/lib/dropgate";
const locations = createLocations(stateDir);

test.each([
  "/var/lib/dropgate/companies/ACME/inbound/a.xml",
  "/var/lib/dropgate/companies/ACME/inbound/.again/0123456789ab-a.xml",
  "/var/lib/dropgate/companies/ACME/inbound/..odd.xml",
  "/var/lib/dropgate/companies/../companies/ACME/a.xml",
  "/var/lib/dropgate//companies/ACME/a.xml",
])("%s is relative in the ledger, and found again", (path) => {
  expect(locations.toLedger(path)).toBe(relative(stateDir, path));
  expect(locations.fromLedger(locations.toLedger(path))).toBe(resolve(path));
});

test.each(["/srv/drop/a.xml", "/var/lib/dropgate2/a.xml", "/var/lib/a.xml"])(
  "%s is outside of the state directory and stays absolute",
  (path) => {
    expect(locations.toLedger(path)).toBe(path);
    expect(locations.fromLedger(path)).toBe(path);
  },
);

test.each(["var", "/var/lib/../lib/dropgate", "/"])(
  "a state directory given as %s gives the same places",
  (given) => {
    const other = createLocations(given);
    const path = resolve(given, "companies/ACME/inbound/a.xml");
    expect(other.toLedger(path)).toBe("companies/ACME/inbound/a.xml");
    expect(other.fromLedger("companies/ACME/inbound/a.xml")).toBe(path);
  },
);
