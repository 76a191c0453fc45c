/**
 * What becomes of one file: the rules (specification/file-exchange.md#decision) in the order in which they are asked.
 *
 *   same name and content decided before ─────────────> duplicate (the first receipt again, in the first one's folder)
 *   same name applied before, other content ──────────> refused 955
 *   name not of the form, document faulty ────────────> refused 952, 950, 951, 957, 909
 *   stop number or company in name and document differ > refused 953, 905
 *   older than what was applied to its stop ──────────> superseded 954
 *   refused by the state of the stop ─────────────────> refused 906, 907, 921, 925
 *   else ─────────────────────────────────────────────> applied
 *
 * All of it is one unit of work: state change, ledger entry and the content of the receipt are committed together.
 */
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import type { DecidedState } from "../../domain/files/file-state.ts";
import { baseNameOf, type StopFileName } from "../../domain/files/stop-file-name.ts";
import { stopNumberForms, stopNumberInName } from "../../domain/files/stop-number-in-name.ts";
import type { Fault } from "../../lib/errors.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import { applyStopChanges, type RecordCounts } from "../../operations/stops/apply-stop-changes.ts";
import { type Decision, noteLaterStops, recordDecision } from "../../store/ledger/files.ts";
import {
  findReceiptSharers,
  isDecidedSharer,
  type ReceiptSharer,
} from "../../store/ledger/receipt-sharers.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { momentOfDecision, type Receipts, receiptsOf } from "../receipts/receipts.ts";

export interface DecisionRules {
  readonly names: "strict" | "lenient";
  readonly lateFiles: "refuse" | "apply";
}

export interface FileToDecide {
  readonly id: number;
  readonly companyId: number;
  readonly companyCode: string;
  readonly name: string;
  /** Milliseconds UTC. */
  readonly receivedAt: number;
  readonly parsedName: StopFileName;
  readonly prepared: DecidableDocument;
  /** When its document had been read; milliseconds UTC, null or left out when nobody knows. */
  readonly parsedAt?: number | null;
}

/** A file of which nothing was read; it is refused with this fault. */
export interface UnreadFile {
  readonly kind: "unread";
  /** Bytes that the file is known to have, 0 when there never was one. */
  readonly size: number;
  readonly fault: Fault;
}

export type DecidableDocument = Exclude<PreparedDocument, { kind: "unreadable" }> | UnreadFile;

/** A decision that has been written, and what is needed to file the file away. */
export interface DecidedFile extends Receipts {
  readonly id: number;
  readonly state: DecidedState;
  readonly location: string;
  /** Null when nothing was read. */
  readonly sha256: string | null;
  readonly faults: readonly Fault[];
}

/** Where a decided file is filed away to, as the ledger names it. `isNameTaken`: another entry may lie under its name. */
export type LocationFor = (state: DecidedState, isNameTaken: boolean) => string;

interface DecisionContext {
  readonly now: number;
  /** What hosts see of the numbers of ledger entries. */
  readonly ledgerNumbers: Pick<SealedNumbers, "seal">;
}

interface Verdict {
  readonly state: DecidedState;
  readonly faults: readonly Fault[];
  readonly counts?: RecordCounts;
  readonly firstId?: number;
  /** Of a duplicate: the state of the first, beside which it lies. */
  readonly firstState?: DecidedState;
}

interface Once {
  readonly verdict?: Verdict;
  readonly isNameTaken: boolean;
  /** Other entries with its receipt. */
  readonly sharers: readonly ReceiptSharer[];
}

const noCounts: RecordCounts = { created: 0, updated: 0, deleted: 0 };

function refused(code: Fault["code"], message: string): Verdict {
  return { state: "refused", faults: [{ code, message }] };
}

function hashOf({ prepared }: FileToDecide): string | null {
  return prepared.kind === "unread" ? null : prepared.sha256;
}

function checkNames(file: FileToDecide, rules: DecisionRules): Verdict | undefined {
  if (file.prepared.kind === "unread") return { state: "refused", faults: [file.prepared.fault] };
  const name = file.parsedName;
  if (name.kind === "wrong" && (rules.names === "strict" || !/\.xml$/i.test(file.name))) {
    return refused("badFileName", `${file.name}: ${name.why}`);
  }
  if (file.prepared.kind === "refused") return { state: "refused", faults: file.prepared.faults };
  const { companyCode, instructions } = file.prepared;
  if (companyCode !== undefined && companyCode.toLowerCase() !== file.companyCode.toLowerCase()) {
    const message = `CompanyCode ${companyCode} is not the company ${file.companyCode} whose folder this is: correct it, or send the file as a user of its company`;
    return refused("companyDiffers", message);
  }
  const first = instructions[0]?.stopNbr ?? "";
  if (name.kind === "named" && !stopNumberForms(first).includes(name.stopNbr)) {
    const message = `the file name says stop ${name.stopNbr}, the first Stop of the document ${first}: make them agree (a name for that Stop begins with ${stopNumberInName(first)}_)`;
    return refused("stopNumberDiffers", message);
  }
  return undefined;
}

