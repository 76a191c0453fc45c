import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noAppointments } from "../../domain/appointments/appointment-region.ts";
import { weekdays } from "../../domain/time/weekday.ts";
import { appointmentSettingsOf } from "../company-settings.ts";
import { formatConfigFaults } from "../reader/config-fault.ts";
import { loadConfig } from "../load-config.ts";
import { reloadDifference, reloadedConfig } from "../reload.ts";
import type { Config } from "../schema.ts";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "dropgate-appointments-"));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** JSON is YAML; each setting on a line of its own. */
async function load(appointments: unknown) {
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ companies: { ACME: { appointments } } }));
  return await loadConfig({ path, env: {}, cwd: folder });
}

async function loaded(appointments: unknown): Promise<Config> {
  const outcome = await load(appointments);
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}

const window = { from: "08:00", to: "12:00", capacity: { appointments: 2 } };
const region = { name: "North", zone: "Europe/Berlin", windows: [window] };

describe("the appointments of a company", () => {
  test("have a default for all but name, zone and windows", async () => {
    const config = await loaded({ regions: [region] });
    expect(appointmentSettingsOf(config, "acme")).toEqual({
      ...{ holdMinutes: 30, horizonDays: 14, leadMinutes: 0, closedDays: [] },
      regions: [
        {
          ...region,
          ...{ countries: [], zipPrefixes: [], partners: [], schedulingAttributes: [], weekdays },
        },
      ],
    });
  });

  test("are none for a company that the configuration does not name, or names without them", async () => {
    const config = await loaded({});
    expect(appointmentSettingsOf(config, "OTHER")).toBe(noAppointments);
    const { ACME: company } = config.companies;
    if (company === undefined) throw new Error("the company is not in the configuration");
    const { appointments: _none, ...without } = company;
    expect(appointmentSettingsOf({ companies: { ACME: without } }, "ACME")).toBe(noAppointments);
    expect(appointmentSettingsOf(config, "ACME")).toEqual(noAppointments);
  });

  test("take all that the specification names", async () => {
    const full = {
      ...{ holdMinutes: 5, horizonDays: 3, leadMinutes: 90, closedDays: ["2028-02-29"] },
      regions: [
        {
          ...{
            name: "Süd 1",
            zone: "America/Argentina/Buenos_Aires",
            countries: ["AR"],
            zipPrefixes: ["10"],
          },
          ...{ partners: ["P1"], schedulingAttributes: ["COLD"], weekdays: ["mon"] },
          windows: [
            {
              ...{ from: "00:00", to: "24:00" },
              capacity: { appointments: 1, quantity: 2, weight: 3, volume: 4, serviceMinutes: 0 },
            },
          ],
        },
      ],
    };
    expect(appointmentSettingsOf(await loaded(full), "ACME")).toEqual(full);
  });

  test("are taken over by a reload", async () => {
    const [before, after] = [await loaded({ regions: [region] }), await loaded({ holdMinutes: 3 })];
    expect(reloadDifference(before, after)).toEqual([
      { path: "companies.ACME.appointments.holdMinutes", needsRestart: false },
      { path: "companies.ACME.appointments.regions", needsRestart: false },
    ]);
    expect(appointmentSettingsOf(reloadedConfig(before, after), "ACME")).toMatchObject({
      holdMinutes: 3,
      regions: [],
    });
  });
});

const at = (place: string) => `companies.ACME.appointments.${place}`;
const withWindow = (change: object) => ({ regions: [{ ...region, windows: [{ ...window, ...change }] }] });

describe("a fault is", () => {
  test.each<[string, unknown, string, string]>([
    [
      "a zone that is none",
      { regions: [{ ...region, zone: "Europe/Berlino" }] },
      "regions[0].zone",
      "no IANA time zone",
    ],
    [
      "an abbreviation as zone",
      { regions: [{ ...region, zone: "CET" }] },
      "regions[0].zone",
      "no IANA time zone",
    ],
    [
      "a window that ends as it begins",
      withWindow({ to: "08:00" }),
      "regions[0].windows[0].to",
      "not later than from",
    ],
    [
      "a window over midnight",
      withWindow({ from: "22:00", to: "02:00" }),
      "regions[0].windows[0].to",
      "not later",
    ],
    ["a time that is none", withWindow({ from: "8:00" }), "regions[0].windows[0].from", "a time of day"],
    [
      "a time after the end of the day",
      withWindow({ to: "24:01" }),
      "regions[0].windows[0].to",
      "a time of day",
    ],
    ["no capacity", withWindow({ capacity: {} }), "regions[0].windows[0].capacity", "names no capacity"],
    [
      "half an appointment",
      withWindow({ capacity: { appointments: 0.5 } }),
      "regions[0].windows[0].capacity.appointments",
      "whole number",
    ],
    [
      "less than nothing",
      withWindow({ capacity: { weight: -1 } }),
      "regions[0].windows[0].capacity.weight",
      "whole number",
    ],
    [
      "another region of the name",
      { regions: [region, { ...region, name: "NORTH" }] },
      "regions[1].name",
      "name of another region",
    ],
    [
      "another window with the same beginning",
      { regions: [{ ...region, windows: [window, { ...window, to: "10:00" }] }] },
      "regions[0].windows[1].from",
      "start of another window",
    ],
    ["a day that is none", { closedDays: ["2026-12-25", "2027-02-29"] }, "closedDays[1]", "no real date"],
    ["a day in another form", { closedDays: ["25.12.2026"] }, "closedDays[0]", "a date such as"],
    [
      "a weekday that is none",
      { regions: [{ ...region, weekdays: ["monday"] }] },
      "regions[0].weekdays[0]",
      "one of",
    ],
    [
      "a region without windows",
      { regions: [{ name: "A", zone: "UTC" }] },
      "regions[0]",
      "`windows` is missing",
    ],
    ["a hold of no time", { holdMinutes: 0 }, "holdMinutes", "from 1 to 1440"],
  ])("%s", async (_, appointments, place, message) => {
    const outcome = await load(appointments);
    expect(outcome.kind === "faulty" ? outcome.faults : []).toMatchObject([
      { path: at(place), line: 1, message: expect.stringContaining(message) },
    ]);
  });
});
