/** The session with the server of one remote: opened when it is needed, and kept for some seconds for the next call. */
import type { RemoteSession } from "../../remote/remote-session.ts";
import type { FetchSettings } from "./fetch-messages.ts";

const noStep = (): void => undefined;

export class KeptSession {
  readonly #settings: FetchSettings;
  readonly #newSession: () => RemoteSession;
  #session: RemoteSession | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor(settings: FetchSettings, newSession: () => RemoteSession) {
    this.#settings = settings;
    this.#newSession = newSession;
  }

  /** A session in the remote's folder. A kept connection that turns out to be dead is replaced by a new one, once. */
  async enter(): Promise<RemoteSession> {
    clearTimeout(this.#idle);
    const place = { directory: this.#settings.directory, inner: undefined, makesFolders: false };
    const kept = this.#session;
    if (kept?.isOpen === true) {
      try {
        await kept.enter(place);
        return kept;
      } catch {
        kept.destroy(); // what is wrong is said by the new one
      }
    }
    const session = this.#newSession();
    this.#session = session;
    await session.open(noStep);
    await session.enter(place);
    return session;
  }

  /** The call is done: another may come. */
  keep(): void {
    const session = this.#session;
    if (session?.isOpen !== true) return;
    this.#idle = setTimeout(() => session.end(), this.#settings.server.times.keepMs);
  }

  /** Cuts the connection: what is under way rejects. */
  cut(): void {
    this.#session?.destroy();
  }

  /** No other call comes. */
  end(): void {
    clearTimeout(this.#idle);
    this.#session?.end();
  }
}
