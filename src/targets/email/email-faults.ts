/** What the errors of nodemailer mean for a message (docs/messages.md). */
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { networkFault } from "../../remote/network-faults.ts";
import { quoted, TransferFault } from "../../remote/transfer-fault.ts";

/** What is of interest in errors of nodemailer. */
interface SmtpError {
  readonly code?: unknown;
  /** What `code` was before nodemailer put its own word there. */
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly response?: unknown;
  readonly responseCode?: unknown;
}

export interface SmtpContext {
  /** Host and port. */
  readonly where: string;
  readonly secrets: readonly (string | undefined)[];
}

function saidBy({ response }: SmtpError, { secrets }: SmtpContext): string {
  const said = typeof response === "string" ? quoted(response, secrets) : "";
  return said === "" ? "" : ` It said: ${said}`;
}

function signInFault(status: number, where: string, said: string): TransferFault {
  if (status >= 400 && status < 500) return new TransferFault("busy", `${where}: no sign-in now.${said}`);
  return new TransferFault(
    "credentials",
    `${where}: the sign-in is refused; check user and password.${said}`,
  );
}

/** An answer of the server to one step of a message. */
function answerFault(error: SmtpError, status: number, context: SmtpContext): TransferFault {
  const { where } = context;
  const said = saidBy(error, context);
  const command = String(error.command ?? "").toUpperCase();
  if (status === 530 || status === 534 || status === 535 || command.startsWith("AUTH"))
    return signInFault(status, where, said);
  // 421 is the whole server that closes; other 4xx are about this message: a grey list, a full mailbox.
  if (status === 421) return new TransferFault("busy", `${where}: it accepts nothing now.${said}`);
  const step = command === "" ? "the message" : command;
  if (status < 500)
    return new TransferFault("busy", `${where}: not now, at ${step}.${said}`, { scope: "delivery" });
  if (command === "MAIL FROM") {
    const words = "it does not take messages of this sender; check `from`, and what the user may send";
    return new TransferFault("notAllowed", `${where}: ${words}.${said}`);
  }
  if (command === "RCPT TO" || command === "DATA" || command === "")
    return new TransferFault("refused", `${where}: it refuses the message for good, at ${step}.${said}`);
  return new TransferFault("protocol", `${where}: it refuses ${step}.${said}`, { scope: "target" });
}

function wordsOf(code: string): TransferFault["outcome"]["fault"] | undefined {
  switch (code) {
    case "ECONNECTION":
      return "connectionLost";
    case "ETIMEDOUT":
      return "timeout";
    case "EDNS":
      return "unreachable";
    case "EAUTH":
    case "ENOAUTH":
      return "credentials";
    default:
      return undefined;
  }
}

/** A fault for whatever sending has thrown. Faults of sockets and TLS are those of all targets. */
export function smtpFault(thrown: unknown, context: SmtpContext): TransferFault {
  if (thrown instanceof TransferFault) return thrown;
  const { where, secrets } = context;
  const error: SmtpError = typeof thrown === "object" && thrown !== null ? thrown : {};
  const status = typeof error.responseCode === "number" ? error.responseCode : 0;
  const original = typeof error.originalCode === "string" ? { code: error.originalCode } : undefined;
  const known = networkFault(original, where) ?? networkFault(thrown, where);
  const code = systemCodeOf(thrown) ?? "";
  const words = quoted(messageOf(thrown), secrets);
  if (code === "ETLS" && known === undefined) {
    const message = `${where}: no STARTTLS, so nothing is sent (${words}); check the port, or set tls: implicit or none.`;
    return new TransferFault("protocol", message, { scope: "target", cause: thrown });
  }
  if (status >= 400 && code !== "ECONNECTION") return answerFault(error, status, context);
  // Its own time-out of a connection has the code of the system's, which says less.
  if (code === "ETIMEDOUT") return new TransferFault("timeout", `${where}: ${words}.`, { cause: thrown });
  if (known !== undefined) return known;
  const fault = wordsOf(code) ?? "protocol";
  const said = saidBy(error, context);
  return new TransferFault(fault, `${where}: ${words}.${said}`, { scope: "target", cause: thrown });
}
