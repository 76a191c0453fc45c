/** Commands about data connections and transfers. */
import { isIPv4, isIPv6 } from "node:net";
import { createAddressSet } from "../../lib/address-range.ts";
import type { Command, Commands } from "./command.ts";
import type { FtpSession } from "./ftp-session.ts";
import { factListing, longListing, nameListing } from "./listing.ts";
import { Refusal, type Reply, reply } from "./replies.ts";
import { receiveFile, sendFile, sendListing, type UploadPlace } from "./transfers.ts";

const thisMachine = createAddressSet(["127.0.0.0/8", "::1/128"]);

async function enterPassive(session: FtpSession): Promise<Reply> {
  const { control, options } = session.deps;
  if (session.isExtendedOnly) throw new Refusal(501, "After EPSV ALL only EPSV is accepted");
  if (!isIPv4(control.localAddress)) throw new Refusal(522, "PASV is for IPv4; use EPSV");
  const port = await session.listen();
  const isFar = !thisMachine.has(control.address);
  const address = (isFar ? options.publicAddress : undefined) ?? control.localAddress;
  const numbers = [...address.split("."), port >> 8, port & 255].join(",");
  return reply(227, `Entering Passive Mode (${numbers})`);
}

async function enterExtendedPassive(session: FtpSession, argument: string): Promise<Reply> {
  if (argument.toUpperCase() === "ALL") {
    session.isExtendedOnly = true;
    return reply(200, "Only EPSV is accepted from now on");
  }
  const family = isIPv6(session.deps.control.localAddress) ? "2" : "1";
  if (argument !== "" && argument !== family)
    throw new Refusal(522, `Use the protocol of this connection (${family})`);
  return reply(229, `Entering Extended Passive Mode (|||${await session.listen()}|)`);
}

function refuseActive(): Reply {
  return reply(502, "Active mode is not supported: use PASV or EPSV");
}

function setType(session: FtpSession, argument: string): Reply {
  const type = argument.toUpperCase();
  if (/^A( N)?$/.test(type)) {
    session.type = "A";
    return reply(200, "Type is A; bytes are transferred unchanged");
  }
  if (!/^(I|L ?8)$/.test(type)) throw new Refusal(504, "Only types A, I and L 8 are supported");
  session.type = "I";
  return reply(200, "Type is I");
}

function only(letter: string, what: string): Commands[string] {
  return {
    needs: "nothing",
    answer: (_session, argument) => {
      if (argument.toUpperCase() === letter) return reply(200, `${what} is ${letter}`);
      throw new Refusal(504, `Only ${what.toLowerCase()} ${letter} is supported`);
    },
  };
}

/** A number of bytes; undefined when the text is none. */
function bytesOf(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function restart(session: FtpSession, argument: string): Reply {
  const offset = bytesOf(argument);
  if (offset === undefined) throw new Refusal(501, "REST takes a number of bytes");
  session.restartAt = offset;
  return reply(350, `The next transfer begins at ${offset}`);
}

function announce(session: FtpSession, argument: string): Reply {
  const bytes = bytesOf(argument.split(" ")[0] ?? "");
  if (bytes === undefined) throw new Refusal(501, "ALLO takes a number of bytes");
  session.announcedBytes = bytes;
  return reply(200, `${bytes} bytes are expected of the next upload`);
}

async function store(session: FtpSession, argument: string): Promise<Reply> {
  const { restartAt } = session;
  const place: UploadPlace = restartAt === 0 ? { kind: "whole" } : { kind: "from", offset: restartAt };
  return await receiveFile(session, await session.pathNamed(argument), place);
}

/** The argument behind options such as `-la`, which change nothing here. */
function withoutOptions(argument: string): string {
  return argument.replace(/^(?:-[A-Za-z0-9]+(?: +|$))+/, "");
}

function pathsOf(session: FtpSession): (argument: string) => Promise<string> {
  return (argument) => session.pathOf(argument);
}

/** A command after which, refused or not, REST and ALLO count no more. */
function transfer(run: (session: FtpSession, argument: string) => Promise<Reply>): Command {
  return {
    needs: "signIn",
    run: async (session, argument) => {
      try {
        return await run(session, argument);
      } finally {
        session.forgetAnnouncements();
      }
    },
  };
}

export const transferCommands: Commands = {
  PASV: { needs: "signIn", run: enterPassive },
  EPSV: { needs: "signIn", run: enterExtendedPassive },
  PORT: { needs: "signIn", answer: refuseActive },
  EPRT: { needs: "signIn", answer: refuseActive },
  TYPE: { needs: "nothing", answer: setType },
  MODE: only("S", "Mode"),
  STRU: only("F", "Structure"),
  REST: { needs: "signIn", answer: restart },
  ALLO: { needs: "signIn", answer: announce },
  // It took effect when it came, out of the order of the others.
  ABOR: { needs: "nothing", answer: () => reply(226, "Nothing is being transferred any more") },
  RETR: transfer(async (session, argument) => sendFile(session, await session.pathNamed(argument))),
  STOR: transfer(store),
  APPE: transfer(async (session, argument) =>
    receiveFile(session, await session.pathNamed(argument), { kind: "end" }),
  ),
  STOU: { needs: "signIn", answer: () => reply(502, "Files come under their own names here: use STOR") },
  SITE: { needs: "signIn", answer: () => reply(502, "SITE commands are not supported") },
  LIST: transfer((session, argument) =>
    sendListing(session, () => longListing(session.exchange, withoutOptions(argument), pathsOf(session))),
  ),
  NLST: transfer((session, argument) =>
    sendListing(session, () => nameListing(session.exchange, withoutOptions(argument), pathsOf(session))),
  ),
  MLSD: transfer(async (session, argument) => {
    const path = await session.pathOf(argument);
    return await sendListing(session, () => factListing(session.exchange, path, session.facts));
  }),
};
