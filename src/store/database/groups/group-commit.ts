/**
 * One fsync for many: units of work that wait at the same moment are committed together.
 *
 *   waiting --taken--> running (in its own savepoint) --released--> committed --> answered
 *                              \--failed: rolled back to its savepoint, answered with its error
 *
 * Units run one after the other in the order they were given. Each is answered only after the commit, so an answered unit
 * survives a crash; a unit that fails undoes itself alone. When the commit fails, all of the group fail. A unit that meets
 * a damaged page takes none with it: SQLite commits nothing of a transaction that has met one, so the group is undone and
 * each of its units runs again alone.
 *
 * A database with several writers locks the companies of a group before its first unit (`owner.ts`). Units of companies that
 * another writer has locked go with the next group, in their order.
 *
 * A database server pays for each savepoint with a round trip, and for many with all of its transactions. There units have
 * none: when one fails the group is undone, and runs again without it; then it runs alone. Units that say what they write
 * (`side-by-side.ts`) run there at the same moment, since each statement that is waited for by itself is a round trip.
 *
 * Units that nobody waits for (`runSoon`) share the next commit; without one they are committed `soonMs` later.
 */
import { setTimeout as setTimer } from "node:timers";
import { setTimeout as wait } from "node:timers/promises";
import type { Kysely } from "kysely";
import { DropgateError } from "../../../lib/errors.ts";
import { beginStep } from "../../../lib/kill-point.ts";
import { isStoreBusy, isStoreDamaged, isStoreFault } from "../../../lib/store-error.ts";
import { takeAnnouncements, type Topic } from "../announcements.ts";
import { GroupUndone, partsAround, runAllBare } from "./bare-units.ts";
import { CommitFigures } from "./commit-figures.ts";
import { type Fence, type LockedLanes, passOn, refusalOf } from "../fence.ts";
import { Gathering } from "./gathering.ts";
import { connectionOf, type PreparedStatement, type StatementConnection } from "../prepared-query.ts";
import { laneOf, type Owner } from "../owner.ts";
import type { Tables } from "../schema.ts";
import { keysOf, requireAlone } from "./side-by-side.ts";
import { forgetAnswers } from "./transaction-answers.ts";
import { type Done, doneOf, type Unit } from "./unit-of-work.ts";

/**
 * A transaction in which a unit of work runs. The unit must not wait for anything but the database, nor change anything
 * else: it may run again when another unit has undone the group. Further effects follow from what it returns.
 */
export type Transaction = Kysely<Tables>;

/** What a unit does. */
export type Work<T> = (tx: Transaction) => Promise<T>;

export interface GroupCommit {
  /** Rejects, without running it, a unit whose fence is no longer in force. */
  run<T>(whose: Owner, work: Work<T>, fence?: Fence): Promise<T>;
  /** The same for a unit that can wait: it goes with the next commit, or `soonMs` later. */
  runSoon<T>(whose: Owner, work: Work<T>, fence?: Fence): Promise<T>;
  /** For monitoring. */
  readonly figures: Pick<CommitFigures, "units" | "durations">;
  /** Refuses new units; resolves when the running ones are committed. */
  close(): Promise<void>;
}

/** A unit waits for its company when it was left so often. */
const mostTimesLeft = 2;
const busyPatienceMs = 10_000;
const busyPauseMs = 20;
/**
 * Statements of one unit after which others get a turn of the event loop: SQLite answers at once, and a unit of thousands
 * would stop everything else. Units have no waits of their own.
 */
export const statementsInTurn = 128;

/** The statements around work that can be undone alone, kept by the connection. */
interface Brackets {
  readonly connection: StatementConnection;
  readonly savepoint: PreparedStatement;
  readonly release: PreparedStatement;
  readonly rollback: PreparedStatement;
}

function bracketsNamed(name: string): (connection: StatementConnection) => Brackets {
  const known = new WeakMap<StatementConnection, Brackets>();
  return (connection) => {
    const found = known.get(connection);
    if (found !== undefined) return found;
    const brackets = {
      connection,
      savepoint: connection.prepare(`savepoint ${name}`),
      release: connection.prepare(`release savepoint ${name}`),
      rollback: connection.prepare(`rollback to savepoint ${name}`),
    };
    known.set(connection, brackets);
    return brackets;
  };
}

const aroundUnit = bracketsNamed("unit");
const aroundAttempt = bracketsNamed("attempt");
const aroundRehearsal = bracketsNamed("rehearsal");

async function runUnit(tx: Transaction, brackets: Brackets, unit: Unit): Promise<Done> {
  const { connection, savepoint, release } = brackets;
  connection.giveTurnsEvery(statementsInTurn);
  await connection.runPrepared(savepoint, []);
  try {
    const value = await unit.work(tx);
    await connection.runPrepared(release, []);
    return doneOf(tx, unit, value);
  } catch (error) {
    if (isStoreDamaged(error)) throw error;
    await undo(tx, brackets, error);
    takeAnnouncements(tx);
    return { topics: undefined, answer: () => unit.reject(error) };
  }
}