async function checkOnce(
  tx: Transaction,
  file: FileToDecide,
  { ledgerNumbers }: Pick<DecisionContext, "ledgerNumbers">,
): Promise<Once> {
  const sharers = await findReceiptSharers(tx, file);
  const namesakes = sharers.filter(isDecidedSharer).filter(({ name }) => name === file.name);
  const known = { isNameTaken: namesakes.length > 0, sharers };
  const originals = namesakes.filter((other) => other.state !== "duplicate");
  const sha256 = hashOf(file);
  const same = sha256 === null ? undefined : originals.find((other) => other.sha256 === sha256);
  if (same !== undefined) {
    const verdict = { state: "duplicate", faults: [], firstId: same.id, firstState: same.state } as const;
    return { verdict, ...known };
  }
  const applied = originals.find((other) => other.state === "applied");
  // Of what was not read nobody knows whether its content is another.
  if (applied === undefined || sha256 === null) return known;
  const message = `${file.name} was applied before with other content (ledger entry ${ledgerNumbers.seal(applied.id)}): send the change under a new time`;
  return { verdict: refused("nameReused", message), ...known };
}

async function applyDocument(
  tx: Transaction,
  file: FileToDecide,
  rules: DecisionRules,
  now: number,
): Promise<Verdict> {
  if (file.prepared.kind !== "read") throw new Error("a document that is refused came to be applied");
  const name = file.parsedName;
  const outcome = await applyStopChanges(tx, {
    companyId: file.companyId,
    changes: file.prepared.instructions,
    fileTime: name.kind === "named" ? name.nameTime : null,
    refuseLate: rules.lateFiles === "refuse",
    now,
  });
  if (outcome.kind === "applied") return { state: "applied", faults: [], counts: outcome.counts };
  return { state: outcome.kind, faults: outcome.faults };
}

function documentIdOf(file: FileToDecide): string {
  const { prepared } = file;
  return (prepared.kind === "unread" ? undefined : prepared.documentId) ?? baseNameOf(file.name);
}

function firstInstruction(file: FileToDecide): { stopFunction: string | null; stopNbr: string | null } {
  if (file.prepared.kind === "unread") return { stopFunction: null, stopNbr: null };
  if (file.prepared.kind === "refused") {
    return { stopFunction: file.prepared.firstFunction ?? null, stopNbr: file.prepared.firstStopNbr ?? null };
  }
  const first = file.prepared.instructions[0];
  return { stopFunction: first?.function ?? null, stopNbr: first?.stopNbr ?? null };
}

function toDecision(file: FileToDecide, verdict: Verdict, rest: { location: string; now: number }): Decision {
  return {
    id: file.id,
    state: verdict.state,
    sha256: hashOf(file),
    size: file.prepared.size,
    ...firstInstruction(file),
    documentId: documentIdOf(file),
    faults: verdict.faults,
    ...(verdict.counts ?? noCounts),
    decidedAt: rest.now,
    parsedAt: file.parsedAt ?? null,
    location: rest.location,
    firstId: verdict.firstId ?? null,
  };
}

/** Most files name one stop, and cost nothing here. */
async function keepLaterStops(tx: Transaction, { id, companyId, prepared }: FileToDecide): Promise<void> {
  if (prepared.kind !== "read" || prepared.instructions.length < 2) return;
  const [first, ...later] = prepared.instructions.map(({ stopNbr }) => stopNbr);
  const stopNbrs = later.filter((stopNbr) => stopNbr !== first);
  await noteLaterStops(tx, { companyId, fileId: id, stopNbrs });
}

async function keep(
  tx: Transaction,
  file: FileToDecide,
  verdict: Verdict,
  rest: { readonly location: string; readonly sharers: readonly ReceiptSharer[] } & DecisionContext,
): Promise<DecidedFile> {
  const { location, sharers } = rest;
  const decision = toDecision(file, verdict, { location, now: momentOfDecision(rest.now, sharers) });
  if (!(await recordDecision(tx, decision))) throw new NotWaitingError(file.id);
  await keepLaterStops(tx, file);
  const { name, receivedAt } = file;
  const entry = { ...decision, name, receivedAt };
  const receipts = await receiptsOf({ read: tx, numbers: rest.ledgerNumbers }, entry, sharers);
  return {
    id: file.id,
    state: verdict.state,
    location,
    sha256: hashOf(file),
    faults: verdict.faults,
    ...receipts,
  };
}

/** Another process has decided the entry meanwhile; thrown so that the unit of work is undone. */
export class NotWaitingError extends Error {
  constructor(id: number) {
    super(`ledger entry ${id} is not waiting any more`);
    this.name = "NotWaitingError";
  }
}

/**
 * Decides about a waiting file and writes the decision, within the transaction. Rejects with `NotWaitingError` when the
 * entry is not waiting any more: the caller's unit of work is then undone.
 */
export async function decideFile(
  tx: Transaction,
  file: FileToDecide,
  context: DecisionContext & { readonly rules: DecisionRules; readonly locationFor: LocationFor },
): Promise<DecidedFile> {
  const once = await checkOnce(tx, file, context);
  const verdict =
    once.verdict ??
    checkNames(file, context.rules) ??
    (await applyDocument(tx, file, context.rules, context.now));
  const location = context.locationFor(verdict.firstState ?? verdict.state, once.isNameTaken);
  return await keep(tx, file, verdict, { ...context, location, sharers: once.sharers });
}
