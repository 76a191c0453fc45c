/** Turns what the exchange refuses into SFTP statuses. Texts begin with the words that clients look for. */
import { ExchangeError, type ExchangeErrorKind, refusalText } from "../../exchange/exchange-session.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { type Reply, statusReply } from "./reply.ts";
import { MalformedPacket } from "./request.ts";
import { type StatusCode, statusCode } from "./wire.ts";

interface Status {
  readonly code: StatusCode;
  readonly text: string;
}

const statusOfKind: Record<ExchangeErrorKind, Status> = {
  noSuchFile: { code: statusCode.noSuchFile, text: "No such file" },
  permissionDenied: { code: statusCode.permissionDenied, text: "Permission denied" },
  // Version 3 of the protocol has no code for it: clients look for this word.
  alreadyExists: { code: statusCode.failure, text: "Failure" },
  badName: { code: statusCode.failure, text: "Bad file name" },
  notADirectory: { code: statusCode.noSuchFile, text: "Not a directory" },
  isADirectory: { code: statusCode.failure, text: "Is a directory" },
  tooLarge: { code: statusCode.failure, text: "File too large" },
  noSpace: { code: statusCode.failure, text: "No space left" },
  tooManyWaiting: { code: statusCode.failure, text: "Too many files are waiting" },
  unsupported: { code: statusCode.unsupported, text: "Operation unsupported" },
  failure: { code: statusCode.failure, text: "Failure" },
};

/** The answer to a request that failed. What is not a refusal of the exchange is logged and hidden from the client. */
export function failureReply(id: number, thrown: unknown, log: Logger): Reply {
  if (thrown instanceof ExchangeError) {
    const { code, text } = statusOfKind[thrown.kind];
    // The client learns of every refusal; only what is not its own doing is the operator's business.
    if (thrown.kind === "failure" && thrown.cause !== undefined) {
      log.warn({ err: thrown.cause, reason: thrown.message }, "sftp request failed");
    }
    return statusReply(id, code, refusalText(text, thrown.message));
  }
  if (thrown instanceof MalformedPacket) {
    return statusReply(id, statusCode.badMessage, refusalText("Bad message", thrown.message));
  }
  log.error({ err: thrown }, `sftp request failed: ${messageOf(thrown)}`);
  return statusReply(id, statusCode.failure, "Failure: internal error");
}
