/** Rules of expected arrivals: zones and dates that are real, and remotes that are there. */
import { normaliseDate } from "../../domain/time/local-time.ts";
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

/** What cannot work. */
export function checkExpectedArrivals({ companies }: Config): RuleFault[] {
  return Object.entries(companies).flatMap(([code, company]) => faultsOf(company, `companies.${code}`));
}