/** Within a unit of work: what `work` writes is undone when it throws, and the unit goes on. Not to be nested. */
export async function attempt<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  requireAlone(tx);
  const brackets = aroundAttempt(await connectionOf(tx));
  const { connection, savepoint, release } = brackets;
  await connection.runPrepared(savepoint, []);
  try {
    const value = await work();
    await connection.runPrepared(release, []);
    return value;
  } catch (error) {
    await undo(tx, brackets, error);
    throw error;
  }
}

/** What `work` gives or throws; what it writes is undone. Not to be nested. */
export async function undone<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  const brackets = aroundRehearsal(await connectionOf(tx));
  await brackets.connection.runPrepared(brackets.savepoint, []);
  const [outcome] = await Promise.allSettled([work()]);
  await undo(tx, brackets, outcome.status === "rejected" ? outcome.reason : undefined);
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

/** Undoes what is between the brackets. When the database has undone everything by itself (disk full), `cause` says why. */
async function undo(
  tx: Transaction,
  { connection, rollback, release }: Brackets,
  cause: unknown,
): Promise<void> {
  forgetAnswers(tx);
  try {
    await connection.runPrepared(rollback, []);
    await connection.runPrepared(release, []);
  } catch {
    throw cause;
  }
}

interface Committing {
  readonly db: Kysely<Tables>;
  /** Called with the announcements, before the units are answered. */
  readonly tell: (topics: Iterable<Topic>) => void;
  readonly figures: CommitFigures;
  readonly gathering: Gathering;
}

/** How far a group has come. */
interface Begun {
  units: number;
  /** Those that were held back: they are answered, and run no more. */
  readonly refused: Set<Unit>;
}

/**
 * Commits the group; retries for some seconds while the database is busy and takes no transaction at all. A group that
 * meets a damaged page, or has a unit that cannot be undone alone, is undone: a unit that has failed runs again alone, and so
 * do all of them when the database is at fault. Gives those that were left, because others are writing for their companies:
 * a part of a group leaves none, so that units of one company keep their order.
 */
async function commitGroup(
  committing: Committing,
  group: readonly Unit[],
  { isWhole }: { readonly isWhole: boolean },
): Promise<readonly Unit[]> {
  const until = performance.now() + busyPatienceMs;
  let units = group;
  let mayLeave = isWhole;
  for (;;) {
    const begun: Begun = { units: 0, refused: new Set() };
    try {
      return await commitOnce(committing, units, { begun, mayLeave });
    } catch (thrown) {
      units = units.filter((unit) => !begun.refused.has(unit));
      const isUndone = thrown instanceof GroupUndone;
      const error = isUndone ? thrown.cause : thrown;
      if ((isUndone || isStoreDamaged(error)) && units.length > 1) {
        const failed = isUndone && !isStoreFault(error) ? thrown.failed : new Set(units);
        for (const part of partsAround(units, failed))
          await commitGroup(committing, part, { isWhole: false });
        return [];
      }
      if (!isStoreBusy(error) || (begun.units > 0 && !isUndone) || performance.now() > until) {
        for (const unit of units) unit.reject(error);
        return [];
      }
      mayLeave = false;
      await wait(busyPauseMs);
    }
  }
}

/** Those that may run; the others are answered with what holds them back. */
function unfenced(
  units: readonly Unit[],
  { lanes, refused }: { readonly lanes: LockedLanes } & Pick<Begun, "refused">,
): readonly Unit[] {
  const allowed: Unit[] = [];
  for (const unit of units) {
    const refusal = refusalOf(unit.fence, lanes);
    if (refusal === undefined) allowed.push(unit);
    else {
      refused.add(unit);
      unit.reject(refusal);
    }
  }
  return allowed;
}

/** Those whose companies wait for this transaction for the third time: it waits for them. */
function mostPatient(units: readonly Unit[]): readonly Owner[] {
  return units.filter(({ timesLeft }) => timesLeft >= mostTimesLeft).map(({ whose }) => whose);
}

/** Those whose lanes are locked, and those that are left. */
function divided(
  units: readonly Unit[],
  lanes: LockedLanes,
): Readonly<Record<"own" | "left", readonly Unit[]>> {
  const isOwn = ({ whose }: Unit) => {
    const lane = laneOf(whose);
    return lanes === undefined || lane === undefined || lanes.has(lane);
  };
  const { own = [], left = [] } = Object.groupBy(units, (unit) => (isOwn(unit) ? "own" : "left"));
  for (const unit of left) unit.timesLeft += 1;
  return { own, left };
}

/** How many have somebody who asks again once they are answered. */
function urgentOf(units: readonly Unit[]): number {
  return units.filter(({ canWait }) => !canWait).length;
}

