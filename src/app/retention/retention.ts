/** Retention of a running daemon: each pass looks at the clock, and removes what is too old when the clock is right. */
import { type RetentionKind, retentionKinds } from "../../domain/retention/retention.ts";
import { messageOf } from "../../lib/errors.ts";
import { FencedError } from "../../store/database/fence.ts";
import { createBackupHold, heldUpText } from "./backup-hold.ts";
import { type ClockLook, jumpText, lookAtClock, misdatedText } from "./clock-guard.ts";
import type { Misdated } from "../../store/database/prune-clock.ts";
import { withPruneLock } from "./prune-lock.ts";
import type { PruneDeps } from "./pruner.ts";
import { type KindAmount, pruneOld, type PassPart, type RetentionConfig } from "./run-retention.ts";

export interface RetentionDeps extends Omit<PruneDeps, "now" | "moveTo" | "isHeldUp" | keyof Kept> {
  readonly config: () => RetentionConfig;
  /** Whether other nodes prune beside this one, each for the companies that it has. */
  readonly isShared?: boolean;
  /** Aborts when the time of a kind that begins now is up. */
  readonly timeUp?: () => AbortSignal;
}

/** What passes leave to the next ones. */
type Kept = Required<Pick<PruneDeps, "walks" | "stuck" | "places">>;

/** All kinds together stay below the quarter of an hour that is between two looks at the clock. */
const kindMs = 60_000;
const afterKindMs = () => AbortSignal.timeout(kindMs);

export interface RetentionFigures {
  /** Since the start. */
  readonly pruned: ReadonlyMap<RetentionKind, number>;
  /** Because the clock has jumped. */
  readonly isPaused: boolean;
  readonly outcome: RetentionOutcome;
}

export interface RetentionOutcome {
  /** Whether a pass since the start has come to its end. */
  readonly hasPassed: boolean;
  /** Undefined while no part of the last pass has failed. */
  readonly failure: RetentionFailure | undefined;
}

export interface RetentionFailure {
  /** Of the first pass in a row of which something has failed, milliseconds UTC. */
  readonly at: number;
  /** What has failed in the last one, in words; at least one. */
  readonly faults: readonly string[];
}

function faultText({ kind, company }: PassPart, error: unknown): string {
  const part = [kind ?? "what was interrupted", ...(company === undefined ? [] : [`of ${company}`])];
  return `${part.join(" ")}: ${messageOf(error)}`;
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

/** Tells what a pass has left to do. */
function restOf(log: RetentionDeps["log"]) {
  const rest = {
    isNone: true,
    faults: [] as string[],
    failed(part: PassPart, error: unknown): void {
      // Another node has the company now, and goes on with it.
      if (error instanceof FencedError) return;
      rest.isNone = false;
      rest.faults.push(faultText(part, error));
      log.error({ ...part, err: error }, "what is too old cannot be removed; trying again later");
    },
    unfinished(kind: RetentionKind): void {
      rest.isNone = false;
      log.info({ kind }, "there is more that is too old: it goes on in the next round");
    },
  };
  return rest;
}

function logRemoved(log: RetentionDeps["log"], amounts: readonly KindAmount[]): void {
  const bytes = amounts.reduce((sum, amount) => sum + amount.bytes, 0);
  if (amounts.length > 0) log.info({ pruned: countsByKind(amounts), bytes }, "what was too old was removed");
}

function tellLook(log: RetentionDeps["log"], look: ClockLook, last: ClockLook | undefined): void {
  if (look.kind === "jumped" && last?.kind !== "jumped") log.warn(jumpText(look));
  if (look.kind === "right" && last?.kind === "jumped")
    log.info("the clock is right again: retention goes on");
  const [misdated, before] = [misdatedOf(look), misdatedOf(last)];
  if (misdated !== undefined && (misdated.from !== before?.from || misdated.until !== before?.until))
    log.warn(misdatedText(misdated));
}

/** What came of the last pass. */
function outcomeOf(clock: RetentionDeps["clock"]) {
  const outcome = {
    hasPassed: false,
    failure: undefined as RetentionFailure | undefined,
    ended(faults: readonly string[]): void {
      outcome.hasPassed = true;
      const at = outcome.failure?.at ?? clock.now();
      outcome.failure = faults.length === 0 ? undefined : { at, faults };
    },
  };
  return outcome;
}

export function createRetention({ clock, config, timeUp = afterKindMs, ...deps }: RetentionDeps): Retention {
  const { store, log } = deps;
  const pruned = new Map<RetentionKind, number>(retentionKinds.map((kind) => [kind, 0]));
  const cutOffAt = new Map<RetentionKind, number>();
  const kept: Kept = { walks: new Map(), stuck: new Map(), places: new Map() };
  let last: ClockLook | undefined;
  const outcome = outcomeOf(clock);

  /** One pass of the process that has the lock. */
  async function pass(now: number, signal: AbortSignal): Promise<boolean> {
    const { moveTo } = config().retention;
    const hold = createBackupHold(deps.locations.stateDir);
    const { isHeldUp } = hold;
    const amounts: KindAmount[] = [];
    const told = (some: readonly KindAmount[]) => {
      amounts.push(...some);
      for (const { kind, count } of some) pruned.set(kind, (pruned.get(kind) ?? 0) + count);
    };
    const rest = restOf(log);
    const beside = { timeUp, cutOffAt, unfinished: rest.unfinished };
    const wanted = { config: config(), misdated: misdatedOf(last), told, failed: rest.failed, beside };
    try {
      await pruneOld({ ...deps, ...kept, clock, now, moveTo, isHeldUp }, wanted, signal);
      outcome.ended(rest.faults);
    } catch (error) {
      if (!signal.aborted) outcome.ended([...rest.faults, messageOf(error)]);
      throw error;
    } finally {
      logRemoved(log, amounts);
    }
    const heldUp = await heldUpText(store.read, hold);
    if (heldUp !== undefined)
      log.info({ kinds: [...hold.kinds] }, `${heldUp}; they go in a round after that`);
    return rest.isNone && heldUp === undefined;
  }

  return {
    figures: {
      ...{ pruned, outcome },
      get isPaused() {
        return last?.kind === "jumped";
      },
    },
    async look() {
      const look = await lookAtClock({ store, clock });
      tellLook(log, look, last);
      last = look;
      return look.kind === "right" ? look.now : undefined;
    },
    prune: (now, signal) =>
      withPruneLock(
        { stateDir: deps.locations.stateDir, isShared: deps.isShared === true },
        () => pass(now, signal),
        ({ message }) => {
          log.info({ reason: message }, "what is too old is removed in the next round");
          return false;
        },
      ),
  };
}
