/** Retention of a running daemon: each pass looks at the clock, and removes what is too old when the clock is right. */
import { type RetentionKind, retentionKinds } from "../../domain/retention/retention.ts";
import type { Clock } from "../../lib/clock.ts";
import { createBackupHold, heldUpText } from "./backup-hold.ts";
import { type ClockLook, jumpText, lookAtClock, misdatedText } from "./clock-guard.ts";
import type { Misdated } from "../../store/database/prune-clock.ts";
import { withPruneLock } from "./prune-lock.ts";
import type { PruneDeps } from "./pruner.ts";
import { type KindAmount, pruneOld, type RetentionConfig } from "./run-retention.ts";

export interface RetentionDeps extends Omit<PruneDeps, "now" | "moveTo" | "isHeldUp"> {
  readonly clock: Clock;
  readonly config: () => RetentionConfig;
  /** Aborts when the time of a kind that begins now is up. */
  readonly timeUp?: () => AbortSignal;
}

/** All kinds together stay below the quarter of an hour that is between two looks at the clock. */
const kindMs = 60_000;
const afterKindMs = () => AbortSignal.timeout(kindMs);

export interface RetentionFigures {
  /** Since the start. */
  readonly pruned: ReadonlyMap<RetentionKind, number>;
  /** Because the clock has jumped. */
  readonly isPaused: boolean;
}

export interface Retention {
  readonly figures: RetentionFigures;
  /** The clock, when it is right; undefined while nothing may be removed by its age. */
  look(): Promise<number | undefined>;
  /**
   * One pass; false when something is left to do soon: a kind has failed, its time was up, another process is at it, or files
   * had to stay because a backup is being made.
   * Rejects when aborted; what was removed by then stays removed.
   */
  prune(now: number, signal: AbortSignal): Promise<boolean>;
}

/** Count of each kind, of all companies, for the log. */
export function countsByKind(amounts: readonly KindAmount[]): Partial<Record<RetentionKind, number>> {
  const counts: Partial<Record<RetentionKind, number>> = {};
  for (const { kind, count } of amounts) counts[kind] = (counts[kind] ?? 0) + count;
  return counts;
}

function misdatedOf(look: ClockLook | undefined): Misdated | undefined {
  return look?.kind === "right" ? look.misdated : undefined;
}

export function createRetention({ clock, config, timeUp = afterKindMs, ...deps }: RetentionDeps): Retention {
  const { store, log } = deps;
  const pruned = new Map<RetentionKind, number>(retentionKinds.map((kind) => [kind, 0]));
  let last: ClockLook | undefined;

  function tell(look: ClockLook): void {
    if (look.kind === "jumped" && last?.kind !== "jumped") log.warn(jumpText(look));
    if (look.kind === "right" && last?.kind === "jumped")
      log.info("the clock is right again: retention goes on");
    const [misdated, before] = [misdatedOf(look), misdatedOf(last)];
    if (misdated !== undefined && (misdated.from !== before?.from || misdated.until !== before?.until))
      log.warn(misdatedText(misdated));
  }

  /** One pass of the process that has the lock. */
  async function pass(now: number, signal: AbortSignal): Promise<boolean> {
    const { moveTo } = config().retention;
    const hold = createBackupHold(deps.locations.stateDir);
    const { isHeldUp } = hold;
    let isDone = true;
    const unfinished = (kind: RetentionKind, error: unknown) => {
      isDone = false;
      if (error === undefined)
        log.info({ kind }, "there is more that is too old: it goes on in the next round");
      else log.error({ kind, err: error }, "what is too old cannot be removed; trying again later");
    };
    const wanted = { config: config(), misdated: misdatedOf(last), beside: { timeUp, unfinished } };
    const amounts = await pruneOld({ ...deps, now, moveTo, isHeldUp }, wanted, signal);
    for (const { kind, count } of amounts) pruned.set(kind, (pruned.get(kind) ?? 0) + count);
    const bytes = amounts.reduce((sum, amount) => sum + amount.bytes, 0);
    if (amounts.length > 0)
      log.info({ pruned: countsByKind(amounts), bytes }, "what was too old was removed");
    const heldUp = await heldUpText(store.read, hold);
    if (heldUp !== undefined)
      log.info({ kinds: [...hold.kinds] }, `${heldUp}; they go in a round after that`);
    return isDone && heldUp === undefined;
  }

  return {
    figures: {
      pruned,
      get isPaused() {
        return last?.kind === "jumped";
      },
    },
    async look() {
      const look = await lookAtClock({ store, clock });
      tell(look);
      last = look;
      return look.kind === "right" ? look.now : undefined;
    },
    prune: (now, signal) =>
      withPruneLock(
        deps.locations.stateDir,
        () => pass(now, signal),
        ({ message }) => {
          log.info({ reason: message }, "what is too old is removed in the next round");
          return false;
        },
      ),
  };
}
