/**
 * What a client connection of the file exchange has to do in time; one deadline runs at a time.
 *
 *   to sign in ──> not to be idle for too long ──> to let go, after the message that the connection ends
 */

/** How long a client may take to let go. */
const farewellMs = 2_000;
/** The same for a user that was changed: with the time that it takes to see the change, all is over within 2 s. */
const promptFarewellMs = 500;

export interface IdleLimit {
  readonly timeoutMs: number;
  /** When there was activity that nobody noted by `touch`, in milliseconds since 1970. */
  lastActiveAtMs(): number;
  expired(idleMs: number): void;
}

export class ConnectionDeadline {
  #timer: NodeJS.Timeout | undefined;
  #lastActivityAtMs = Date.now();

  /** The connection is not idle. */
  touch(): void {
    this.#lastActivityAtMs = Date.now();
  }

  toSignIn(withinMs: number, missed: () => void): void {
    this.#set(withinMs, missed);
  }

  /** The client has signed in: it may be idle for so long. */
  toBeActive(limit: IdleLimit): void {
    this.touch();
    this.#watchIdleness(limit, limit.timeoutMs);
  }

  /** `isPrompt` when the user was changed. */
  toLetGo(cut: () => void, { isPrompt }: { readonly isPrompt: boolean }): void {
    this.#set(isPrompt ? promptFarewellMs : farewellMs, cut);
  }

  /** The connection is gone. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #set(delayMs: number, passed: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(passed, delayMs);
  }

  #watchIdleness(limit: IdleLimit, delayMs: number): void {
    this.#set(delayMs, () => {
      const idleMs = Date.now() - Math.max(this.#lastActivityAtMs, limit.lastActiveAtMs());
      const leftMs = limit.timeoutMs - idleMs;
      if (leftMs > 0) this.#watchIdleness(limit, leftMs);
      else limit.expired(idleMs);
    });
  }
}
