/**
 * Makes the exports that are due, each minute. The store keeps when that is; the trigger only asks. Where several nodes share
 * a database, each makes those of the companies that it has.
 */
import type { Clock } from "../lib/clock.ts";
import { lookEachMinute } from "../lib/every-minute.ts";
import { shareRuns } from "../lib/files/shared-run.ts";
import { isoOrNull } from "../lib/iso-time.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Service } from "../lib/service.ts";
import { type CompanyWork, type Ownership, soleOwnership } from "../store/cluster/ownership.ts";
import { TakenCompanies } from "../lib/taken-companies.ts";
import type { Store } from "../store/database/database.ts";
import { type ExportPlan, type MadeExport, runDueExports } from "./export-runs.ts";

export interface ExportSchedulerDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
  /** All exports of the configuration in force. */
  readonly plans: () => Promise<readonly ExportPlan[]>;
  /** Done each time besides. */
  readonly tidy?: () => Promise<void>;
  /** Calls `look` each minute until it is stopped; by default a task of node-cron. */
  readonly trigger?: (look: () => void) => { stop(): void };
  /** Without it this process makes the exports of all companies. */
  readonly ownership?: Pick<Ownership, "isSole">;
}

export interface ExportScheduler extends Service, CompanyWork {
  /** Resolves when everything that is due now has been made. Never rejects. */
  look(): Promise<void>;
}

function logMade(log: Logger, { made, deliveryId, deliveryName, count }: MadeExport): void {
  const { companyCode: company, name, sequenceNbr } = made;
  const dueAt = isoOrNull(made.dueAt);
  log.info(
    { company, export: name, sequenceNbr, stops: count, name: deliveryName, deliveryId, dueAt },
    "export made",
  );
}

/** Makes exports when they are due, those that were missed at the start. */
export function createExportScheduler(deps: ExportSchedulerDeps): ExportScheduler {
  const { log, trigger, ownership = soleOwnership } = deps;
  const companies = new TakenCompanies(ownership);

  async function lookOnce(): Promise<void> {
    try {
      for (const made of await runDueExports({ ...deps, companies }, await deps.plans())) logMade(log, made);
      await deps.tidy?.();
    } catch (error) {
      log.error({ err: error }, "the exports that are due cannot be read; retrying in a minute");
    }
  }

  const looks = lookEachMinute("exports", lookOnce, trigger);
  // Companies come together: one look is for all of them.
  const lookSoon = shareRuns(looks.look);
  return {
    name: "exports",
    look: looks.look,
    async start() {
      await looks.look();
      looks.begin();
    },
    async take({ companyId }) {
      companies.take(companyId);
      // What was missed. Not waited for: it may be much.
      void lookSoon();
    },
    async leave({ companyId }) {
      companies.leave(companyId);
      await looks.idle();
    },
    stop: looks.end,
  };
}
