/** What the command `prune` does: tells what is too old, or removes it now. */
import type { Config } from "../../config/schema.ts";
import { isFileKind } from "../../inbound/pruning/pruning.ts";
import { ledgerNumberKind } from "../../inbound/receipts/receipts.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { messageOf } from "../../lib/errors.ts";
import { systemClock } from "../../lib/clock.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { createSealedNumbers } from "../../lib/sealed-numbers.ts";
import { sealingKeyOf } from "../../store/database/meta.ts";
import { findPruneClock } from "../../store/database/prune-clock.ts";
import { type BackupHold, createBackupHold, heldUpText } from "../retention/backup-hold.ts";
import { type ClockLook, confirmClock, judgeClock, jumpText, lookAtClock } from "../retention/clock-guard.ts";
import { considerateStore } from "../retention/considerate-store.ts";
import { withPruneLock } from "../retention/prune-lock.ts";
import type { PruneDeps } from "../retention/pruner.ts";
import { countOld, type KindAmount, type PassPart, pruneOld } from "../retention/run-retention.ts";
import { chooseCompany } from "./admin.ts";
import { type AdminStore, withAdminStore } from "./admin-store.ts";
import { areRunning, findRunningDaemons } from "./running-daemons.ts";

export interface PruneOptions {
  readonly company?: string;
  readonly dryRun?: true;
  readonly clockIsRight?: true;
}

/** What went, or would go; times are ISO, UTC. */
function toView({ kind, company, count, bytes, oldestAt, newestAt }: KindAmount) {
  const isoOrNone = (at: number | undefined) => (at === undefined ? null : isoTime(at));
  return { kind, company, count, bytes, oldestAt: isoOrNone(oldestAt), newestAt: isoOrNone(newestAt) };
}

export interface PruneReport {
  readonly isDryRun: boolean;
  /** Why nothing is removed; undefined when something may be. */
  readonly paused: string | undefined;
  readonly amounts: readonly ReturnType<typeof toView>[];
  /** Why old files stay at this moment, and until when; undefined when none have to. */
  readonly heldUp?: string | undefined;
  /** What could not be removed, or counted, and why; the rest was. */
  readonly failures: readonly PassFailure[];
}

export interface PassFailure extends PassPart {
  readonly message: string;
}

/** A dry run notes nothing. */
async function clockFor(store: AdminStore, { dryRun, clockIsRight }: PruneOptions): Promise<ClockLook> {
  const deps = { store, clock: systemClock };
  if (dryRun) return judgeClock(await findPruneClock(store.read), systemClock.now());
  if (clockIsRight) await confirmClock(deps);
  return await lookAtClock(deps);
}

/** Asks whether files that would go would have to stay. */
function askFor(amounts: readonly KindAmount[], { isHeldUp }: BackupHold): void {
  for (const { kind } of amounts) if (isFileKind(kind)) isHeldUp(kind);
}

/** Removes what is too old, or, with `dryRun`, tells what would go; nothing goes while the clock is not to be trusted. */
export async function pruneNow(config: Config, options: PruneOptions): Promise<PruneReport> {
  const { dryRun: isDryRun = false, clockIsRight = false } = options;
  return await withAdminStore(config, async (store) => {
    const company = (await chooseCompany(store, options.company))?.code;
    const look = await clockFor(store, options);
    const paused = look.kind === "jumped" && !clockIsRight ? jumpText(look) : undefined;
    if (paused !== undefined && !isDryRun) return { isDryRun, paused, amounts: [], failures: [] };
    const hold = createBackupHold(config.stateDir);
    const deps: PruneDeps = {
      store: areRunning(await findRunningDaemons(config, store)) ? considerateStore(store) : store,
      clock: systemClock,
      now: look.kind === "jumped" ? look.to : look.now,
      locations: createLocations(config.stateDir),
      ledgerNumbers: createSealedNumbers(await sealingKeyOf(store), ledgerNumberKind),
      // Standard output is for the report.
      log: createLogger({ level: "warn", destination: process.stderr }),
      moveTo: config.retention.moveTo,
      isHeldUp: hold.isHeldUp,
    };
    const going = new AbortController().signal;
    const misdated = look.kind === "right" ? look.misdated : undefined;
    const failures: PassFailure[] = [];
    const failed = (part: PassPart, error: unknown) =>
      void failures.push({ ...part, message: messageOf(error) });
    const pass = { config, company, misdated, failed };
    const amounts = isDryRun
      ? await countOld(deps, pass, going)
      : await withPruneLock({ stateDir: config.stateDir }, () => pruneOld(deps, pass, going));
    if (isDryRun) askFor(amounts, hold);
    const heldUp = await heldUpText(store.read, hold);
    return { isDryRun, paused, amounts: amounts.map(toView), heldUp, failures };
  });
}
