/** Who watches the console live, with the rows as its pages show them. */
import type { ConsoleServices } from "../../../endpoints/http/console/console-services.ts";
import { addresses } from "../../../endpoints/http/console/kit/link.ts";
import { LiveHub } from "../../../endpoints/http/console/live/live-hub.ts";
import { ownStanding, verdictOf } from "../../../endpoints/http/console/pages/today/own-standing.ts";
import {
  companyRow,
  refusalGroupRow,
  refusalRow,
} from "../../../endpoints/http/console/pages/today/today-rows.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import type { Parts } from "../../daemon/daemon-parts.ts";
import { createConsoleStanding, type StandingDeps } from "./console-standing.ts";

export type LiveParts = Pick<
  Parts,
  | "store"
  | "clock"
  | "log"
  | "config"
  | "standings"
  | "decisionWatches"
  | "intake"
  | "certificates"
  | "health"
  | "ledgerNumbers"
>;

export interface LiveSurroundings {
  readonly ask: ConsoleServices["ask"];
  /** How the state grows, as it was measured last. */
  readonly growth: StandingDeps["growth"];
}

/** Listens for refusals from now on; asks nothing before somebody looks. */
export function createLive(parts: LiveParts, { ask, growth }: LiveSurroundings): LiveHub {
  const { store, clock, log } = parts;
  const to = addresses({ basePath: () => parts.config.http.basePath });
  const source = createConsoleStanding({
    ...parts,
    growth,
    companies: async () => (await listCompanies(store.read)).map(({ id, code }) => ({ id, code })),
    stored: (scope) => ask("standings", scope, {}),
    groups: (scope, keys) => ask("refusalGroups", scope, { keys }),
  });
  return new LiveHub({
    ...{ source, clock, log },
    rows: {
      company: (standing) => companyRow(standing, to).text,
      refusal: (refusal) => refusalRow(refusal, to).text,
      refusalGroup: (group, mayAct) => refusalGroupRow(group, { to, mayAct }).text,
      verdict: (standing, sight) => verdictOf(ownStanding(standing, sight), to).text,
    },
  });
}
