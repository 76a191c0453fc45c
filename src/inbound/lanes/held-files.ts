/** Which files of a company do not go on, and why: for the log, the metrics and `/readyz`. */
import type { Logger } from "../../lib/logs/log.ts";
import { isOwnFault, type Stall, type StallReason, type WaitingFile } from "./waiting-file.ts";

export interface HeldFile {
  readonly name: string;
  readonly id: number | undefined;
  readonly reason: StallReason;
  readonly message: string;
  readonly forMs: number;
  /** This installation is at fault, or not even a refusal can be written. */
  readonly isOwnFault: boolean;
}

export interface HeldFiles {
  readonly company: string;
  /** Files by the reason for which they were put aside. */
  readonly counts: Readonly<Record<StallReason, number>>;
  /** Later files of their stops. */
  readonly keptBack: number;
  /** Of those that were put aside, the one that waits longest; 0 when there is none. */
  readonly oldestMs: number;
  /** A few, those for which this installation is at fault first, then those that have waited longest. */
  readonly first: readonly HeldFile[];
  /** Why nothing at all can be decided. */
  readonly halt?: { readonly message: string; readonly forMs: number; readonly files: number };
  /** Whether this installation is at fault: its store, its disk, its limits. */
  readonly isOwnFault: boolean;
}

/** A file that waits for another one, which is held. */
export interface KeptBackFile {
  readonly id: number | undefined;
  /** The other one; without an id it is no ledger entry yet, but a file that is seen in a folder. */
  readonly behind: { readonly name: string; readonly id: number | undefined };
}

/** The same file by file, for `explain`. */
export interface HeldInDetail extends Pick<HeldFiles, "company" | "halt"> {
  readonly files: readonly HeldFile[];
  readonly keptBack: readonly KeptBackFile[];
}

const shown = 20;
/** At most so many are listed one by one. */
const detailed = 2_000;
const logged = 5;
/** Longer than the longest pause between two attempts. */
const overdueMarginMs = 120_000;

interface HeldState {
  readonly files: Iterable<WaitingFile>;
  readonly keptBack: number;
  readonly halt: { readonly message: string; readonly since: number; readonly files: number } | undefined;
  readonly giveUpAfterMs: number;
}

/** Whether it should have been given up by now: not even its refusal can be written. */
function isOverdue(stall: Stall, forMs: number, giveUpAfterMs: number): boolean {
  return stall.reason !== "incomplete" && forMs > giveUpAfterMs + overdueMarginMs;
}

function listHeld({ files, giveUpAfterMs }: HeldState, now: number): HeldFile[] {
  const held: HeldFile[] = [];
  for (const { name, id, stall } of files) {
    if (stall === undefined) continue;
    const { reason, message, since } = stall;
    const forMs = now - since;
    const isOwn = isOwnFault(reason) || isOverdue(stall, forMs, giveUpAfterMs);
    held.push({ name, id, reason, message, forMs, isOwnFault: isOwn });
  }
  // Our own faults first: they are what somebody has to see to.
  return held.sort((a, b) => Number(b.isOwnFault) - Number(a.isOwnFault) || b.forMs - a.forMs);
}

export function heldFilesOf(company: string, state: HeldState): HeldFiles {
  const now = performance.now();
  const { halt, keptBack } = state;
  const files = listHeld(state, now);
  const counts = { unreadable: 0, incomplete: 0, machine: 0, store: 0, internal: 0 };
  let oldestMs = halt === undefined ? 0 : now - halt.since;
  for (const { reason, forMs } of files) {
    counts[reason] += 1;
    oldestMs = Math.max(oldestMs, forMs);
  }
  return {
    ...{ company, counts, keptBack, oldestMs },
    first: files.slice(0, shown),
    isOwnFault: halt !== undefined || files[0]?.isOwnFault === true,
    ...(halt === undefined
      ? {}
      : { halt: { message: halt.message, forMs: now - halt.since, files: halt.files } }),
  };
}

/** The same, file by file. */
export function heldInDetailOf(
  { company, halt }: HeldFiles,
  state: HeldState,
  keptBack: Iterable<{ readonly file: WaitingFile; readonly behind: WaitingFile }>,
): HeldInDetail {
  const waiting: KeptBackFile[] = [];
  for (const { file, behind } of keptBack) {
    if (waiting.length >= detailed) break;
    waiting.push({ id: file.id, behind: { name: behind.name, id: behind.id } });
  }
  const files = listHeld(state, performance.now()).slice(0, detailed);
  return { company, files, keptBack: waiting, ...(halt === undefined ? {} : { halt }) };
}

/** One line for a company some of whose files are held; called each minute, so that no retry goes on in silence. */
export function logHeld(log: Pick<Logger, "warn">, held: HeldFiles): void {
  const { company, counts, keptBack, halt, oldestMs, first } = held;
  const reasons = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  const count = Object.values(counts).reduce((sum, one) => sum + one, 0);
  if (count === 0 && halt === undefined) return;
  const oldestSeconds = Math.round(oldestMs / 1000);
  const names = first.slice(0, logged).map(({ name, message }) => `${name} (${message})`);
  const all = halt === undefined ? {} : { allWait: halt.message, inLine: halt.files };
  log.warn(
    { company, held: count, reasons, keptBack, oldestSeconds, first: names, ...all },
    "files are held",
  );
}
