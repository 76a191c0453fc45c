/** Expected arrivals, as the command of an administrator lists them. */
import { expectedArrivalsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import {
  type ArrivalStanding,
  arrivalStanding,
  arrivalWindowsAt,
} from "../../domain/files/expected-arrivals.ts";
import { localTimeOf } from "../../domain/time/zoned-time.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { type CompanyExpectation, countAllArrivals } from "../watch/arrival-watch.ts";
import { chooseCompanies } from "./admin.ts";
import { type AdminStore, withAdminStore } from "./admin-store.ts";

/** Where an expectation stands, as commands show it; times are ISO, UTC. */
export interface ArrivalView {
  readonly company: string;
  readonly name: string;
  readonly standing: ArrivalStanding["kind"];
  readonly atLeast: number;
  /** Files that have arrived for it; null while nothing is counted. */
  readonly arrived: number | null;
  readonly from: string | null;
  readonly dueAt: string | null;
  /** When the one came with which they were enough. */
  readonly metAt: string | null;
  /** The next deadline. */
  readonly nextDueAt: string | null;
  readonly zone: string;
  /** In words, with local times of the zone. */
  readonly text: string;
}

/** A moment of the day on which an expectation is looked at by its time, of another day with its date. */
function localText(at: number, now: number, zone: string): string {
  const [local, today] = [localTimeOf(at, zone), localTimeOf(now, zone)];
  const time = local.slice(11, 16);
  return local.slice(0, 10) === today.slice(0, 10) ? time : `${local.slice(0, 10)} ${time}`;
}

function standingText(standing: ArrivalStanding, { atLeast, at }: WordsOf): string {
  switch (standing.kind) {
    case "met":
      return `met${standing.enoughAt < standing.dueAt ? "" : " late,"} at ${at(standing.enoughAt)}: ${standing.count} of ${atLeast}`;
    case "due":
      return `due until ${at(standing.dueAt)}: ${standing.count} of ${atLeast}`;
    case "late":
      return `late since ${at(standing.dueAt)}: ${standing.count} of ${atLeast}`;
    case "none":
      return "nothing expected now";
  }
}

interface WordsOf {
  readonly atLeast: number;
  readonly at: (moment: number) => string;
}

async function viewOf(
  { read }: Pick<AdminStore, "read">,
  expectation: CompanyExpectation,
  now: number,
): Promise<ArrivalView> {
  const { company, name, expected } = expectation;
  const { atLeast, zone } = expected;
  const windows = arrivalWindowsAt(expected, now, company.createdAt);
  const standing = await arrivalStanding(expected, windows, now, (window) =>
    countAllArrivals(read, expectation, window),
  );
  const counted = standing.kind === "none" ? undefined : standing;
  const iso = (at: number | undefined) => (at === undefined ? null : isoTime(at));
  return {
    ...{ company: company.code, name, standing: standing.kind, atLeast },
    arrived: counted?.count ?? null,
    from: iso(counted?.beginsAt),
    dueAt: iso(counted?.dueAt),
    metAt: iso(counted?.enoughAt),
    nextDueAt: iso(windows.next?.dueAt),
    zone,
    text: standingText(standing, { atLeast, at: (moment) => localText(moment, now, zone) }),
  };
}

/** The expectations of the configuration, of all companies or of one, and where each stands now. */
export async function listExpectedArrivals(
  config: Pick<Config, "stateDir" | "companies">,
  { company: code }: { readonly company?: string },
  now = systemClock.now(),
): Promise<readonly ArrivalView[]> {
  return await withAdminStore(config, async (store) => {
    const views: ArrivalView[] = [];
    for (const company of await chooseCompanies(store, code)) {
      for (const [name, expected] of expectedArrivalsOf(config, company.code))
        views.push(await viewOf(store, { company, name, expected }, now));
    }
    return views;
  });
}
