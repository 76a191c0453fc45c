/** Rules of a company's appointments that involve several settings. */
import { capacityNames } from "../../domain/appointments/appointment-capacity.ts";
import type { AppointmentRegion, AppointmentWindow } from "../../domain/appointments/appointment-region.ts";
import { normaliseDate } from "../../domain/time/local-time.ts";
import type { Config } from "../schema.ts";
import { isRegionalZone, ofEachCompany, type RuleFault } from "./rule-fault.ts";

function faultsOfWindow(window: AppointmentWindow, path: string): RuleFault[] {
  const { from, to, capacity } = window;
  const faults: RuleFault[] = [];
  if (from >= to) faults.push({ path: `${path}.to`, message: `is ${to}, not later than from (${from})` });
  if (capacityNames.every((name) => capacity[name] === undefined)) {
    const message = `names no capacity; set at least one of ${capacityNames.join(", ")}`;
    faults.push({ path: `${path}.capacity`, message });
  }
  return faults;
}

function repeated(values: readonly string[]): readonly number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []));
}

function faultsOfRegion(region: AppointmentRegion, path: string): RuleFault[] {
  const { zone, windows } = region;
  const faults = windows.flatMap((window, index) => faultsOfWindow(window, `${path}.windows[${index}]`));
  if (!isRegionalZone(zone))
    faults.push({
      path: `${path}.zone`,
      message: `is \`${zone}\`, which is no IANA time zone; take one such as Europe/Berlin`,
    });
  for (const index of repeated(windows.map(({ from }) => from)))
    faults.push({
      path: `${path}.windows[${index}].from`,
      message: "is the start of another window too; each window needs a start of its own",
    });
  return faults;
}

/** Zones, times, dates and names of the regions of all companies. */
export function checkAppointments(config: Config): RuleFault[] {
  return ofEachCompany(config, "appointments", ({ regions, closedDays }, path) => {
    const unreal = closedDays.flatMap((day, index) => (normaliseDate(day) === day ? [] : [index]));
    const names = regions.map(({ name }) => name.toLowerCase());
    return [
      ...unreal.map((index) => ({ path: `${path}.closedDays[${index}]`, message: "is no real date" })),
      ...repeated(names).map((index) => ({
        path: `${path}.regions[${index}].name`,
        message: "is the name of another region too (case does not count); give each its own",
      })),
      ...regions.flatMap((region, index) => faultsOfRegion(region, `${path}.regions[${index}]`)),
    ];
  });
}
