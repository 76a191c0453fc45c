/** Which files are looked at again later instead of being decided about now, and how much later. */
import type { Fault } from "../lib/errors.ts";
import type { PreparedDocument } from "../documents/prepared-document.ts";
import type { WaitingFile } from "./waiting-file.ts";

export interface LookAgainSettings {
  readonly settleMs: number;
  readonly incompleteGraceMs: number;
}

const longestPauseMs = 60_000;
/** Looks at a file that is not there before it counts as removed. */
const maxVanished = 3;
/** A link or a device does not become a file by waiting. */
const finalSystemCodes = new Set(["ENOTREG", "ELOOP"]);

/** Each pause is twice the one before, so that a thousand such files do not keep the parser busy. */
function growing(firstMs: number, looks: number): number {
  return Math.min(firstMs * 2 ** looks, longestPauseMs);
}

/**
 * Milliseconds until the next look, or undefined when the file is to be decided about as it is.
 * Unreadable files wait as long as it takes; files of folders that end in the middle wait for `incompleteGraceMs`.
 */
export function pauseBeforeNextLook(
  file: Pick<WaitingFile, "name" | "channel" | "receivedAt" | "looks">,
  prepared: PreparedDocument,
  context: { readonly settings: LookAgainSettings; readonly now: number },
): number | undefined {
  const { settleMs, incompleteGraceMs } = context.settings;
  const { looks = 0 } = file;
  if (prepared.kind === "unreadable") {
    const isGone = prepared.systemCode === "ENOENT" && looks + 1 >= maxVanished;
    return isGone || finalSystemCodes.has(prepared.systemCode) ? undefined : growing(settleMs, looks);
  }
  const isLocal = file.channel === "folder" || file.channel === "recovered";
  const isOld = context.now - file.receivedAt >= incompleteGraceMs;
  // A name that is refused anyway is not worth waiting for.
  const mayBecomeWhole = prepared.kind === "refused" && prepared.isIncomplete && /\.xml$/i.test(file.name);
  if (!mayBecomeWhole || !isLocal || isOld) return undefined;
  return growing(settleMs, looks);
}

/** What the receipt says of a file that could not be read at all. */
export function unreadableFault(name: string, unreadable: { systemCode: string; message: string }): Fault {
  if (unreadable.systemCode === "internal") return { code: "internal", message: unreadable.message };
  const why =
    unreadable.systemCode === "ENOENT" ? "it was removed before it was read" : "it is not a regular file";
  return { code: "badFileName", message: `${name} cannot be processed: ${why}; send it again as a file` };
}
