import type { KeyAttempt, PasswordAttempt, SignIn, SignInOutcome } from "../../operations/sign-in.ts";

/**
 * The sign-in for one attempt, which keeps whether it was the sign-in that refused: then the log has a line of it with
 * the reason, and the endpoint need not say it again. What never comes to it, such as a wrong signature, only the
 * endpoint knows.
 */
export class NotedSignIn implements SignIn {
  readonly #signIn: SignIn;
  hasRefused = false;

  constructor(signIn: SignIn) {
    this.#signIn = signIn;
  }

  #note(outcome: SignInOutcome): SignInOutcome {
    this.hasRefused = outcome.kind === "refused";
    return outcome;
  }

  async withPassword(attempt: PasswordAttempt, signal?: AbortSignal): Promise<SignInOutcome> {
    return this.#note(await this.#signIn.withPassword(attempt, signal));
  }

  async isKeyKnown(attempt: KeyAttempt): Promise<boolean> {
    const isKnown = await this.#signIn.isKeyKnown(attempt);
    this.hasRefused = !isKnown;
    return isKnown;
  }

  async withVerifiedKey(attempt: KeyAttempt, signal?: AbortSignal): Promise<SignInOutcome> {
    return this.#note(await this.#signIn.withVerifiedKey(attempt, signal));
  }

  bannedForMs(address: string): number {
    return this.#signIn.bannedForMs(address);
  }

  reportBrokenLimit(address: string): void {
    this.#signIn.reportBrokenLimit(address);
  }
}
