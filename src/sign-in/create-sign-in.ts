/**
 * Signs users in by password or key, for every protocol (specification/accounts.md#sign-in).
 *
 *   banned? --> user slowed to strangers? --> password remembered? --> hash (two at a time) --> may sign in?
 *
 * User, roles and `enabled` are read from the database each time, so a change takes effect at the next sign-in.
 *
 * Records of one name in different companies may be different people, and the administrator of one company chooses the
 * password of its record at will. So no record may help to find out the password of another:
 *
 *   the request names a company (HTTP) --> the record of the name in that company alone is tried; when there is none,
 *                                          the user is unknown, whatever records other companies have
 *   else (SFTP, FTP)                   --> all are tried, oldest first; the first that fits and may sign in is the user,
 *                                          and its memberships alone count
 *
 * In the second case a password that an earlier record refused was a guess at that record, even when a later one takes
 * it: it counts as a failure, at once, but each password once only. So who changes the later record to guess at the
 * earlier one is banned like anybody who guesses, and who signs in rightly to a record that is not the oldest costs its
 * address one point for each password it ever had since the start, however often it signs in. Having signed in to one
 * record makes an address familiar to that record only. A key finds the records that hold it, so it tells nothing of
 * the others.
 *
 * From the outside a disabled user, one that must change its password first, one of another company, a wrong password
 * and an unknown user look the same and cost the same; the log has the reason.
 */
import { peerKeyOf } from "../lib/address-range.ts";
import type { Clock } from "../lib/clock.ts";
import { createLimitedLog, type LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Store } from "../store/database/database.ts";
import { findUsersByKey, findUsersByName, type UserRecord } from "../store/accounts/users.ts";
import { waitForTimer } from "./answer-delay.ts";
import { type BanOptions, FailedSignIns, type SignInBans, type SignInPeer } from "./failed-sign-ins.ts";
import { GatheredFailures } from "./failures/gathered-failures.ts";
import { SharedFailures } from "./failures/shared-failures.ts";
import { FamiliarAddresses } from "./familiar-addresses.ts";
import { recordsToTry } from "./records-to-try.ts";
import { type ReasonOfUser, type RefusedSignIn, RefusedSignIns } from "./refused-sign-ins.ts";
import type {
  KeyAttempt,
  PasswordAttempt,
  SignIn,
  SignInOutcome,
  SignInProtocol,
  SignInReview,
} from "./sign-in.ts";
import type { HashQueueLimits } from "./sign-in-hash-queue.ts";
import { PasswordCheck, type PasswordQuestion } from "./sign-in-passwords.ts";
import { badCredentials, logRefusal, type RefusalReason, tooMany } from "./sign-in-refusals.ts";
import { type CountedSignIns, counted, noSignIns, type SignInStatistics } from "./sign-in-statistics.ts";
import { hindranceOf, signedInNow, userOf } from "./sign-in-review.ts";

/** The options of the section `security`, the bans among them. */
export interface SignInOptions extends BanOptions {
  readonly wrongPasswordDelayMs: number;
  readonly passwordCacheMs: number;
}

