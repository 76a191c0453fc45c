/** Faults of an SFTP session: statuses of the server, and what the library says of a broken connection. */
import { messageOf } from "../lib/errors.ts";
import type { DeliveryFault } from "../domain/outbound/delivery-fault.ts";
import { networkFault } from "./network-faults.ts";
import { quoted, TransferFault } from "./transfer-fault.ts";

/** Statuses of SFTP version 3. */
export const sftpStatus = {
  endOfFile: 1,
  noSuchFile: 2,
  permissionDenied: 3,
  failure: 4,
  unsupported: 8,
} as const;

/** The status or the name of a fault that the library gives. */
export function codeOf(thrown: unknown): string | number | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" || typeof thrown.code === "number" ? thrown.code : undefined;
}

const texts: readonly (readonly [RegExp, DeliveryFault, string])[] = [
  [/authentication methods failed/, "credentials", "the sign-in is refused; check user, password or key"],
  [
    /Cannot parse privateKey|[Ee]ncrypted .*key|passphrase/,
    "configuration",
    "the private key cannot be used",
  ],
  [/Keepalive timeout|Timed out while waiting/, "timeout", "it stopped responding"],
  [/no matching/, "protocol", "no common algorithm for encryption or host key"],
  [
    /[Cc]onnection lost|No SFTP connection|No response from server|Not connected|Unexpected (end|close)|ended/,
    "connectionLost",
    "the connection broke",
  ],
];

/** The fault that stands for what the library threw, when it is none of a single file. */
export function connectionFault(thrown: unknown, where: string): TransferFault | undefined {
  if (thrown instanceof TransferFault) return thrown;
  const known = networkFault(thrown, where);
  if (known !== undefined) return known;
  const message = messageOf(thrown);
  const found = texts.find(([pattern]) => pattern.test(message));
  if (found === undefined) return undefined;
  const [, fault, words] = found;
  const changes = fault === "protocol" ? { scope: "target" as const, cause: thrown } : { cause: thrown };
  return new TransferFault(fault, `${where}: ${words}. It was: ${quoted(message)}`, changes);
}

const reading = /^(listing|downloading) /;

function rightOf(doing: string): string {
  if (reading.test(doing)) return "The user needs the right to read there.";
  return "The user needs the right to write, rename and remove there.";
}

function remedyOf(doing: string): string {
  return reading.test(doing) ? "Check that it exists." : "Make the folder, or set `makeFolders`.";
}

/** The fault of a call on a file or folder. `doing` says what was tried, as in "uploading x". */
export function callFault(thrown: unknown, where: string, doing: string): TransferFault {
  const connection = connectionFault(thrown, where);
  if (connection !== undefined) return connection;
  const code = codeOf(thrown);
  const words = `${where}: ${doing}: ${quoted(messageOf(thrown))}`;
  if (code === sftpStatus.permissionDenied) {
    return new TransferFault("notAllowed", `${words}. ${rightOf(doing)}`);
  }
  if (code === sftpStatus.noSuchFile || code === "ENOENT") {
    return new TransferFault("missingFolder", `${words}. ${remedyOf(doing)}`);
  }
  if (code === sftpStatus.failure) {
    // What a server says to everything that has no status: a full disk, a quota, a name in the way.
    return new TransferFault("refused", `${words}. The log of the server may say why.`, {
      isPermanent: false,
    });
  }
  return new TransferFault("protocol", `${words}.`, { cause: thrown });
}
