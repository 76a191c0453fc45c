/**
 * How companies stand, and what is refused, for page 1 and all who watch it: what the parts of the daemon know, and one
 * question to the store a second, however many look.
 */
import type {
  CompanyStanding,
  DiskFilling,
  LiveSource,
  Refusal,
  RefusalGroup,
  RefusalKey,
  SiteStanding,
  Standing,
  StoredStanding,
  StoredStandings,
} from "../../../endpoints/http/console/live/standing.ts";
import type { JobState, ShownFinding } from "../../../endpoints/http/console/pages/health/health-view.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type { DecisionNews, DecisionWatches } from "../../../inbound/lanes/decision-watch.ts";
import type { Clock } from "../../../lib/clock.ts";
import { secondMs } from "../../../lib/durations.ts";
import { given } from "../../../lib/given.ts";
import { reasonCodeOf } from "../../../lib/errors.ts";
import type { SealedNumbers } from "../../../lib/sealed-numbers.ts";
import type { SignInProtocol } from "../../../sign-in/sign-in.ts";
import type { Intake } from "../../../exchange/uploads/intake.ts";
import type { Health } from "../../watch/health.ts";
import type { NodeStandings } from "../../watch/shown/node-standings.ts";

export interface StandingDeps {
  /** Of all nodes. */
  readonly standings: Pick<NodeStandings, "all">;
  readonly decisionWatches: DecisionWatches;
  readonly intake: Pick<Intake, "space">;
  readonly certificates: ReadonlyMap<SignInProtocol, number>;
  readonly health: Pick<Health, "current">;
  /** How the state grows, as it was measured last; undefined before that. */
  readonly growth: () => JobState<readonly ShownFinding[]>["last"];
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
  readonly clock: Clock;
  readonly companies: () => Promise<Scope["companies"]>;
  /** Asks the store, in the thread of the queries. */
  readonly stored: (scope: Scope) => Promise<StoredStandings>;
  /** Asks the store, as above. */
  readonly groups: (scope: Scope, keys: readonly RefusalKey[]) => Promise<readonly RefusalGroup[]>;
}

/** As long as an answer serves others. */
const freshMs = 900;
/** Longer texts of refusals are on the page of the file. */
const longestMessage = 300;
/** Below this an age is told as none: a file that comes is decided within it. */
const leastAgeMs = secondMs;

function shortened(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

/** Undefined for what was applied, or has been before. */
function refusalOf(
  { ledgerNumbers }: Pick<StandingDeps, "ledgerNumbers">,
  news: DecisionNews,
): Refusal | undefined {
  const [first] = news.faults;
  if (first === undefined || (news.state !== "refused" && news.state !== "superseded")) return undefined;
  const { companyId, companyCode, name, state, at } = news;
  return {
    ...{ companyId, companyCode, name, state, at },
    reference: ledgerNumbers.seal(news.fileId),
    code: first.code,
    reasonCode: reasonCodeOf(first.code),
    message: shortened(first.message),
  };
}

async function diskOf({ intake }: StandingDeps): Promise<SiteStanding["disk"]> {
  try {
    const { freeBytes, minFreeBytes } = await intake.space.room();
    return { freeBytes, minFreeBytes };
  } catch {
    // It does not say; the alerts tell that, and all else is shown.
    return undefined;
  }
}

function fillingOf({ growth }: Pick<StandingDeps, "growth">): SiteStanding["filling"] {
  const last = growth();
  return last?.result.flatMap(({ status, forecast }): readonly DiskFilling[] => {
    if (forecast === undefined) return [];
    const { folder, fullInDays } = forecast;
    return [{ folder, at: last.at, isSoon: status !== "ok", ...given({ fullInDays }) }];
  });
}

async function siteOf(deps: StandingDeps, { incidents }: StoredStandings): Promise<SiteStanding> {
  const { certificates, health } = deps;
  return {
    incidents,
    disk: await diskOf(deps),
    filling: fillingOf(deps),
    certificates: [...certificates].map(([endpoint, expiresAt]) => ({ endpoint, expiresAt })),
    troubles: health.current().messages,
  };
}

/** What the nodes know of each company; a node that has just got one is not the only one that still tells of it. */
function companyStandings(
  { standings, clock }: StandingDeps,
  stored: readonly StoredStanding[],
): ReadonlyMap<number, CompanyStanding> {
  const all = standings.all();
  const now = clock.now();
  const waiting = new Map(all.flatMap((node) => node.waiting).map((one) => [one.companyId, one]));
  const halts = new Map(all.flatMap((node) => Object.entries(node.halts)));
  const uncollected = new Map(all.flatMap((node) => Object.entries(node.uncollected)));
  const late = Map.groupBy(
    all.flatMap((node) => node.late),
    ({ companyId }) => companyId,
  );
  const entries = stored.map((company) => {
    const { companyId, companyCode } = company;
    const { count = 0, since = now } = waiting.get(companyId) ?? {};
    const oldestAgeMs = Math.max(0, now - since);
    const standing: CompanyStanding = {
      ...company,
      waiting: count,
      // Whole seconds: a row that differs by less is not sent anew.
      oldestAgeMs: oldestAgeMs < leastAgeMs ? 0 : oldestAgeMs - (oldestAgeMs % secondMs),
      halt: halts.get(companyCode),
      late: (late.get(companyId) ?? []).map(({ companyId: _id, ...expectation }) => expectation),
      uncollected: uncollected.get(companyCode),
    };
    return [companyId, standing] as const;
  });
  return new Map(entries);
}

/** Answers those who ask within the same second alike. */
export function createConsoleStanding(deps: StandingDeps): LiveSource {
  let asked: { readonly at: number; readonly answer: Promise<Standing> } | undefined;
  const ask = async (): Promise<Standing> => {
    const companies = await deps.companies();
    const stored = await deps.stored({ companies, isOperator: true });
    return {
      at: deps.clock.now(),
      companies: companyStandings(deps, stored.companies),
      site: await siteOf(deps, stored),
    };
  };
  return {
    standing() {
      const now = performance.now();
      if (asked !== undefined && now - asked.at < freshMs) return asked.answer;
      const answer = ask();
      asked = { at: now, answer };
      // The next one asks again.
      answer.catch(() => {
        asked = undefined;
      });
      return answer;
    },
    async refusalGroups(keys) {
      if (keys.length === 0) return [];
      const wanted = new Set(keys.map(({ companyId }) => companyId));
      const companies = (await deps.companies()).filter(({ id }) => wanted.has(id));
      return await deps.groups({ companies, isOperator: false }, keys);
    },
    onRefusal: (listener) =>
      deps.decisionWatches.add({
        decided(news) {
          const refusal = refusalOf(deps, news);
          if (refusal !== undefined) listener(refusal);
        },
      }),
  };
}
