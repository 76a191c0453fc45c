/** Makes the exports that are due, each minute. The store keeps when that is; the trigger only asks. */
import type { Clock } from "../lib/clock.ts";
import { everyMinute } from "../lib/every-minute.ts";
import { isoOrNull } from "../lib/iso-time.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Service } from "../lib/service.ts";
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
}

export interface ExportScheduler extends Service {
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
  const { log, trigger = everyMinute("exports") } = deps;
  let task: { stop(): void } | undefined;
  let turn = Promise.resolve();

  async function lookOnce(): Promise<void> {
    try {
      for (const made of await runDueExports(deps, await deps.plans())) logMade(log, made);
      await deps.tidy?.();
    } catch (error) {
      log.error({ err: error }, "the exports that are due cannot be read; retrying in a minute");
    }
  }

  function look(): Promise<void> {
    turn = turn.then(lookOnce);
    return turn;
  }

  return {
    name: "exports",
    look,
    async start() {
      await look();
      task = trigger(() => void look());
    },
    async stop() {
      task?.stop();
      task = undefined;
      await turn;
    },
  };
}
