import { systemCodeOf } from "../lib/errors.ts";
import { ExchangeError, type ExchangeErrorKind } from "./exchange-session.ts";

const full = "The server's disk is full; what was received so far is kept and can be resumed";
const closed = "The server cannot write to this folder; ask its administrator";
const none = "No such file";

/** What a system error means to a client. Texts name no path of the machine; that stays in the cause. */
const faults: Readonly<Record<string, readonly [ExchangeErrorKind, string]>> = {
  ENOENT: ["noSuchFile", none],
  ENOTDIR: ["noSuchFile", none],
  // Links are not part of the tree.
  ELOOP: ["noSuchFile", none],
  EEXIST: ["alreadyExists", "A file of this name exists already"],
  EISDIR: ["isADirectory", "This is a folder"],
  ENAMETOOLONG: ["badName", "The name is too long"],
  ENOSPC: ["noSpace", full],
  EDQUOT: ["noSpace", full],
  EFBIG: ["tooLarge", "The file is larger than the server's disk allows"],
  EROFS: ["failure", closed],
  EACCES: ["failure", closed],
  EPERM: ["failure", closed],
};

/** Translates what the disk threw, once; an ExchangeError stays what it is. */
export function exchangeErrorOf(thrown: unknown): ExchangeError {
  if (thrown instanceof ExchangeError) return thrown;
  const code = systemCodeOf(thrown) ?? "";
  const known = faults[code];
  if (known !== undefined) return new ExchangeError(known[0], known[1], thrown);
  return new ExchangeError(
    "failure",
    `The server could not do this${code === "" ? "" : ` (${code})`}`,
    thrown,
  );
}

export const noSuchFile = (): ExchangeError => new ExchangeError("noSuchFile", none);

export const denied = (message: string): ExchangeError => new ExchangeError("permissionDenied", message);
