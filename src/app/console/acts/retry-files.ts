/** Retries of refused and superseded files: the daemon takes them up within a second. */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import type { SeveralAsked, SeveralDone } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { createLocations } from "../../../inbound/places/locations.ts";
import { reasonCodeOf } from "../../../lib/errors.ts";
import { isoOrNull, isoTime } from "../../../lib/iso-time.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { findFile, type LedgerEntry, requestRetry } from "../../../store/ledger/files.ts";
import { whyNotRetried } from "../../admin/file-retry.ts";
import type { ActContext } from "../act-context.ts";
import { type AuditedChange, companyOf, type RunningAct } from "../running-act.ts";
import { doSeveral, type ItemOutcome } from "./several.ts";

/** The entry of a reference, of whatever company; undefined when there is none. */
export async function findEntryOf(
  { store, ledgerNumbers }: Pick<ActContext, "store" | "ledgerNumbers">,
  reference: string,
): Promise<LedgerEntry | undefined> {
  const id = ledgerNumbers.open(reference);
  return id === undefined ? undefined : await findFile(store.read, id);
}

function subjectOf({ name }: LedgerEntry, reference: string): string {
  return auditSubjectText({ kind: "file", name, reference });
}

interface Ready {
  readonly of: string;
  readonly kind: "ready";
  readonly entry: LedgerEntry;
  readonly subject: string;
}

async function judge(act: RunningAct, of: string, seenAt: number): Promise<Ready | ItemOutcome> {
  const entry = await findEntryOf(act.context, of);
  if (entry?.companyId !== companyOf(act)) return { of, kind: "notThere" };
  const subject = subjectOf(entry, of);
  const { decidedAt } = entry;
  const isNewer = decidedAt !== null && decidedAt > seenAt;
  const path = createLocations(act.context.stateDir).fromLedger(entry.location);
  const why = isNewer ? actWords.changedSince(isoTime(decidedAt)) : await whyNotRetried(entry, path);
  return why === undefined ? { of, kind: "ready", entry, subject } : { of, kind: "changed", subject, why };
}

/** In the unit of work: another may have been quicker. */
async function request(
  tx: Transaction,
  { of, entry: { id }, subject }: Ready,
  { now, note }: { readonly now: number; readonly note: (change: AuditedChange) => void },
): Promise<ItemOutcome> {
  const before = await findFile(tx, id);
  const isRequested = await requestRetry(tx, { id, now });
  if (!isRequested || before === undefined)
    return { of, kind: "changed", subject, why: actWords.isState(before?.state ?? "gone") };
  const { state, decidedAt, faults } = before;
  const reasons = faults.map(({ code }) => reasonCodeOf(code));
  note({ subject, before: { state, decidedAt: isoOrNull(decidedAt), reasons }, after: { state: "retry" } });
  return { of, kind: "done" };
}

export function retryFilesByReference(act: RunningAct, asked: SeveralAsked): Promise<SeveralDone> {
  return doSeveral(act, asked, async (references) => {
    const judged: (Ready | ItemOutcome)[] = [];
    for (const reference of references) judged.push(await judge(act, reference, asked.seenAt));
    const ready = judged.filter((one) => one.kind === "ready");
    const others = judged.filter((one) => one.kind !== "ready");
    if (ready.length === 0) return others;
    return await act.unit(async (tx, note) => {
      const outcomes: ItemOutcome[] = [...others];
      for (const one of ready) outcomes.push(await request(tx, one, { now: act.now, note }));
      return outcomes;
    });
  });
}
