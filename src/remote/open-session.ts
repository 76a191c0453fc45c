import { seam } from "../lib/kill-point.ts";
import type { RemoteSession } from "./remote-session.ts";
import type { ServerSettings } from "./server-settings.ts";

/** What changes something on the server is a step at which tests can have the process die. */
function withSteps(session: RemoteSession): RemoteSession {
  return Object.assign(session, {
    upload: seam("remote", session.upload.bind(session)),
    rename: seam("remote", session.rename.bind(session)),
    move: seam("remote", session.move.bind(session)),
    remove: seam("remote", session.remove.bind(session)),
  });
}

/** Loads only what this server needs, as each of the libraries takes as long to load as everything else. Gives what makes sessions. */
export async function loadSession(server: ServerSettings): Promise<() => RemoteSession> {
  if (server.kind === "sftp") {
    const { openSftpClientSession } = await import("./sftp-client-session.ts");
    return () => withSteps(openSftpClientSession(server));
  }
  const { openFtpClientSession } = await import("./ftp-client-session.ts");
  return () => withSteps(openFtpClientSession(server));
}
