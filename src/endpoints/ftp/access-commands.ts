/** Commands about the connection: TLS, sign-in, and what clients ask about the server. */
import { exchangeCompaniesOf } from "../../operations/users/exchange-companies.ts";
import type { SignedInUser } from "../../sign-in/sign-in.ts";
import type { Commands } from "./command.ts";
import type { FtpSession } from "./ftp-session.ts";
import { type FactName, factNames } from "./listing.ts";
import { Refusal, type Reply, reply } from "./replies.ts";

/** Longer names belong to nobody. */
const maxUserNameLength = 256;

async function startTls(session: FtpSession, argument: string): Promise<undefined> {
  const { control, tls } = session.deps;
  if (!/^(TLS|TLS-C|SSL)$/i.test(argument)) throw new Refusal(504, "Only AUTH TLS is supported");
  if (tls === undefined) throw new Refusal(502, "TLS is not set up on this server");
  if (control.isSecure) throw new Refusal(503, "TLS is already in use");
  if (session.user !== undefined) throw new Refusal(503, "AUTH TLS comes before the sign-in");
  // A name that came in clear may come from somebody else.
  session.userName = undefined;
  await control.startTls(reply(234, "TLS begins"));
}

function setProtection(session: FtpSession, argument: string): Reply {
  const { control, options } = session.deps;
  if (!control.isSecure) throw new Refusal(503, "PROT comes after AUTH TLS");
  const level = argument.toUpperCase();
  if (level === "C" && !options.allowPlain)
    throw new Refusal(534, "Data connections need TLS here; send PROT P");
  if (level !== "P" && level !== "C")
    throw new Refusal(536, "Only PROT P is supported, and PROT C where it is allowed");
  session.isDataProtected = level === "P";
  return reply(200, `Data connections ${level === "P" ? "use" : "do not use"} TLS`);
}

function nameUser(session: FtpSession, argument: string): Reply {
  if (session.user !== undefined)
    throw new Refusal(503, "You are signed in; connect again to change the user");
  session.userName = argument;
  return reply(331, "Send the password with PASS");
}

/** Counts a failed sign-in; ends the connection after too many. */
function refuse(session: FtpSession, message: string, isBanned: boolean): Reply | undefined {
  session.failedAttempts += 1;
  session.userName = undefined;
  const isOverLimit = session.failedAttempts >= session.deps.options.maxAuthAttempts;
  if (isOverLimit)
    session.deps.clientLog.report(
      "warn",
      { attempts: session.failedAttempts },
      "ftp: too many attempts to sign in",
    );
  if (!isOverLimit && !isBanned) return reply(530, message);
  session.deps.control.send(reply(530, message));
  session.deps.control.leave(reply(421, "Too many failed attempts to sign in"));
  return undefined;
}

function letIn(session: FtpSession, user: SignedInUser): Reply | undefined {
  const { control, exchange } = session.deps;
  if (!control.signIn()) {
    const { userName } = user;
    session.deps.clientLog.report(
      "warn",
      { user: userName },
      "ftp sign-in refused: too many users are signed in",
    );
    control.leave(reply(421, "Too many users are signed in; try again in a few minutes"));
    return undefined;
  }
  session.exchangeSession = exchange.openSession({
    userId: user.userId,
    userName: user.userName,
    companies: exchangeCompaniesOf(user),
    channel: "ftp",
    address: control.address,
    connectionId: control.connectionId,
  });
  session.user = user;
  session.deps.clientLog.signedIn(user.userName);
  session.log.info({ tls: control.isSecure }, "ftp signed in");
  return reply(230, "Signed in");
}

