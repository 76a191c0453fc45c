/**
 * What the outcome of an attempt means for its delivery, its line and its target. Many outcomes are written in one
 * transaction; each moves a row by one guarded statement. What was tried may be behind another meanwhile, an earlier one that
 * was asked for again: its outcome counts all the same.
 */
import { freeCompletionName } from "../domain/outbound/completion-name.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import { listTakenNames } from "../store/outbound/deliveries.ts";
import {
  type Attempted,
  type AttemptFault,
  findLine,
  markDelivered,
  markDeliveredAfterAll,
  markDropped,
  markFailed,
  postpone,
  promoteNext,
  renameDelivery,
} from "../store/outbound/delivery-outcomes.ts";
import { changeTargetCounts, saveTargetPause, type TargetPause } from "../store/outbound/outbound-targets.ts";

export type AttemptRecord =
  | (Attempted & { readonly kind: "delivered"; readonly sha256: string | null; readonly size: number | null })
  | (Attempted &
      AttemptFault & {
        readonly kind: "later";
        readonly dueAt: number;
        /** The fault is not its own: the time after which it is given up does not begin with it. */
        readonly isOfTarget: boolean;
      })
  | (Attempted & AttemptFault & { readonly kind: "dead" })
  /** A message that is of no use any more, or not wanted: it was not tried. */
  | (Attempted & AttemptFault & { readonly kind: "dropped" })
  /** A message that has to wait: it was not tried, and spends no attempt. */
  | (Attempted & { readonly kind: "postponed"; readonly dueAt: number })
  /** Another file has the name; it goes on under the next one, at once and without having spent an attempt. */
  | (Attempted & { readonly kind: "nameTaken"; readonly companyId: number; readonly name: string });

/** How the numbers of open and dead deliveries of the targets have changed. */
class CountChanges {
  readonly #byTarget = new Map<number, { open: number; dead: number }>();

  closed(targetId: number, dead: 0 | 1): void {
    const change = this.#byTarget.get(targetId) ?? { open: 0, dead: 0 };
    change.open -= 1;
    change.dead += dead;
    this.#byTarget.set(targetId, change);
  }

  async save(tx: Transaction): Promise<void> {
    for (const [id, change] of this.#byTarget) await changeTargetCounts(tx, { id, ...change });
  }
}

type DoneRecord = Extract<AttemptRecord, { kind: "delivered" | "dead" | "dropped" }>;

/** Whether it was open; if not, another process has decided about it. */
async function close(tx: Transaction, record: DoneRecord, now: number): Promise<boolean> {
  if (record.kind === "dead")
    return await markFailed(tx, { ...record, state: "dead", dueAt: null, countsFrom: record.at });
  if (record.kind === "dropped") return await markDropped(tx, record);
  const wasOpen = await markDelivered(tx, { ...record, now });
  if (!wasOpen) await markDeliveredAfterAll(tx, { ...record, now });
  return wasOpen;
}

interface Context {
  readonly counts: CountChanges;
  readonly now: number;
}

async function recordDone(tx: Transaction, record: DoneRecord, { counts, now }: Context): Promise<void> {
  if (!(await close(tx, record, now))) return;
  const line = await findLine(tx, record.id);
  counts.closed(line.targetId, record.kind === "dead" ? 1 : 0);
  await promoteNext(tx, line);
}

async function recordOne(tx: Transaction, record: AttemptRecord, context: Context): Promise<void> {
  if (record.kind === "nameTaken") {
    const { companyId } = record;
    const name = await freeCompletionName(record.name, (range) =>
      listTakenNames(tx, { companyId, ...range }),
    );
    await renameDelivery(tx, { id: record.id, name });
  } else if (record.kind === "later") {
    const countsFrom = record.isOfTarget ? null : record.at;
    await markFailed(tx, { ...record, state: null, countsFrom });
  } else if (record.kind === "postponed") {
    await postpone(tx, record);
  } else {
    await recordDone(tx, record, context);
  }
}

/**
 * Writes outcomes in the order given, and how their targets stand. A delivery that is done lets the one behind it go. One
 * that is not open any more is left as it is.
 */
export async function recordAttempts(
  tx: Transaction,
  outcomes: {
    readonly records: readonly AttemptRecord[];
    readonly pauses: readonly TargetPause[];
    readonly now: number;
  },
): Promise<void> {
  const context = { counts: new CountChanges(), now: outcomes.now };
  for (const record of outcomes.records) await recordOne(tx, record, context);
  await context.counts.save(tx);
  for (const pause of outcomes.pauses) await saveTargetPause(tx, pause);
}
