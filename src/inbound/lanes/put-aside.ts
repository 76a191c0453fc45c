/** Which files are put aside and read again later instead of being decided now, why, and how much later. */
import type { Fault } from "../../lib/errors.ts";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { isOwnFault, type StallReason, type WaitingFile } from "./waiting-file.ts";

export interface PutAsideSettings {
  readonly settleMs: number;
  readonly incompleteGraceMs: number;
  readonly giveUpAfterMs: number;
}

/** The file is put aside for this long. */
export interface PutAside {
  readonly reason: StallReason;
  /** For the log and for `explain`; it names no path. */
  readonly message: string;
  readonly pauseMs: number;
}

const longestPauseMs = 60_000;
/** A link or a device does not become a file by waiting. */
const finalSystemCodes: ReadonlySet<string> = new Set(["ENOTREG", "ELOOP"]);
/** Of this process or machine, not of the file. */
const machineCodes: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "ENOMEM"]);

type Unreadable = PreparedDocument & { readonly kind: "unreadable" };

/** Each pause is twice the one before, so that a thousand such files do not keep the parser busy. */
export function growingPause(firstMs: number, looks: number): number {
  return Math.min(firstMs * 2 ** looks, longestPauseMs);
}

function reasonOf(unreadable: Unreadable): StallReason {
  if (unreadable.isOfStore === true) return "store";
  if (unreadable.systemCode === "internal") return "internal";
  return machineCodes.has(unreadable.systemCode) ? "machine" : "unreadable";
}

/** Whether a fault may be over in a moment, so that the file is worth another attempt at once. */
export function canBeReadSoon(prepared: PreparedDocument): boolean {
  return prepared.kind === "unreadable" && !finalSystemCodes.has(prepared.systemCode);
}

/**
 * Whether the file is put aside, or undefined when it is to be decided about as it is. What cannot be read is given up after
 * `giveUpAfterMs`, unless this installation is at fault; files of folders that end in the middle wait for `incompleteGraceMs`.
 */
export function putAside(
  file: Pick<WaitingFile, "name" | "channel" | "receivedAt" | "looks">,
  prepared: PreparedDocument,
  context: { readonly settings: PutAsideSettings; readonly now: number; readonly stalledForMs: number },
): PutAside | undefined {
  const { settleMs, incompleteGraceMs, giveUpAfterMs } = context.settings;
  const pauseMs = growingPause(settleMs, file.looks ?? 0);
  if (prepared.kind === "unreadable") {
    const reason = reasonOf(prepared);
    const isGivenUp = context.stalledForMs >= giveUpAfterMs && !isOwnFault(reason);
    if (isGivenUp || finalSystemCodes.has(prepared.systemCode)) return undefined;
    return { reason, message: `${prepared.systemCode}: ${prepared.message}`, pauseMs };
  }
  const isLocal = file.channel === "folder" || file.channel === "recovered";
  const isOld = context.now - file.receivedAt >= incompleteGraceMs;
  // A name that is refused anyway is not worth waiting for.
  const mayBecomeWhole = prepared.kind === "refused" && prepared.isIncomplete && /\.xml$/i.test(file.name);
  if (!mayBecomeWhole || !isLocal || isOld) return undefined;
  return { reason: "incomplete", message: "it is cut off at its end", pauseMs };
}

const gone: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR"]);

/** For the receipt of a file that could not be read at all. */
export function unreadableFault(name: string, { systemCode, message }: Unreadable): Fault {
  if (systemCode === "internal") return { code: "internal", message };
  if (!gone.has(systemCode) && !finalSystemCodes.has(systemCode)) {
    const text = `${name} could not be read (${systemCode}: ${message}): let the user of dropgate read it, and send it again`;
    return { code: "internal", message: text };
  }
  const why = gone.has(systemCode) ? "it was removed before it was read" : "it is not a regular file";
  return { code: "badFileName", message: `${name} cannot be processed: ${why}; send it again as a file` };
}

/** Bytes of a file of which nothing was read: those it is known to have, none when there never was a file. */
export function unreadSizeOf(file: Pick<WaitingFile, "size">, { systemCode }: Unreadable): number {
  return gone.has(systemCode) || finalSystemCodes.has(systemCode) ? 0 : file.size;
}
