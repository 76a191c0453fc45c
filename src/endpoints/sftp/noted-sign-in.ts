import type { KeyAttempt, PasswordAttempt, SignInCheck, SignInOutcome } from "../../sign-in/sign-in.ts";

function isRefused({ kind }: SignInOutcome): boolean {
  return kind === "refused";
}

/**
 * The sign-in for one attempt, which keeps whether it was the sign-in that refused: then the log has a line of it with
 * the reason, and the endpoint need not say it again. What never comes to it, such as a wrong signature, only the
 * endpoint knows.
 */
export class NotedSignIn implements SignInCheck {
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
