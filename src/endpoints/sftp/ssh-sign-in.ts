/** The attempts of one SSH client to sign in: how many it may make, and who it is in the end. */
import type { AuthContext } from "ssh2";
import type { ClientLog } from "../../exchange/connections/client-log.ts";
import type { Place } from "../../sign-in/connection-gate.ts";
import type {
  KeyAttempt,
  PasswordAttempt,
  SignedInUser,
  SignIn,
  SignInCheck,
  SignInOutcome,
} from "../../sign-in/sign-in.ts";
import { judge, signInMethods, type Verdict } from "./authentication.ts";
import type { SftpOptions } from "./sftp-options.ts";

function isRefused({ kind }: SignInOutcome): boolean {
  return kind === "refused";
}

/**
 * The sign-in for one attempt. It notes whether the sign-in itself has refused: then the log has a line with the reason
 * already. Other refusals, such as a wrong signature, only the endpoint can log.
 */
class NotedSignIn implements SignInCheck {
  readonly #signIn: SignInCheck;
  hasRefused = false;
  /** Whether the client waits for us, and not we for the client. */
  isAtWork = false;

  constructor(signIn: SignInCheck) {
    this.#signIn = signIn;
  }

  async #note<Outcome>(
    ask: () => Promise<Outcome>,
    isRefusal: (outcome: Outcome) => boolean,
  ): Promise<Outcome> {
    this.isAtWork = true;
    try {
      const outcome = await ask();
      this.hasRefused = isRefusal(outcome);
      return outcome;
    } finally {
      this.isAtWork = false;
    }
  }

  async withPassword(attempt: PasswordAttempt, signal?: AbortSignal): Promise<SignInOutcome> {
    return await this.#note(() => this.#signIn.withPassword(attempt, signal), isRefused);
  }

  async isKeyKnown(attempt: KeyAttempt): Promise<boolean> {
    return await this.#note(
      () => this.#signIn.isKeyKnown(attempt),
      (isKnown) => !isKnown,
    );
  }

  async withVerifiedKey(attempt: KeyAttempt, signal?: AbortSignal): Promise<SignInOutcome> {
    return await this.#note(() => this.#signIn.withVerifiedKey(attempt, signal), isRefused);
  }
}

export interface SshSignInDeps {
  readonly address: string;
  readonly place: Place;
  readonly signIn: SignIn;
  readonly options: SftpOptions;
  readonly log: ClientLog;
  /** False once the connection is about to end. */
  readonly isOpen: () => boolean;
  readonly leave: () => void;
}

export class SshSignIn {
  readonly #deps: SshSignInDeps;
  #user: SignedInUser | undefined;
  #failedAttempts = 0;
  #attempt: NotedSignIn | undefined;

  constructor(deps: SshSignInDeps) {
    this.#deps = deps;
  }

  get user(): SignedInUser | undefined {
    return this.#user;
  }

  /** The client has not signed in in time. */
  missDeadline(): void {
    const { options, signIn, address, place, log, leave } = this.#deps;
    log.report("info", { afterMs: options.loginTimeoutMs }, "sftp sign-in not completed in time");
    // A balancer's own connection has had its place from the beginning, and is no guesser.
    if (this.#attempt?.isAtWork !== true && !place.isSignedIn) signIn.reportSilence(address);
    leave();
  }

  /** One attempt. Never rejects. */
  async authenticate(context: AuthContext): Promise<void> {
    // A client may send more guesses before it learns that its connection ends; they are not judged.
    if (!this.#deps.isOpen()) return;
    // An agent's many keys and a guesser's many passwords count alike; "none" only asks for the methods.
    if (context.method !== "none" || this.#failedAttempts > 0) this.#failedAttempts += 1;
    const { address, options, log, isOpen } = this.#deps;
    const signIn = new NotedSignIn(this.#deps.signIn);
    this.#attempt = signIn;
    try {
      const verdict = await judge({ signIn, address, isSha1Allowed: options.legacyAlgorithms }, context);
      if (isOpen()) this.#apply(context, verdict, signIn.hasRefused);
    } catch (error) {
      log.log.error({ err: error }, "sftp sign-in failed");
      if (isOpen()) context.reject(signInMethods);
    }
  }

  #apply(context: AuthContext, verdict: Verdict, isLogged: boolean): void {
    if (verdict.kind === "granted") this.#grant(context, verdict.user);
    else if (verdict.kind === "keyWouldDo") {
      this.#failedAttempts -= 1;
      context.accept();
    } else this.#refuse(context, verdict, isLogged);
  }

  #grant(context: AuthContext, user: SignedInUser): void {
    const { place, log, leave } = this.#deps;
    const { userName } = user;
    if (!place.signIn()) {
      log.report("warn", { user: userName }, "sftp sign-in refused: too many users are signed in");
      // Not rejected: after "permission denied" people would search for a fault in their password.
      leave();
      return;
    }
    this.#user = user;
    log.signedIn(userName);
    context.accept();
    log.log.info({ method: context.method }, "sftp signed in");
  }

  #refuse(
    context: AuthContext,
    { reason, isBanned }: Extract<Verdict, { kind: "refused" }>,
    isLogged: boolean,
  ) {
    const { options, log, leave } = this.#deps;
    context.reject(signInMethods);
    if (context.method !== "none") {
      const line = { user: context.username.slice(0, 64), method: context.method, reason };
      // At the level debug, the line of the sign-in can be traced to its connection.
      if (isLogged) log.log.debug(line, "sftp sign-in refused");
      else log.report("warn", line, "sftp sign-in refused");
    }
    const attempts = this.#failedAttempts;
    const isOverLimit = attempts >= options.maxAuthAttempts;
    if (isOverLimit) log.report("warn", { attempts }, "sftp: too many attempts to sign in");
    if (isOverLimit || isBanned) leave();
  }
}
