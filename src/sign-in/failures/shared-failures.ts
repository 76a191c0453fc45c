/**
 * Failed sign-ins and bans of several nodes, as rows of their database: a guesser has as many guesses at all of them as at one,
 * and a ban that is lifted on one of them is lifted on each (specification/accounts.md#failed-sign-ins).
 *
 *   a failure is counted here at once, and gathered ──twice a second──> rows ──read twice a second──> counted by the others
 *
 * No sign-in waits for the database, and a ban begins here with the points that are known here. While the database is away
 * each node goes on by itself: bans stay in memory and are written later; of failures that nobody could write, others do not
 * learn. A crash loses what was counted in the last half second.
 */
import type { Clock } from "../../lib/clock.ts";
import { minuteMs } from "../../lib/durations.ts";
import { createLimitedLog, type LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import {
  insertSignInFaults,
  lastFaultId,
  liftSignInBan,
  listBansAfter,
  listFaultsAfter,
  pruneSignInGuards,
  type SignInBan,
  saveSignInBans,
} from "../../store/accounts/sign-in-guards.ts";
import type { Store } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { banMemoryMs, type KeptBan } from "./bans.ts";
import type { CountedFailure } from "./failure-watch.ts";
import type { GatheredFailures } from "./gathered-failures.ts";

/** Who counts. */
interface FailureCounts {
  take(failure: CountedFailure): void;
  takeBan(noted: KeptBan): void;
  banOf(key: string): KeptBan | undefined;
}

export interface SharedFailuresDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly gathered: GatheredFailures;
  readonly counts: FailureCounts;
  /** How long points count. */
  readonly windowMs: () => number;
  /** Learns from which addresses users have signed in to other nodes. */
  readonly learnAddresses: () => Promise<void>;
}

const everyMs = 500;

/** Rows of one unit: with two units a second a flood writes so many and no more. */
const mostOfUnit = 250;
const mostOfRead = 1_000;
/** Some minutes of a flood; who starts reads as many of them as are left. */
const mostKept = 50_000;
const pruneEveryMs = 10 * minuteMs;
const failing = { maxLines: 2, windowMs: minuteMs } as const;

function keptBanOf({ peer, bannedUntil, times, changedAt }: SignInBan): KeptBan {
  return { key: peer, until: bannedUntil, count: times, since: changedAt };
}

export class SharedFailures {
  readonly #deps: SharedFailuresDeps;
  readonly #log: LimitedLog;
  /** Rows of this node that it has not read yet. */
  readonly #own = new Set<number>();
  #lastFault = 0;
  #lastChange = 0;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: SharedFailuresDeps) {
    this.#deps = deps;
    this.#log = createLimitedLog(deps.log, failing);
  }

  /** Counts what other nodes, and earlier processes, have noted, and goes on with that. Rejects when it cannot be read. */
  async start(): Promise<void> {
    this.#lastFault = Math.max(this.#lastFault, (await lastFaultId(this.#deps.store.read)) - mostKept);
    await this.#read();
    this.#timer ??= this.#later();
  }

  /** Writes what others do not know yet; after that nothing is told nor learned any more. */
  async stop(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#running;
    await this.#round();
  }

  /** Within the unit of who lifts a ban. */
  async noteLifted(tx: Transaction, key: string): Promise<void> {
    await liftSignInBan(tx, key, this.#deps.clock.now());
  }

  #later(): NodeJS.Timeout {
    const next = () => {
      this.#running = this.#round().then(() => {
        if (this.#timer !== undefined) this.#timer = this.#later();
      });
    };
    return setTimeout(next, everyMs).unref();
  }

  /** Tells the others, and learns from them. Never rejects. */
  async #round(): Promise<void> {
    const { gathered, learnAddresses } = this.#deps;
    try {
      if (!gathered.isEmpty) await this.#write();
      await this.#read();
      await learnAddresses();
      await this.#prune();
    } catch (error) {
      this.#log.warn(
        { err: error },
        "failed sign-ins cannot be shared with other nodes now; counting here alone",
      );
    }
  }

  async #write(): Promise<void> {
    const { store, gathered, counts, clock } = this.#deps;
    const { failures, banned } = gathered.take(mostOfUnit);
    const bans = banned.flatMap((key) => counts.banOf(key) ?? []);
    const faults = failures.map(({ peer, subject = "", points, at }) => ({
      peer,
      subject,
      score: points,
      at,
    }));
    const now = clock.now();
    // What was lifted meanwhile is noted by who did that.
    const noted = bans
      .filter(({ count }) => count > 0)
      .map(({ key, until, count }) => ({ peer: key, bannedUntil: until, times: count }));
    try {
      const ids = await store.write("unowned", async (tx) => {
        await saveSignInBans(tx, noted, { now, forgottenBefore: now - banMemoryMs });
        return await insertSignInFaults(tx, faults);
      });
      for (const id of ids) this.#own.add(id);
    } catch (error) {
      for (const failure of failures) gathered.counted(failure);
      for (const key of banned) gathered.banned(key);
      throw error;
    }
  }

  /** Bans first: points of a time before one do not count. */
  async #read(): Promise<void> {
    await this.#readBans();
    await this.#readFaults();
  }

  async #readBans(): Promise<void> {
    const { store, counts } = this.#deps;
    for (;;) {
      const rows = await listBansAfter(store.read, this.#lastChange, mostOfRead);
      const last = rows.at(-1)?.changedAt;
      if (last === undefined) return;
      const isFull = rows.length === mostOfRead;
      // Of the last unit some may be left: a unit has fewer than are read at once.
      const whole = isFull ? rows.filter(({ changedAt }) => changedAt < last) : rows;
      for (const row of whole) counts.takeBan(keptBanOf(row));
      this.#lastChange = whole.at(-1)?.changedAt ?? last;
      if (!isFull) return;
    }
  }

  async #readFaults(): Promise<void> {
    const { store, counts } = this.#deps;
    for (;;) {
      const rows = await listFaultsAfter(store.read, this.#lastFault, mostOfRead);
      for (const { id, peer, subject, score, at } of rows) {
        if (!this.#own.delete(id))
          counts.take({ peer, subject: subject === "" ? undefined : subject, points: score, at });
        this.#lastFault = id;
      }
      if (rows.length < mostOfRead) return;
    }
  }

  async #prune(): Promise<void> {
    const { store, clock, windowMs } = this.#deps;
    if (performance.now() - this.#prunedAt < pruneEveryMs) return;
    this.#prunedAt = performance.now();
    const now = clock.now();
    const before = { faultsBefore: now - windowMs() - minuteMs, bansBefore: now - banMemoryMs };
    await store.write("unowned", (tx) => pruneSignInGuards(tx, { ...before, keep: mostKept }));
  }
}
