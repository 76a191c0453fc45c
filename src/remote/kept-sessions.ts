/** The sessions of a client with one server. Those that no job uses are kept for some seconds for the next one. */
import { seam } from "../lib/kill-point.ts";
import type { RemoteSession } from "./remote-session.ts";
import type { ServerSettings } from "./server-settings.ts";

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

/** Calls that change something on the server are steps at which tests can end the process. */
function withSteps(session: RemoteSession): RemoteSession {
  return Object.assign(session, {
    upload: seam("remote", session.upload.bind(session)),
    rename: seam("remote", session.rename.bind(session)),
    move: seam("remote", session.move.bind(session)),
    remove: seam("remote", session.remove.bind(session)),
  });
}

/** Gives what makes sessions. Loads only the library of this server: each takes as long to load as everything else. */
export async function loadSession(server: ServerSettings): Promise<() => RemoteSession> {
  if (server.kind === "sftp") {
    const { SftpClientSession } = await import("./sftp-client-session.ts");
    return () => withSteps(new SftpClientSession(server));
  }
  const { FtpClientSession } = await import("./ftp-client-session.ts");
  return () => withSteps(new FtpClientSession(server));
}
