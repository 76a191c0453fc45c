import type { Logger } from "../lib/logs/log.ts";
import type { CurrentUser, SignInReview } from "./sign-in.ts";

/** How soon it shows that an administrator changed a user. */
const reviewEveryMs = 1_000;

/** A connection that outlives its sign-in. */
export interface WatchedConnection {
  /** Users that are signed in and have not been asked to go. */
  readonly userId: number | undefined;
  /** Called with the user as it is now; undefined when it may not sign in any more. */
  review(now: CurrentUser | undefined): void;
}

interface WatchDeps {
  readonly signIn: SignInReview;
  readonly connections: () => Iterable<WatchedConnection>;
  readonly log: Logger;
}

/** Checks periodically whether signed-in users still may be. */
export class SignInWatch {
  readonly #deps: WatchDeps;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(deps: WatchDeps) {
    this.#deps = deps;
  }

  /** The next check comes only when the one before is done: a slow store gets no second query. */
  start(): void {
    if (this.#isStopped) return;
    const look = (): void => void this.#look().finally(() => this.start());
    this.#timer = setTimeout(look, reviewEveryMs).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** One query for each user. */
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
      // Nobody is disconnected because the store fails; the next check asks again.
      this.#deps.log.error({ err: error }, "signed-in users could not be checked again");
    }
  }
}
