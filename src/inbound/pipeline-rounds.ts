/** What a pipeline does again and again from the end of its recovery on, until it stops. */
import type { LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import { type Rounds, startRounds } from "../lib/rounds.ts";
import type { SealedNumbers } from "../lib/sealed-numbers.ts";
import type { Ownership, TakenCompany } from "../store/cluster/ownership.ts";
import type { Store } from "../store/database/database.ts";
import type { EntriesInLine } from "./entries-in-line.ts";
import type { CompanyLanes } from "./lanes/company-lanes.ts";
import { logHeld } from "./lanes/held-files.ts";
import type { FilingThread } from "./places/filing-thread.ts";
import type { Locations } from "./places/locations.ts";
import type { AwaitedReceipts } from "./receipts/awaited-receipts.ts";
import { acceptRetries } from "./recovery/recovery.ts";
import { type OrphanedReceipts, orphanedLookMs } from "./recovery/orphaned-receipts.ts";
import { TakenNames, takenLookMs as usualTakenLookMs } from "./recovery/taken-names.ts";

export interface PipelineRoundsDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly locations: Locations;
  readonly ledgerNumbers: Pick<SealedNumbers, "seal" | "open">;
  readonly lanes: Pick<CompanyLanes, "all">;
  readonly entries: Pick<EntriesInLine, "retry">;
  readonly receipts: AwaitedReceipts;
  readonly takenLookMs?: number | undefined;
  readonly log: Logger;
  readonly failing: LimitedLog;
}

/** Of one company, where several nodes share the companies out. */
export interface PipelineRoundsScope {
  readonly company: TakenCompany;
  readonly ownership: Ownership;
  readonly filingThread: FilingThread;
}

const retryPollMs = 1_000;
const heldReportMs = 60_000;

/** `scope`: of the company that the pipeline has, where several nodes share the companies out. */
export function startPipelineRounds(
  deps: PipelineRoundsDeps,
  scope: PipelineRoundsScope | undefined,
  orphaned?: OrphanedReceipts,
): readonly Rounds[] {
  const held = startRounds(async () => logAllHeld(deps), { everyMs: heldReportMs });
  // Where nodes share the companies out, each asks for the retries of all of its own at once (`NodePipeline`).
  if (scope === undefined)
    return [held, startRounds((stopping) => takeRetries(deps, stopping), { everyMs: retryPollMs })];
  const { takenLookMs: everyMs = usualTakenLookMs } = deps;
  const taken = new TakenNames({ ...deps, ...scope });
  const rounds = [held, startRounds((stopping) => taken.look(stopping), { everyMs })];
  if (orphaned === undefined) return rounds;
  // Files that have waited come before receipts.
  const isBusy = deps.lanes.all.some(({ size }) => size > 0);
  const looks = { everyMs: orphanedLookMs, firstAfterMs: isBusy ? orphanedLookMs : 0 };
  return [...rounds, startRounds((stopping) => orphaned.look(stopping), looks)];
}

function logAllHeld({ lanes, log }: PipelineRoundsDeps): void {
  for (const runner of lanes.all) logHeld(log, runner.held());
}

async function takeRetries(deps: PipelineRoundsDeps, stopping: AbortSignal): Promise<void> {
  if (stopping.aborted) return;
  const { store, entries, failing } = deps;
  try {
    await acceptRetries(
      store,
      () => true,
      (entry) => entries.retry(entry),
    );
  } catch (error) {
    failing.warn({ err: error }, "files to be retried could not be read; retrying");
  }
}
