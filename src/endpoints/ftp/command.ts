import type { FtpSession } from "./ftp-session.ts";
import type { Reply } from "./replies.ts";

export interface Command {
  /** What must have happened before: nothing, TLS (unless `ftp.allowPlain`), or a sign-in. */
  readonly needs: "nothing" | "security" | "signIn";
  /** Does it and gives the reply; undefined when all has been said. Throws what `failureReply` turns into one. */
  run(session: FtpSession, argument: string): Promise<Reply | undefined> | Reply | undefined;
}

export type Commands = Readonly<Record<string, Command>>;
