/**
 * Whether the files that companies expect are there in time (docs/expected-arrivals.md). What it finds follows from the
 * configuration, the time and the ledger, so that nothing has to be kept over a restart. It asks the ledger only about
 * expectations whose deadline has passed, and no more about one that is met for good, until its next deadline.
 */
import { setImmediate } from "node:timers/promises";
import { type Companies, expectedArrivalsOf } from "../../config/company-settings.ts";
import type { ExpectedArrivalsConfig } from "../../config/schema.ts";
import {
  type ArrivalCount,
  arrivalWindowsAt,
  type CountArrivals,
  type CountedWindow,
  findLateArrivals,
} from "../../domain/files/expected-arrivals.ts";
import type { Clock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { type Company, listCompanies } from "../../store/accounts/companies.ts";
import type { Reader, Store } from "../../store/database/database.ts";
import { type ArrivalSelection, countArrivals, findEnoughAt } from "../../store/ledger/arrival-counts.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";

const usualEveryMs = 60_000;

/** An expectation of the configuration, and whose it is. */
export interface CompanyExpectation {
  readonly company: Company;
  readonly name: string;
  readonly expected: ExpectedArrivalsConfig;
}

/** How the ledger is asked for the files that count for an expectation. */
function filesOf(
  { company, expected }: CompanyExpectation,
  { beginsAt: since, endsAt: until }: Parameters<CountArrivals>[0],
): ArrivalSelection {
  const { atLeast, functions, name, channel, user: userName } = expected;
  return { companyId: company.id, since, functions, atLeast, ...given({ until, name, channel, userName }) };
}

/** Counts all files of an expectation. */
export async function countAllArrivals(
  read: Reader,
  expectation: CompanyExpectation,
  window: Parameters<CountArrivals>[0],
): Promise<ArrivalCount> {
  const files = filesOf(expectation, window);
  const enoughAt = await findEnoughAt(read, files);
  return { count: await countArrivals(read, files), ...given({ enoughAt }) };
}

/** An expectation that is late. */
export interface LateArrivals extends CompanyExpectation {
  readonly window: CountedWindow;
}

/** Until when an expectation cannot become late, as it was found at some time. */
interface Quiet extends Pick<CompanyExpectation, "expected"> {
  readonly from: number;
  readonly until: number;
}

export interface ArrivalWatchDeps {
  readonly store: Pick<Store, "read">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: () => Companies;
  /** Whether this node does the work of the company. Default: it does that of all. */
  readonly isOurs?: (companyId: number) => boolean;
  /** A minute unless given. */
  readonly everyMs?: number;
}

/** Watches from its making on. */
export class ArrivalWatch {
  readonly #deps: ArrivalWatchDeps;
  readonly #rounds: Rounds;
  readonly #quiet = new Map<string, Quiet>();
  #late: readonly LateArrivals[] = [];

  constructor(deps: ArrivalWatchDeps) {
    this.#deps = deps;
    const tryTo = loggingFirstFailure(deps.log, "expected arrivals cannot be counted; retrying");
    const everyMs = deps.everyMs ?? usualEveryMs;
    this.#rounds = startRounds((stopping) => tryTo(() => this.#lookOnce(stopping)), { everyMs });
  }

  /** The expectations that were late at the last look. */
  late(): readonly LateArrivals[] {
    return this.#late;
  }

  /** Looks now. */
  look(): Promise<void> {
    return this.#rounds.run();
  }

  /** The expectations of a company that are late at that moment. */
  async lateOf(company: Company, now: number): Promise<readonly LateArrivals[]> {
    const late: LateArrivals[] = [];
    for (const [name, expected] of expectedArrivalsOf(this.#deps.config(), company.code)) {
      const expectation = { company, name, expected };
      const window = await this.#lateWindow(expectation, now);
      if (window !== undefined) late.push({ ...expectation, window });
    }
    return late;
  }

  stop(): Promise<void> {
    return this.#rounds.stop();
  }

  async #lookOnce(stopping: AbortSignal): Promise<void> {
    const { store, clock, isOurs = () => true } = this.#deps;
    const now = clock.now();
    const late: LateArrivals[] = [];
    for (const company of await listCompanies(store.read)) {
      if (stopping.aborted) return;
      if (!isOurs(company.id)) continue;
      late.push(...(await this.lateOf(company, now)));
    }
    this.#late = late;
  }

  async #lateWindow(expectation: CompanyExpectation, now: number): Promise<CountedWindow | undefined> {
    const { company, name, expected } = expectation;
    const key = `${company.id} ${name}`;
    const quiet = this.#quiet.get(key);
    if (quiet?.expected === expected && now >= quiet.from && now < quiet.until) return undefined;
    const windows = arrivalWindowsAt(expected, now, company.createdAt);
    let isSettled = windows.last === undefined;
    const late = await findLateArrivals(windows, now, async (window) => {
      // Hundreds of expectations may have one deadline: files are not kept waiting by them.
      await setImmediate();
      const found = await this.#countUpToEnough(filesOf(expectation, window));
      isSettled ||= found.isSettled;
      return found;
    });
    const until = windows.next?.dueAt ?? Number.POSITIVE_INFINITY;
    if (late === undefined && isSettled) this.#quiet.set(key, { expected, from: now, until });
    return late;
  }

  /** Settled: so many are applied that it cannot change any more, other than by files that wait and are refused. */
  async #countUpToEnough(files: ArrivalSelection): Promise<ArrivalCount & { readonly isSettled: boolean }> {
    const { read } = this.#deps.store;
    const enoughAt = await findEnoughAt(read, files);
    if (enoughAt === undefined) return { count: await countArrivals(read, files), isSettled: false };
    const applied = await findEnoughAt(read, { ...files, states: ["applied"] });
    return { count: files.atLeast, enoughAt, isSettled: applied !== undefined };
  }
}