export interface SignInDeps {
  readonly store: Pick<Store, "read" | "write" | "isOnServer">;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "warn">;
  readonly options: SignInOptions;
  /** How many passwords are hashed at a time and how many may wait; two and 128 when not given. */
  readonly hashQueue?: HashQueueLimits;
  /** Resolves after that time, or sooner when the signal aborts. */
  wait?(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface ConfigurableSignIn extends SignIn, SignInReview {
  statistics(): SignInStatistics;
  readonly bans: SignInBans;
  /** The last refused sign-ins of the user since the start, the newest first. */
  refusedOf(userId: number): readonly RefusedSignIn[];
  /** Reads from which addresses users have signed in before, and what other nodes know. Comes before the first sign-in. */
  load(): Promise<void>;
  /** Resolves when the results of the sign-ins so far are written; until `load`, none are shared with other nodes any more. */
  settled(): Promise<void>;
  /** Replaces the options; what was counted, banned and remembered stays. */
  configure(options: SignInOptions): void;
}

/** A hash that found the queue full may be retried soon. */
const busyRetryMs = 2_000;

interface Context {
  readonly deps: SignInDeps;
  readonly failures: FailedSignIns;
  readonly familiar: FamiliarAddresses;
  readonly log: LimitedLog;
  readonly passwords: PasswordCheck;
  readonly refused: RefusedSignIns;
  readonly counts: CountedSignIns;
  /** Left out where one process has the database alone. */
  shared: SharedFailures | undefined;
  options: SignInOptions;
}

/** One attempt on its way through the checks. */
interface Attempt extends SignInPeer {
  readonly protocol: SignInProtocol;
  readonly method: "password" | "publickey";
  readonly startedAt: number;
  readonly signal: AbortSignal | undefined;
}

type Verdict =
  | { readonly kind: "accepted"; readonly record: UserRecord; readonly keyBlob?: string }
  | {
      readonly kind: "refused";
      readonly reason: RefusalReason;
      /** Whether the attempt has been counted already. */
      readonly isCounted?: boolean;
      /** By the ids of the records that refused it. */
      readonly by?: ReasonOfUser;
    };

/** The log line, and what administrators of the users see. */
function tellRefusal(context: Context, attempt: Attempt, reason: RefusalReason, by?: ReasonOfUser): void {
  const { address, protocol, startedAt: at } = attempt;
  logRefusal(context.log, attempt, reason);
  if (by !== undefined) context.refused.note({ address, protocol, at }, by);
}

function allFor(records: readonly UserRecord[], reason: RefusalReason): ReasonOfUser {
  return new Map(records.map(({ id }) => [id, reason]));
}

/** Counts at once, then holds the answer back so that all of them take the same time, hashed or not. */
async function answerFailure(
  context: Context,
  attempt: Attempt,
  { reason, isCounted = false, by }: Extract<Verdict, { kind: "refused" }>,
): Promise<SignInOutcome> {
  if (!isCounted) context.failures.recordFailure(attempt);
  tellRefusal(context, attempt, reason, by);
  const { wrongPasswordDelayMs } = context.options;
  const elapsedMs = Math.max(0, context.deps.clock.now() - attempt.startedAt);
  const remainingMs = wrongPasswordDelayMs - elapsedMs;
  if (remainingMs > 0) await (context.deps.wait ?? waitForTimer)(remainingMs, attempt.signal);
  return badCredentials;
}

interface Admission {
  /** The records to try: while strangers have to wait, only those to which the peer is no stranger. */
  readonly open: readonly UserRecord[];
  /** The answer to a peer that may not even try. */
  readonly bar?: SignInOutcome;
}

/** A barred attempt is not counted: that would keep a user slowed for ever. */
function admit(context: Context, attempt: Attempt, records: readonly UserRecord[]): Admission {
  const { failures, familiar } = context;
  const bannedForMs = failures.bannedForMs(attempt.address);
  if (bannedForMs > 0) return { open: [], bar: tooMany(bannedForMs) };
  const own = records.filter(({ id }) => familiar.has(attempt.address, id));
  const slowedForMs = failures.slowedForMs(attempt);
  if (slowedForMs > 0 && own.length === 0) {
    tellRefusal(context, attempt, "slowed", allFor(records, "slowed"));
    return { open: [], bar: tooMany(slowedForMs) };
  }
  if (own.length < records.length || records.length === 0) failures.recordTry(attempt);
  return { open: slowedForMs > 0 ? own : records };
}

async function answerVerdict(context: Context, attempt: Attempt, verdict: Verdict): Promise<SignInOutcome> {
  if (verdict.kind === "accepted") {
    context.familiar.note(attempt.address, verdict.record.id);
    return { kind: "signedIn", user: userOf(verdict.record, verdict.keyBlob) };
  }
  if (verdict.reason === "addressBanned") return tooMany(context.failures.bannedForMs(attempt.address));
  if (verdict.reason === "tooManyWaiting") {
    logRefusal(context.log, attempt, verdict.reason);
    return tooMany(busyRetryMs);
  }
  return await answerFailure(context, attempt, verdict);
}

function questionOf(
  context: Context,
  attempt: Attempt,
  about: { readonly user: UserRecord | undefined; readonly password: string },
): PasswordQuestion {
  const { user } = about;
  return {
    ...about,
    userName: attempt.userName,
    peerKey: peerKeyOf(attempt.address),
    isFamiliar: user !== undefined && context.familiar.has(attempt.address, user.id),
    mayRun: () => context.failures.bannedForMs(attempt.address) === 0,
  };
}

/** Counts a password that one record refuses before the next is tried: waiting for all would let many guesses pass. */
function isCountedGuess(context: Context, attempt: Attempt, question: PasswordQuestion): boolean {
  if (!context.passwords.isNewGuess(question)) return false;
  context.failures.recordFailure(attempt);
  const { address, protocol, userName } = attempt;
  context.log.info(
    { user: userName.slice(0, 64), address, protocol },
    "sign-in counted: the password is not that of an older user",
  );
  return true;
}

interface Tried {
  readonly records: readonly UserRecord[];
  readonly password: string;
  readonly canChangePassword: boolean;
}

async function judgePassword(context: Context, attempt: Attempt, tried: Tried): Promise<Verdict> {
  const { records, password } = tried;
  let reason: RefusalReason = records.length === 0 ? "unknownUser" : "wrongPassword";
  let isCounted = false;
  const by = new Map<number, RefusalReason>();
  // Without a record a password is hashed too: the time of the answer must not tell who exists.
  for (const record of records.length === 0 ? [undefined] : records) {
    const question = questionOf(context, attempt, { user: record, password });
    const verdict = context.passwords.recall(question) ?? (await context.passwords.check(question));
    if (verdict === "notAllowed") return { kind: "refused", reason: "addressBanned" };
    if (verdict === "tooBusy") return { kind: "refused", reason: "tooManyWaiting" };
    if (verdict === "wrong" || record === undefined) {
      const isLast = record === records.at(-1);
      isCounted ||= !isLast && isCountedGuess(context, attempt, question);
      if (record !== undefined) by.set(record.id, "wrongPassword");
      continue;
    }
    const hindrance = hindranceOf(record, tried);
    if (hindrance === undefined) return { kind: "accepted", record };
    reason = hindrance;
    by.set(record.id, hindrance);
  }
  return { kind: "refused", reason, isCounted, by };
}

/** The answer that needs no hash: the password of the record to try first is known to be right. */
function recallSignIn(context: Context, attempt: Attempt, tried: Tried): SignInOutcome | undefined {
  const { password, records } = tried;
  const [user] = records;
  if (user === undefined || hindranceOf(user, tried) !== undefined) return undefined;
  const { userName, address } = attempt;
  if (context.passwords.recall({ user, userName, password }) !== "right") return undefined;
  context.familiar.note(address, user.id);
  return { kind: "signedIn", user: userOf(user) };
}

async function signInWithPassword(
  context: Context,
  input: PasswordAttempt,
  signal: AbortSignal | undefined,
): Promise<SignInOutcome> {
  const { userName, address, protocol, password, canChangePassword = false } = input;
  const startedAt = context.deps.clock.now();
  // Before the query: a banned address costs next to nothing.
  const bannedForMs = context.failures.bannedForMs(address);
  if (bannedForMs > 0) return counted(context, protocol, tooMany(bannedForMs));
  const records = recordsToTry(
    context.deps.log,
    input,
    await findUsersByName(context.deps.store.read, userName),
  );
  const isKnownUser = records.length > 0;
  const attempt: Attempt = {
    userName,
    address,
    protocol,
    method: "password",
    isKnownUser,
    startedAt,
    signal,
  };
  const { open, bar } = admit(context, attempt, records);
  if (bar !== undefined) return counted(context, protocol, bar);
  const tried = { records: open, password, canChangePassword };
  const recalled = recallSignIn(context, attempt, tried);
  if (recalled !== undefined) return counted(context, protocol, recalled);
  const verdict = await judgePassword(context, attempt, tried);
  return counted(context, protocol, await answerVerdict(context, attempt, verdict));
}

async function judgeKey(context: Context, input: KeyAttempt, named: readonly UserRecord[]): Promise<Verdict> {
  // The blob names its own type; `keyType` may be a signature algorithm such as rsa-sha2-256.
  const keyBlob = Buffer.from(input.keyBlob).toString("base64");
  const holders = await findUsersByKey(context.deps.store.read, { userName: input.userName, keyBlob });
  const record = holders.find((holder) => hindranceOf(holder) === undefined);
  if (record !== undefined) return { kind: "accepted", record, keyBlob };
  const [holder] = holders;
  const reason = holder === undefined ? undefined : hindranceOf(holder);
  if (reason !== undefined) return { kind: "refused", reason, by: allFor(holders, reason) };
  return {
    kind: "refused",
    reason: named.length > 0 ? "unknownKey" : "unknownUser",
    by: allFor(named, "unknownKey"),
  };
}

async function attemptWithKey(
  context: Context,
  input: KeyAttempt,
  signal?: AbortSignal,
): Promise<Attempt & { readonly named: readonly UserRecord[] }> {
  const { userName, address, protocol } = input;
  const named = await findUsersByName(context.deps.store.read, userName);
  const startedAt = context.deps.clock.now();
  const isKnownUser = named.length > 0;
  return { userName, address, protocol, method: "publickey", isKnownUser, startedAt, signal, named };
}

async function signInWithKey(
  context: Context,
  input: KeyAttempt,
  signal?: AbortSignal,
): Promise<SignInOutcome> {
  const attempt = await attemptWithKey(context, input, signal);
  // A key cannot be guessed: whoever holds it is no stranger, even while passwords are being guessed.
  const bannedForMs = context.failures.bannedForMs(attempt.address);
  if (bannedForMs > 0) return counted(context, input.protocol, tooMany(bannedForMs));
  const verdict = await judgeKey(context, input, attempt.named);
  return counted(context, input.protocol, await answerVerdict(context, attempt, verdict));
}

/** Clients offer each of their keys in turn, so an unknown key is not counted; the log has it all the same. */
async function isKeyKnown(context: Context, input: KeyAttempt): Promise<boolean> {
  if (context.failures.bannedForMs(input.address) > 0) return false;
  const attempt = await attemptWithKey(context, input);
  const verdict = await judgeKey(context, input, attempt.named);
  if (verdict.kind === "accepted") return true;
  tellRefusal(context, attempt, verdict.reason, verdict.by);
  return false;
}

function shareFailures({ deps, failures, familiar }: Context, gathered: GatheredFailures): SharedFailures {
  const { store, clock, log } = deps;
  return new SharedFailures({
    ...{ store, clock, log, gathered, counts: failures },
    windowMs: () => failures.windowMs,
    learnAddresses: () => familiar.learn(),
  });
}

function contextOf(deps: SignInDeps): Context {
  const { store, clock, options } = deps;
  const log = createLimitedLog(deps.log);
  const familiar = new FamiliarAddresses({ store, clock, log: deps.log });
  const hasSignedInLately = (address: string) => familiar.hasSignedInLately(address);
  const gathered = store.isOnServer ? new GatheredFailures() : undefined;
  const context: Context = {
    ...{ deps, options, log, familiar, refused: new RefusedSignIns(), counts: noSignIns() },
    shared: undefined,
    failures: new FailedSignIns({ clock, log, options, hasSignedInLately, watch: gathered }),
    passwords: new PasswordCheck({
      clock,
      rememberForMs: () => context.options.passwordCacheMs,
      ...(deps.hashQueue === undefined ? {} : { queueLimits: deps.hashQueue }),
    }),
  };
  if (gathered !== undefined) context.shared = shareFailures(context, gathered);
  return context;
}

/** Makes the sign-in of the process; there must be only one, for the counts to mean anything. */
export function createSignIn(deps: SignInDeps): ConfigurableSignIn {
  const context = contextOf(deps);
  const { failures, familiar, shared } = context;
  return {
    statistics: () => ({ signIns: context.counts, bans: failures.bans }),
    async load() {
      await familiar.load();
      await shared?.start();
    },
    async settled() {
      context.log.flush();
      await familiar.settled();
      await shared?.stop();
    },
    configure(next) {
      context.options = next;
      failures.configure(next);
    },
    withPassword: (attempt, signal) => signInWithPassword(context, attempt, signal),
    isKeyKnown: (attempt) => isKeyKnown(context, attempt),
    withVerifiedKey: (attempt, signal) => signInWithKey(context, attempt, signal),
    signedInNow: (userId) => signedInNow(deps.store, userId),
    bannedForMs: (address) => failures.bannedForMs(address),
    bans: {
      list: () => failures.activeBans(),
      lift: (key) => failures.liftBan(key),
      noteLifted: async (tx, key) => await shared?.noteLifted(tx, key),
    },
    refusedOf: (userId) => context.refused.of(userId),
    hasSignedInLately: (address) => familiar.hasSignedInLately(address),
    reportSilence: (address) => failures.recordSilence(address),
    reportBrokenLimit: (address) => failures.recordBrokenLimit(address),
  };
}
