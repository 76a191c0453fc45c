/** Replies of the control connection, and what the refusals of the exchange become. */
import { ExchangeError, type ExchangeErrorKind, refusalText } from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";

export interface Reply {
  /** Three digits of RFC 959. */
  readonly code: number;
  readonly lines: readonly [string, ...string[]];
}

/** A reply of one line. */
export function reply(code: number, text: string): Reply {
  return { code, lines: [text] };
}

/** A fault of a data connection, with the code of the reply; the message is safe to show to the client. */
export class DataFault extends Error {
  readonly code: 425 | 426 | 522;

  constructor(code: 425 | 426 | 522, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "DataFault";
    this.code = code;
  }
}

/** A command that is refused with this reply. */
export class Refusal extends Error {
  readonly reply: Reply;

  constructor(code: number, text: string) {
    super(text);
    this.name = "Refusal";
    this.reply = reply(code, text);
  }
}

/** The bytes of a reply. Lines in the middle are indented, so that none looks like the last one. */
export function renderReply({ code, lines }: Reply): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a name must not be able to end the line
  const clean = lines.map((line) => line.replaceAll(/[\u0000-\u001f\u007f]/g, "?"));
  const last = clean.length - 1;
  if (last === 0) return `${code} ${clean[0]}\r\n`;
  return clean
    .map((line, at) => (at === last ? `${code} ${line}` : at === 0 ? `${code}-${line}` : ` ${line}`))
    .map((line) => `${line}\r\n`)
    .join("");
}

const refusalOfKind: Record<ExchangeErrorKind, { readonly code: number; readonly text: string }> = {
  noSuchFile: { code: 550, text: "No such file" },
  permissionDenied: { code: 550, text: "Permission denied" },
  alreadyExists: { code: 553, text: "File already exists" },
  badName: { code: 553, text: "Bad file name" },
  notADirectory: { code: 550, text: "Not a directory" },
  isADirectory: { code: 550, text: "Is a directory" },
  tooLarge: { code: 552, text: "File too large" },
  noSpace: { code: 452, text: "No space left" },
  tooManyWaiting: { code: 450, text: "Too many files are waiting" },
  unsupported: { code: 504, text: "Operation unsupported" },
  failure: { code: 451, text: "Failure" },
};

/** The reply to a command that failed. Faults other than refusals are logged and hidden from the client. */
export function failureReply(thrown: unknown, log: Logger): Reply {
  if (thrown instanceof Refusal) return thrown.reply;
  if (thrown instanceof DataFault) return reply(thrown.code, thrown.message);
  if (thrown instanceof ExchangeError) {
    const { code, text } = refusalOfKind[thrown.kind];
    if (thrown.kind === "failure" && thrown.cause !== undefined)
      log.warn({ err: thrown.cause, reason: thrown.message }, "ftp command failed");
    return reply(code, refusalText(text, thrown.message));
  }
  log.error({ err: thrown }, `ftp command failed: ${messageOf(thrown)}`);
  return reply(451, "Failure: internal error");
}
