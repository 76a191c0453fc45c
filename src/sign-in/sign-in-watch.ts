import type { Logger } from "../lib/logs/log.ts";
import type { CurrentUser, SignInReview } from "./sign-in.ts";

/** How soon it shows that an administrator changed a user. */
const reviewEveryMs = 1_000;

/** A connection that outlives its sign-in. */
export interface WatchedConnection {
  /** Who is signed in and has not been told to go. */
  readonly userId: number | undefined;
  /** Told how the user is now; undefined when it may not sign in any more. */
  review(now: CurrentUser | undefined): void;
}

interface WatchDeps {
  readonly signIn: SignInReview;
  readonly connections: () => Iterable<WatchedConnection>;
  readonly log: Logger;
}

/** Looks again and again whether those who are signed in still may. */
export class SignInWatch {
  readonly #deps: WatchDeps;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /** The next look comes only when the one before is done: a slow store gets no second question. */
  start(): void {
    if (this.#isStopped) return;
    const look = (): void => void this.#look().finally(() => this.start());
    this.#timer = setTimeout(look, reviewEveryMs).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Asks once for each user. */
  async #look(): Promise<void> {
    const users = new Map<number, CurrentUser | undefined>();
    try {
      for (const connection of [...this.#deps.connections()]) {
        const { userId } = connection;
        if (userId === undefined) continue;
        if (!users.has(userId)) users.set(userId, await this.#deps.signIn.signedInNow(userId));
        connection.review(users.get(userId));
      }
    } catch (error) {
      // Nobody is sent away because the store is in trouble; the next look asks again.
      this.#deps.log.error({ err: error }, "signed-in users could not be checked again");
    }
  }
}
