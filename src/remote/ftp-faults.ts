/** What the replies of an FTP server mean. Their numbers say little; where servers agree on words, these help. */
import { FTPError } from "basic-ftp";
import { messageOf, systemCodeOf } from "../lib/errors.ts";
import type { DeliveryFault } from "../domain/outbound/delivery-fault.ts";
import { networkFault } from "./network-faults.ts";
import { type FaultChanges, quoted, TransferFault } from "./transfer-fault.ts";

export type FtpAction =
  | "signing in"
  | "entering"
  | "looking"
  | "uploading"
  | "renaming"
  | "removing"
  | "listing"
  | "downloading";

type Meaning = readonly [DeliveryFault, string, FaultChanges?];

const noRight = "the user needs the right to write, rename and remove there";

/** By number; `undefined` where it depends on the words and the action. */
const replies: Readonly<Record<number, Meaning>> = {
  332: ["credentials", "it wants an account besides the user"],
  421: ["busy", "it accepts no more connections now"],
  425: ["connectionLost", "the data connection could not be made; check the firewall and the passive ports"],
  426: ["connectionLost", "the data connection broke"],
  430: ["credentials", "the sign-in is refused; check user and password"],
  434: ["unreachable", "the host behind it is not there"],
  450: ["busy", "the file is in use there", { scope: "delivery" }],
  452: ["noSpace", "there is no space left on its disk"],
  522: ["protocol", "it does not take our encryption of the data connection", { scope: "target" }],
  530: ["credentials", "the sign-in is refused; check user and password"],
  532: ["credentials", "it wants an account besides the user"],
  534: ["configuration", "it does not take this kind of encryption; check `tls`"],
  552: ["noSpace", "the user's space there is used up"],
};

const wantsTls = /encrypt|\bTLS\b|\bSSL\b/i;
const outOfSpace = /no space|disk full|quota|insufficient|writing to local file/i;
const forbidden = /permission|denied|not allowed|read-only|access/i;
const absent = /no such|not found|not exist|failed to change/i;

function meaningOf(code: number, text: string, action: FtpAction): Meaning {
  if (code === 530 && wantsTls.test(text)) return ["configuration", "it wants encryption; check `tls`"];
  if (outOfSpace.test(text)) return ["noSpace", "there is no space left on its disk"];
  const known = replies[code];
  if (known !== undefined) return known;
  if (code < 500) return ["busy", "it could not do it now", { scope: "delivery" }];
  if (code < 550) return ["protocol", "it does not know the command", { scope: "target" }];
  if (action === "entering" && !(forbidden.test(text) && !absent.test(text)))
    return [
      "missingFolder",
      "there is no such folder; make it, or correct the setting that names it (a target makes it with `makeFolders`)",
    ];
  const isRead = action === "listing" || action === "downloading";
  return ["notAllowed", isRead ? "the user needs the right to read there" : noRight];
}

/**
 * A server whose disk is full closes the data connection and says why on the other one. Which of the two comes first is
 * chance, and the library ends both at the first.
 */
const dataLost = "the data connection broke; a firewall may have cut it, or the server has no space left";

const texts: readonly (readonly [RegExp, DeliveryFault, string])[] = [
  [/Timeout/, "timeout", "it stopped responding"],
  [
    /FIN packet|closed connection|closed client|Client is closed|closed due to/,
    "connectionLost",
    "the connection broke",
  ],
];

/** Whether all that is known is that a connection ended. The library's streams go over the data connection alone. */
function isBroken(known: TransferFault | undefined, thrown: unknown, said: string): boolean {
  const isOfStream = systemCodeOf(thrown) === "ERR_STREAM_PREMATURE_CLOSE";
  const isOfData = isOfStream || (said.includes("(data socket)") && !said.includes("Timeout"));
  if (known === undefined) return isOfData;
  const { fault } = known.outcome;
  return fault === "protocol" || (fault === "connectionLost" && isOfData);
}

/** The fault that stands for what the library threw. `what` says the file or folder. */
export function ftpFault(
  thrown: unknown,
  where: string,
  {
    action,
    what,
    secrets = [],
  }: { action: FtpAction; what: string; secrets?: readonly (string | undefined)[] },
): TransferFault {
  if (thrown instanceof TransferFault) return thrown;
  const said = quoted(messageOf(thrown), secrets);
  const doing = `${where}: ${action}${what === "" ? "" : ` ${what}`}`;
  if (thrown instanceof FTPError) {
    const [fault, words, changes = {}] = meaningOf(thrown.code, said, action);
    return new TransferFault(fault, `${doing}: ${words}. It said: ${said}`, { ...changes, cause: thrown });
  }
  const known = networkFault(thrown, where);
  // Before the sign-in it is the wrong port; afterwards TLS has worked, and a server that falls over talks plainly.
  if (action !== "signing in" && isBroken(known, thrown, said)) {
    return new TransferFault("connectionLost", `${doing}: ${dataLost}. It was: ${said}`, { cause: thrown });
  }
  if (known !== undefined) return known;
  const [, fault, words] = texts.find(([pattern]) => pattern.test(said)) ?? [/./, "protocol", "it failed"];
  return new TransferFault(fault, `${doing}: ${words}. It was: ${said}`, { scope: "target", cause: thrown });
}
