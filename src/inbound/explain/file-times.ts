/** How long the steps of a file took, in words: its host, dropgate, and whoever collected the receipt. */
import { isDecidedState } from "../../domain/files/file-state.ts";
import { secondMs } from "../../lib/durations.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { waitText } from "../../lib/wait-text.ts";
import type { FileRepeat, LedgerEntry } from "../../store/ledger/files.ts";

const protocols = { sftp: "SFTP", ftp: "FTP" } as const;

/** Milliseconds below a second, tenths of seconds below ten of them, as waiting is told from there on. */
function spanText(from: number, to: number): string {
  const ms = Math.max(0, to - from);
  if (ms < secondMs) return `${ms} ms`;
  return ms < 10 * secondMs ? `${(ms / secondMs).toFixed(1)} s` : waitText(ms);
}

type Moments = Pick<LedgerEntry, "state" | "receivedAt" | "enteredAt" | "parsedAt" | "decidedAt" | "filedAt">;

/** What each step of dropgate took, those whose moments are known, each from the one before. */
function stepTexts({ enteredAt, parsedAt, decidedAt, filedAt }: Moments, from: number): string {
  const steps = [
    ["ledger", enteredAt],
    ["parsed", parsedAt],
    ["decided", decidedAt],
    ["filed", filedAt],
  ] as const;
  const texts: string[] = [];
  let before = from;
  for (const [name, at] of steps) {
    if (at === null || at < from) continue;
    texts.push(`${name} ${spanText(before, at)}`);
    before = at;
  }
  return texts.join(", ");
}

function spentText(entry: Moments, retriedAt: number | undefined): string | undefined {
  const { filedAt, state, receivedAt } = entry;
  if (filedAt === null || !isDecidedState(state)) return undefined;
  const from = retriedAt ?? receivedAt;
  const since = retriedAt === undefined ? "its close" : "the request of the retry";
  return `dropgate took ${spanText(from, filedAt)} from ${since} to its receipt: ${stepTexts(entry, from)}.`;
}

/** Who collected the receipt first; undefined as long as that is not recorded. */
function collectedText(entry: LedgerEntry): string | undefined {
  const {
    filedAt,
    state,
    receiptCollectedAt: at,
    receiptCollectedBy: by,
    receiptCollectedOver: over,
  } = entry;
  if (at !== null && over !== null) {
    const how = entry.receiptUnread === 1 ? "deleted, unread," : "read first";
    return `Its receipt was ${how} ${isoTime(at)} by user ${by ?? "an unknown user"} over ${protocols[over]}.`;
  }
  if (filedAt === null || !isDecidedState(state)) return undefined;
  return "Nobody has read its receipt over SFTP or FTP so far.";
}

/** How long the steps took, as far as their moments are recorded; nothing of a file from before they were. */
export function timeLines(entry: LedgerEntry, repeats: readonly Pick<FileRepeat, "askedAt">[]): string[] {
  const { beganAt, receivedAt } = entry;
  const sent =
    beganAt === null
      ? undefined
      : `Its host took ${spanText(beganAt, receivedAt)} to send it, from the begin of its upload to its close.`;
  const spent = spentText(entry, repeats.at(-1)?.askedAt);
  return [sent, spent, collectedText(entry)].filter((line) => line !== undefined);
}
