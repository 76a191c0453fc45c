/** Commands about folders and names. The exchange decides about rights, names and what is shown. */
import type { Command, Commands } from "./command.ts";
import type { FtpSession } from "./ftp-session.ts";
import { factsOf, secondsOfTimeValue, timeValueOf } from "./listing.ts";
import { Refusal, type Reply, reply } from "./replies.ts";

/** A path in a reply of 257: in quotes, with its own quotes doubled. */
function quoted(path: string): string {
  return `"${path.replaceAll('"', '""')}"`;
}

/** A command about the path that its argument names. */
function onPath(run: (session: FtpSession, path: string) => Promise<Reply>): Command {
  return {
    needs: "signIn",
    run: async (session, argument) => await run(session, await session.pathNamed(argument)),
  };
}

async function changeFolder(session: FtpSession, path: string): Promise<Reply> {
  const { isDirectory } = await session.exchange.stat(path);
  if (!isDirectory) throw new Refusal(550, "This is a file, not a folder");
  session.folder = path;
  return reply(250, `Now in ${path}`);
}

async function fileAt(session: FtpSession, path: string) {
  const attributes = await session.exchange.stat(path);
  if (attributes.isDirectory) throw new Refusal(550, "This is a folder, not a file");
  return attributes;
}

async function setTime(session: FtpSession, time: string, argument: string): Promise<Reply> {
  const modifiedSeconds = secondsOfTimeValue(time);
  if (modifiedSeconds === undefined) throw new Refusal(501, "The time is not one of the form YYYYMMDDHHMMSS");
  const path = await session.pathNamed(argument);
  // The exchange keeps it for own uploads, to show it, and ignores it for the server's files, as over SFTP.
  await session.exchange.change(path, { modifiedSeconds });
  return reply(213, `Modify=${timeValueOf(modifiedSeconds)}; ${path}`);
}

/** `MDTM name` asks. `MDTM time name` sets, with old clients; there is no file of such a name where hosts put files. */
async function modificationTime(session: FtpSession, argument: string): Promise<Reply> {
  const [, time, name] = /^(\d{14}(?:\.\d+)?) (.+)$/.exec(argument) ?? [];
  if (time !== undefined && name !== undefined) return await setTime(session, time, name);
  const { modifiedSeconds } = await fileAt(session, await session.pathNamed(argument));
  return reply(213, timeValueOf(modifiedSeconds));
}

async function beginRename(session: FtpSession, path: string): Promise<Reply> {
  await session.exchange.stat(path);
  session.renameFrom = path;
  return reply(350, "Send the new name with RNTO");
}

async function endRename(session: FtpSession, argument: string): Promise<Reply> {
  const from = session.renameFrom;
  if (from === undefined) throw new Refusal(503, "Send the old name with RNFR first");
  session.renameFrom = undefined;
  const to = await session.pathNamed(argument);
  await session.exchange.rename(from, to, { mayReplace: false });
  return reply(250, `Renamed to ${to}`);
}

async function describe(session: FtpSession, argument: string): Promise<Reply> {
  const path = await session.pathOf(argument);
  const attributes = await session.exchange.stat(path);
  const facts = factsOf(attributes, session.exchange.rightsAt(path), session.facts);
  return { code: 250, lines: ["Listing", `${facts}${path}`, "End"] };
}

export const fileCommands: Commands = {
  PWD: { needs: "signIn", answer: ({ folder }) => reply(257, `${quoted(folder)} is the folder`) },
  CWD: onPath(changeFolder),
  CDUP: { needs: "signIn", run: async (session) => changeFolder(session, await session.pathNamed("..")) },
  SIZE: onPath(async (session, path) => reply(213, String((await fileAt(session, path)).size))),
  MDTM: { needs: "signIn", run: modificationTime },
  MFMT: {
    needs: "signIn",
    run: (session, argument) => {
      const at = argument.indexOf(" ");
      return setTime(session, argument.slice(0, Math.max(at, 0)), argument.slice(at + 1));
    },
  },
  MLST: { needs: "signIn", run: describe },
  RNFR: onPath(beginRename),
  RNTO: { needs: "signIn", run: endRename },
  DELE: onPath(async ({ exchange }, path) => {
    await exchange.remove(path);
    return reply(250, `Deleted ${path}`);
  }),
  MKD: onPath(async ({ exchange }, path) => {
    await exchange.makeDirectory(path);
    return reply(257, `${quoted(path)} was made`);
  }),
  RMD: onPath(async ({ exchange }, path) => {
    await exchange.removeDirectory(path);
    return reply(250, "Removed");
  }),
};