async function commitOnce(
  { db, tell, figures, gathering }: Committing,
  given: readonly Unit[],
  { begun, mayLeave }: { readonly begun: Begun; readonly mayLeave: boolean },
): Promise<readonly Unit[]> {
  const beganAt = performance.now();
  let left: readonly Unit[] = [];
  let isBare = false;
  const done = await db.transaction().execute(async (tx) => {
    const connection = await connectionOf(tx);
    const owners = given.map(({ whose }) => whose);
    const lanes = await connection.lockFor(owners, mayLeave ? mostPatient(given) : undefined);
    const parts = divided(given, lanes);
    left = parts.left;
    if (lanes !== undefined) passOn(parts.own, lanes);
    const allowed = unfenced(parts.own, { lanes, refused: begun.refused });
    isBare = !connection.undoesUnitsAlone;
    if (isBare) {
      begun.units = allowed.length;
      return await runAllBare(tx, allowed);
    }
    const brackets = aroundUnit(connection);
    const results: Done[] = [];
    for (const unit of allowed) {
      begun.units += 1;
      results.push(await runUnit(tx, brackets, unit));
    }
    return results;
  });
  const durationMs = performance.now() - beganAt;
  figures.count(given.length - left.length, durationMs);
  if (isBare) gathering.noteGroup({ units: urgentOf(given) - urgentOf(left), durationMs });
  const announced = new Set<Topic>();
  for (const { topics } of done) for (const topic of topics ?? []) announced.add(topic);
  tell(announced);
  for (const { answer } of done) answer();
  return left;
}

interface Asked<T> extends Pick<Unit, "canWait"> {
  readonly whose: Owner;
  readonly work: Work<T>;
  readonly fence: Fence | undefined;
}

/** Hands the unit over, with what runs in place of its work; its result, once it is committed. */
function pushed<T>(asked: Asked<T>, work: Work<T>, push: (unit: Unit) => void): Promise<T> {
  const steps = { ran: beginStep("unit"), committed: beginStep("commit") };
  // What is not the work itself may undo what others have written beside it.
  const keys = work === asked.work ? keysOf(work) : undefined;
  return new Promise<T>((resolve, reject) => {
    const timesLeft = 0;
    push({ ...asked, ...steps, work, keys, timesLeft, resolve: (value) => resolve(value as T), reject });
  });
}

/** What is begun after the store is closed is refused with it. */
export function closing(): DropgateError {
  return new DropgateError("overloaded", "dropgate is stopping: try again later");
}

/** Most units of a group: it bounds how long the first of them waits for the last. */
const maxUnits = 256;
/** How long a unit that can wait waits for others to share their commit with. */
const soonMs = 100;

/**
 * Runs units of work over one connection. `tell` is called after a commit with the announcements of its units; `around`
 * returns what runs in place of the work.
 */
export function createGroupCommit(
  db: Kysely<Tables>,
  tell: (topics: Iterable<Topic>) => void = () => undefined,
  around = <T>(_whose: Owner, work: Work<T>): Work<T> => work,
): GroupCommit {
  const gathering = new Gathering(maxUnits);
  const committing: Committing = { db, tell, figures: new CommitFigures(), gathering };
  let waiting: Unit[] = [];
  let soon: Unit[] = [];
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isClosed = false;

  function takeGroup(): readonly Unit[] {
    const urgent = waiting.slice(0, maxUnits);
    waiting = waiting.slice(maxUnits);
    const free = maxUnits - urgent.length;
    const group = [...urgent, ...soon.slice(0, free)];
    soon = soon.slice(free);
    return group;
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      await gathering.gather(() => waiting.length);
      const left = await commitGroup(committing, takeGroup(), { isWhole: true });
      if (left.length > 0) waiting = [...left, ...waiting];
    }
    running = undefined;
  }

  /** Units that could wait are urgent from now on. */
  function hurry(): void {
    clearTimeout(timer);
    timer = undefined;
    if (soon.length === 0) return;
    waiting = [...waiting, ...soon];
    soon = [];
    gathering.noteWaiting(waiting.length);
    running ??= drain();
  }

  function queue<T>(asked: Asked<T>, push: (unit: Unit) => void): Promise<T> {
    if (isClosed) return Promise.reject(closing());
    return pushed(asked, around(asked.whose, asked.work), push);
  }

  return {
    figures: committing.figures,
    run: (whose, work, fence) =>
      queue({ whose, work, fence, canWait: false }, (unit) => {
        waiting.push(unit);
        gathering.noteWaiting(waiting.length);
        running ??= drain();
      }),
    runSoon: (whose, work, fence) =>
      queue({ whose, work, fence, canWait: true }, (unit) => {
        soon.push(unit);
        timer ??= setTimer(hurry, soonMs);
      }),
    async close() {
      isClosed = true;
      hurry();
      while (running !== undefined) await running;
    },
  };
}
