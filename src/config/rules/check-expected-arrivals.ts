/** Rules of expected arrivals: zones and dates that are real, and remotes that are there. */
import { longestCountedDays } from "../../domain/files/expected-arrivals.ts";
import { isShorter } from "../../domain/retention/retention.ts";
import { normaliseDate } from "../../domain/time/local-time.ts";
import { agesOf } from "../company-settings.ts";
import type { Config } from "../schema.ts";
import { checkTimes, type RuleFault, when } from "./rule-fault.ts";

type Company = Config["companies"][string];

const ofRemote = "remote:";

function faultsOf({ expectedArrivals, remotes }: Company, path: string): RuleFault[] {
  return Object.entries(expectedArrivals).flatMap(([name, settings]) => {
    const own = `${path}.expectedArrivals.${name}`;
    const { zone, closedDays, weekdays, channel = "" } = settings;
    const remote = channel.startsWith(ofRemote) ? channel.slice(ofRemote.length) : undefined;
    return [
      ...checkTimes({ zone }, own),
      ...closedDays.flatMap((day, index) =>
        when(normaliseDate(day) !== day, {
          path: `${own}.closedDays[${index}]`,
          message: `is \`${day}\`, which is no real date; correct it`,
        }),
      ),
      ...when(weekdays.length === 0, {
        path: `${own}.weekdays`,
        message: "is empty, so that nothing is ever expected; name a day, or remove the expectation",
      }),
      ...when(remote !== undefined && !Object.hasOwn(remotes, remote), {
        path: `${own}.channel`,
        message: `names the remote ${remote}, which the company has not; name one of its remotes`,
      }),
    ];
  });
}

type RetentionConfig = Pick<Config, "companies" | "retention">;

/** Files that the ledger forgets before the next deadline would be told as late. */
function faultsOfLedger(config: RetentionConfig, code: string): RuleFault[] {
  const { expectedArrivals = {}, retention = {} } = config.companies[code] ?? {};
  const { ledger } = agesOf(config, code);
  const setting = Object.hasOwn(retention, "ledger")
    ? `companies.${code}.retention.ledger`
    : "retention.ledger";
  return Object.entries(expectedArrivals).flatMap(([name, expected]) => {
    const days = longestCountedDays(expected);
    const path = `companies.${code}.expectedArrivals.${name}`;
    return when(isShorter(ledger, days), {
      path: setting,
      otherPath: path,
      message: `is ${ledger}, and ${path} counts files for up to ${days} days, until its next deadline; lengthen it`,
    });
  });
}

/** What cannot work. */
export function checkExpectedArrivals(config: RetentionConfig): RuleFault[] {
  return Object.entries(config.companies).flatMap(([code, company]) => {
    const faults = faultsOf(company, `companies.${code}`);
    // Days can be counted only where days and zones are real.
    return faults.length > 0 ? faults : faultsOfLedger(config, code);
  });
}
