import type { FtpSession } from "./ftp-session.ts";
import type { Reply } from "./replies.ts";

/** Both return the reply, undefined when it has been sent, and throw what `failureReply` turns into one. */
type Done =
  | { run(session: FtpSession, argument: string): Promise<Reply | undefined> }
  /** For commands that wait for nothing. */
  | { answer(session: FtpSession, argument: string): Reply | undefined };

export type Command = Done & {
  /** What has to come before: nothing, TLS (unless `ftp.allowPlain`), or a sign-in. */
  readonly needs: "nothing" | "security" | "signIn";
};

export type Commands = Readonly<Record<string, Command>>;
