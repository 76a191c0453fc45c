/** What a viewer sees of how companies stand, and the one sentence about it. */
import type { Html } from "../../kit/html.ts";
import type { Addresses } from "../../kit/link.ts";
import type { Sight } from "../../live/live-events.ts";
import type { CompanyStanding, SiteStanding, Standing } from "../../live/standing.ts";
import { concernsOf, concernsOfSite, verdict } from "./concerns.ts";

export interface OwnStanding {
  readonly companies: readonly CompanyStanding[];
  /** Undefined for who is no operator. */
  readonly site: SiteStanding | undefined;
  /** Milliseconds UTC. */
  readonly at: number;
}

export function ownStanding(standing: Standing, { companyIds, isOperator }: Sight): OwnStanding {
  const companies = [...standing.companies.values()].filter(({ companyId }) => companyIds.has(companyId));
  return { companies, site: isOperator ? standing.site : undefined, at: standing.at };
}

export function verdictOf({ companies, site, at }: OwnStanding, to: Addresses): Html {
  const ofSite = site === undefined ? [] : concernsOfSite(site, at, to);
  return verdict(companies.length, [...ofSite, ...companies.flatMap((company) => concernsOf(company, to))]);
}
