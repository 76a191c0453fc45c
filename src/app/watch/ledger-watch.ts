/**
 * Verifies the ledger once a day while the daemon runs, so that a discrepancy is found before somebody asks for the
 * file.
 */
import { unlessStoreFault } from "../../lib/store-error.ts";
import type { Config } from "../../config/schema.ts";
import { verifyLedger } from "../../inbound/recovery/ledger-verify.ts";
import type { VerifyDependencies } from "../../inbound/recovery/verify-options.ts";
import { noteLastVerification } from "../../store/database/last-verification.ts";
import type { Store } from "../../store/database/database.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { type Rounds, startRounds } from "../../lib/rounds.ts";
import { dayMs, hourMs } from "../../lib/durations.ts";

const firstAfterMs = hourMs;
const intervalMs = dayMs;

const arrivalMarginMs = 5_000;

/** How long files may lie in `inbound/` of a running daemon, whole or not, before they count as left behind. */
export function verifyGracesOf({
  inbound,
}: Pick<Config, "inbound">): Pick<VerifyDependencies, "arrivalGraceMs" | "stayGraceMs"> {
  const arrivalGraceMs = inbound.settleMs + inbound.scanMs + arrivalMarginMs;
  return { arrivalGraceMs, stayGraceMs: inbound.incompleteGraceMs + arrivalGraceMs };
}

export interface LedgerWatchDeps extends VerifyDependencies {
  readonly store: Pick<Store, "read" | "asOfNow" | "write">;
  readonly log: Logger;
  /** Whether this node does what concerns no company. Default: it does. */
  readonly isOurs?: () => boolean;
}

/** Starts the watch; the first verification runs an hour after the start, when the backlog is done. */
export function startLedgerWatch(deps: LedgerWatchDeps): Rounds {
  const { isOurs = () => true } = deps;

  async function verify(signal: AbortSignal): Promise<void> {
    if (!isOurs()) return;
    try {
      const report = await verifyLedger(deps, { signal });
      const found = report.discrepancyCount;
      const first = report.discrepancies.slice(0, 5);
      if (found > 0) deps.log.error({ discrepancies: found, first }, "the ledger and the files disagree");
      else deps.log.info({ entries: report.entries, unproved: report.unproved }, "the ledger was verified");
      await noteLastVerification(deps.store, { at: deps.clock.now(), discrepancies: found }).catch(
        unlessStoreFault,
      );
    } catch (error) {
      if (!signal.aborted) deps.log.error({ err: error }, "the ledger could not be verified");
    }
  }

  return startRounds(verify, { everyMs: intervalMs, firstAfterMs });
}
