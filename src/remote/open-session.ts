import type { RemoteSession } from "./remote-session.ts";
import type { ServerSettings } from "./server-settings.ts";

/** Loads only what this server needs, as each of the libraries takes as long to load as everything else. Gives what makes sessions. */
export async function loadSession(server: ServerSettings): Promise<() => RemoteSession> {
  if (server.kind === "sftp") {
    const { openSftpSession } = await import("./sftp-session.ts");
    return () => openSftpSession(server);
  }
  const { openFtpSession } = await import("./ftp-session.ts");
  return () => openFtpSession(server);
}