async function signIn(session: FtpSession, password: string): Promise<Reply | undefined> {
  const { userName } = session;
  if (session.user !== undefined) throw new Refusal(503, "You are signed in already");
  if (userName === undefined) throw new Refusal(503, "Send the name with USER first");
  const { control, signIn: check } = session.deps;
  const shown = userName.slice(0, 64);
  if (userName.length > maxUserNameLength) return refuse(session, "The user name is too long", false);
  const attempt = { userName, password, address: control.address, protocol: "ftp" } as const;
  const outcome = await session.whileChecked(() => check.withPassword(attempt, control.gone));
  if (outcome.kind === "refused") {
    // The sign-in itself has a line in the log with the reason.
    session.log.debug({ user: shown, reason: outcome.message }, "ftp sign-in refused");
    return refuse(session, outcome.message, outcome.code === "tooManyAttempts");
  }
  if (exchangeCompaniesOf(outcome.user).length === 0) {
    const reason = "the user has the role DI_Integration in no company";
    session.deps.clientLog.report("warn", { user: shown, reason }, "ftp sign-in refused");
    return refuse(session, "This user may not exchange files", false);
  }
  return control.gone.aborted ? undefined : letIn(session, outcome.user);
}

function features({ deps, facts }: FtpSession): Reply {
  const shownFacts = factNames.map((name) => `${name}${facts.has(name) ? "*" : ""};`).join("");
  const tls = deps.tls === undefined ? [] : ["AUTH TLS", "PBSZ", "PROT"];
  const others = [
    "EPSV",
    "MDTM",
    "MFMT",
    `MLST ${shownFacts}`,
    "PASV",
    "REST STREAM",
    "SIZE",
    "TVFS",
    "UTF8",
  ];
  return { code: 211, lines: ["Features:", ...[...tls, ...others].sort(), "End"] };
}

function setOption(session: FtpSession, argument: string): Reply {
  const [name = "", value = ""] = argument.split(" ", 2);
  if (/^UTF-?8$/i.test(name)) {
    if (/^(ON)?$/i.test(value)) return reply(200, "Names are UTF-8, always");
    throw new Refusal(501, "Names are UTF-8, always");
  }
  if (name.toUpperCase() !== "MLST") throw new Refusal(501, "There is no such option");
  const asked = value.toLowerCase().split(";");
  const chosen = factNames.filter((fact: FactName) => asked.includes(fact));
  session.facts = new Set(chosen);
  return reply(200, `MLST OPTS ${chosen.map((fact) => `${fact};`).join("")}`);
}

function status(session: FtpSession, argument: string): Reply {
  if (argument !== "") throw new Refusal(504, "STAT takes no name here; use LIST or MLST");
  const { control } = session.deps;
  const lines = [
    control.isSecure ? "The control connection uses TLS" : "The control connection does not use TLS",
    session.isDataProtected ? "Data connections use TLS" : "Data connections do not use TLS",
    session.user === undefined ? "Nobody is signed in" : `Signed in, in ${session.folder}`,
  ];
  return { code: 211, lines: ["dropgate FTP", ...lines, "End"] };
}

export const accessCommands: Commands = {
  AUTH: { needs: "nothing", run: startTls },
  PBSZ: {
    needs: "nothing",
    answer: ({ deps }, argument) => {
      if (!deps.control.isSecure) throw new Refusal(503, "PBSZ comes after AUTH TLS");
      if (!/^\d{1,10}$/.test(argument)) throw new Refusal(501, "PBSZ takes a number");
      return reply(200, "PBSZ=0");
    },
  },
  PROT: { needs: "nothing", answer: setProtection },
  CCC: { needs: "nothing", answer: () => reply(534, "The control connection keeps its TLS") },
  USER: { needs: "security", answer: nameUser },
  PASS: { needs: "security", run: signIn },
  ACCT: { needs: "nothing", answer: () => reply(202, "There are no accounts here") },
  QUIT: {
    needs: "nothing",
    answer: ({ deps }) => {
      deps.control.leave(reply(221, "Good-bye"));
      return undefined;
    },
  },
  NOOP: { needs: "nothing", answer: () => reply(200, "Still here") },
  CLNT: { needs: "nothing", answer: () => reply(200, "Noted") },
  // Clients that read UNIX here send files as they are, without translating ends of lines.
  SYST: { needs: "nothing", answer: () => reply(215, "UNIX Type: L8") },
  FEAT: { needs: "nothing", answer: features },
  OPTS: { needs: "nothing", answer: setOption },
  STAT: { needs: "nothing", answer: status },
};
