/** Who watches the console live, with the rows as its pages show them. */
import type { ConsoleServices } from "../../../endpoints/http/console/console-services.ts";
import { addresses } from "../../../endpoints/http/console/kit/link.ts";
import { LiveHub } from "../../../endpoints/http/console/live/live-hub.ts";
import { ownStanding, verdictOf } from "../../../endpoints/http/console/pages/today/own-standing.ts";
import { companyRow, refusalRow } from "../../../endpoints/http/console/pages/today/today-rows.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import type { Parts } from "../../daemon/daemon-parts.ts";
import { createConsoleStanding } from "./console-standing.ts";

export type LiveParts = Pick<
  Parts,
  | "store"
  | "clock"
  | "log"
  | "config"
  | "pipeline"
  | "decisionWatches"
  | "intake"
  | "arrivalWatch"
  | "collectionWatch"
  | "certificates"
  | "health"
  | "ledgerNumbers"
>;

/** Listens for refusals from now on; asks nothing before somebody looks. */
export function createLive(parts: LiveParts, ask: ConsoleServices["ask"]): LiveHub {
  const { store, clock, log } = parts;
  const to = addresses({ basePath: () => parts.config.http.basePath });
  const source = createConsoleStanding({
    ...parts,
    companies: async () => (await listCompanies(store.read)).map(({ id, code }) => ({ id, code })),
    stored: (scope) => ask("standings", scope, {}),
  });
  return new LiveHub({
    ...{ source, clock, log },
    rows: {
      company: (standing) => companyRow(standing, to).text,
      refusal: (refusal) => refusalRow(refusal, to).text,
      verdict: (standing, sight) => verdictOf(ownStanding(standing, sight), to).text,
    },
  });
}
