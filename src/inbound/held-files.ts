/** What of a company does not go on, and why: for the log, the metrics and `/readyz`. */
import { isOwnFault, type StallReason } from "./stall.ts";
import type { WaitingFile } from "./waiting-file.ts";

export interface HeldFile {
  readonly name: string;
  readonly id: number | undefined;
  readonly reason: StallReason;
  readonly message: string;
  readonly forMs: number;
}

export interface HeldFiles {
  readonly company: string;
  /** Files by the reason for which they were put aside. */
  readonly counts: Readonly<Record<StallReason, number>>;
  /** Later files of their stops. */
  readonly keptBack: number;
  /** Of those that were put aside, the one that waits longest; 0 when there is none. */
  readonly oldestMs: number;
  /** The files that have waited longest, a few. */
  readonly first: readonly HeldFile[];
  /** Why nothing at all can be decided. */
  readonly halt?: { readonly message: string; readonly forMs: number; readonly files: number };
  /** Whether this installation is at fault: its store, its disk, its limits. */
  readonly isOwnFault: boolean;
}

const shown = 20;
/** Longer than the longest pause between two looks. */
const overdueMarginMs = 120_000;

interface HeldState {
  readonly files: Iterable<WaitingFile>;
  readonly keptBack: number;
  readonly halt: { readonly message: string; readonly since: number; readonly files: number } | undefined;
  readonly giveUpAfterMs: number;
}

function listHeld(waiting: Iterable<WaitingFile>, now: number): HeldFile[] {
  const files: HeldFile[] = [];
  for (const { name, id, stall } of waiting) {
    if (stall === undefined) continue;
    files.push({ name, id, reason: stall.reason, message: stall.message, forMs: now - stall.since });
  }
  return files.sort((a, b) => b.forMs - a.forMs);
}

/** What was to be given up and is still there: not even its refusal can be written. */
function isOverdue({ forMs, reason }: HeldFile, giveUpAfterMs: number): boolean {
  return reason !== "incomplete" && forMs > giveUpAfterMs + overdueMarginMs;
}

export function heldFilesOf(company: string, state: HeldState): HeldFiles {
  const now = performance.now();
  const { halt, keptBack, giveUpAfterMs } = state;
  const files = listHeld(state.files, now);
  const counts = { unreadable: 0, incomplete: 0, machine: 0, store: 0, internal: 0 };
  for (const { reason } of files) counts[reason] += 1;
  const haltMs = halt === undefined ? 0 : now - halt.since;
  return {
    company,
    counts,
    keptBack,
    oldestMs: Math.max(files[0]?.forMs ?? 0, haltMs),
    first: files.slice(0, shown),
    isOwnFault:
      halt !== undefined || files.some((file) => isOwnFault(file.reason) || isOverdue(file, giveUpAfterMs)),
    ...(halt === undefined ? {} : { halt: { message: halt.message, forMs: haltMs, files: halt.files } }),
  };
}
