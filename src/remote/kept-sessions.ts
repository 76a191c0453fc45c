/** The sessions of a client with one server. Those that no job uses are kept for some seconds for the next one. */
import type { RemoteSession } from "./remote-session.ts";

export class KeptSessions {
  readonly #newSession: () => RemoteSession;
  readonly #keepMs: number;
  readonly #sessions = new Map<RemoteSession, NodeJS.Timeout>();

  constructor(newSession: () => RemoteSession, keepMs: number) {
    this.#newSession = newSession;
    this.#keepMs = keepMs;
  }

  get isEmpty(): boolean {
    return this.#sessions.size === 0;
  }

  /** One that was kept, or a new one that is to be opened. */
  take(): RemoteSession {
    for (const [session, timer] of this.#sessions) {
      clearTimeout(timer);
      this.#sessions.delete(session);
      if (session.isOpen) return session;
    }
    return this.#newSession();
  }

  keep(session: RemoteSession | undefined): void {
    if (session === undefined || !session.isOpen) return;
    const end = () => {
      this.#sessions.delete(session);
      session.end();
    };
    this.#sessions.set(session, setTimeout(end, this.#keepMs));
  }

  endAll(): void {
    for (const [session, timer] of this.#sessions) {
      clearTimeout(timer);
      session.end();
    }
    this.#sessions.clear();
  }
}
