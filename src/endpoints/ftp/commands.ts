/** The table of commands, and how a line becomes one. */
import { accessCommands } from "./access-commands.ts";
import type { Commands } from "./command.ts";
import { fileCommands } from "./file-commands.ts";
import type { FtpSession } from "./ftp-session.ts";
import { failureReply, type Reply, reply } from "./replies.ts";
import { transferCommands } from "./transfer-commands.ts";

/** Old names, which some clients still use. */
const otherNames: Readonly<Record<string, string>> = {
  XPWD: "PWD",
  XCWD: "CWD",
  XCUP: "CDUP",
  XMKD: "MKD",
  XRMD: "RMD",
};

const help: Commands = {
  HELP: {
    needs: "nothing",
    answer: () => ({
      code: 214,
      lines: ["These commands are supported:", Object.keys(commands).sort().join(" "), "End"],
    }),
  },
};

export const commands: Commands = { ...accessCommands, ...fileCommands, ...transferCommands, ...help };

/** The name of the command of a line, in capitals. */
export function verbOf(line: string): string {
  const verb = (/^[A-Za-z]{3,4}(?= |$)/.exec(line)?.[0] ?? "").toUpperCase();
  return otherNames[verb] ?? verb;
}

/** Runs one line and gives the reply. Never rejects. */
export async function runCommand(session: FtpSession, line: string): Promise<Reply | undefined> {
  const verb = verbOf(line);
  const command = Object.hasOwn(commands, verb) ? commands[verb] : undefined;
  if (command === undefined) return reply(500, "The command is not known; HELP lists those that are");
  const { control, options } = session.deps;
  if (command.needs === "security" && !control.isSecure && !options.allowPlain)
    return reply(530, "Sign-in needs TLS: send AUTH TLS first");
  if (command.needs === "signIn" && session.user === undefined)
    return reply(530, "Sign in with USER and PASS first");
  if (verb !== "RNTO") session.renameFrom = undefined;
  try {
    const argument = line.slice(line.split(" ", 1)[0]?.length ?? 0).replace(/^ /, "");
    return "run" in command ? await command.run(session, argument) : command.answer(session, argument);
  } catch (error) {
    return failureReply(error, session.log);
  }
}
