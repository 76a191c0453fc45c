import type { FtpSession } from "./ftp-session.ts";
import type { Reply } from "./replies.ts";

/** Both give the reply, undefined when all has been said, and throw what `failureReply` turns into one. */
type Done =
  | { run(session: FtpSession, argument: string): Promise<Reply | undefined> }
  /** For what has nothing to wait for. */
  | { answer(session: FtpSession, argument: string): Reply | undefined };

export type Command = Done & {
  /** What must have happened before: nothing, TLS (unless `ftp.allowPlain`), or a sign-in. */
  readonly needs: "nothing" | "security" | "signIn";
};

export type Commands = Readonly<Record<string, Command>>;
