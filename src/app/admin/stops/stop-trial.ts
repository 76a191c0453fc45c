/**
 * A dry run of one stop document: what would be said about it, and what applying it would change. It is decided about by
 * the very rules of the pipeline, in a unit of work that is then undone.
 */
import type { DecidedState } from "../../../domain/files/file-state.ts";
import { parseStopFileName } from "../../../domain/files/stop-file-name.ts";
import { decideFile, type DecisionRules } from "../../../inbound/lanes/decide-file.ts";
import { ledgerTimeOf } from "../../../inbound/lanes/waiting-file.ts";
import type { Fault } from "../../../lib/errors.ts";
import type { SealedNumbers } from "../../../lib/sealed-numbers.ts";
import type { Company } from "../../../store/accounts/companies.ts";
import type { Store } from "../../../store/database/database.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { enterFile, findFile, type LedgerEntry } from "../../../store/ledger/files.ts";
import { dryRun } from "../admin-store.ts";
import {
  changesOf,
  type ReadableDocument,
  type StopChangeView,
  stopNumbersOf,
  stopsOf,
} from "./stop-change.ts";

type WritingStore = Pick<Store, "write">;

export interface TriedStop {
  readonly state: DecidedState;
  readonly faults: readonly Fault[];
  readonly changes: readonly StopChangeView[];
  /** Of a duplicate: the entry that counts. Faults and changes are those that the file would have under a new time. */
  readonly first?: LedgerEntry;
  /** Of a duplicate: what would be decided about it under a new time. */
  readonly underNewTime?: DecidedState;
}

/** A document that is tried, under the name of its file. */
export interface StopTrial {
  readonly name: string;
  readonly document: ReadableDocument;
  readonly company: Pick<Company, "id" | "code">;
  readonly rules: DecisionRules;
  /** How entries of the ledger are named in what is said; by their numbers unless given. */
  readonly ledgerNumbers?: Pick<SealedNumbers, "seal">;
  /** As if nothing had come under this name before. */
  readonly asNew?: true;
}

async function firstOf(tx: Transaction, id: number): Promise<LedgerEntry | undefined> {
  const firstId = (await findFile(tx, id))?.firstId ?? null;
  return firstId === null ? undefined : await findFile(tx, firstId);
}

/** No file name has a slash, so the ledger cannot know this one. */
function unknownName(name: string): string {
  return `/${name}`;
}

async function decideDry(tx: Transaction, trial: StopTrial): Promise<TriedStop> {
  const { document, company, rules } = trial;
  const name = trial.asNew ? unknownName(trial.name) : trial.name;
  const now = Date.now();
  const numbers = stopNumbersOf(document);
  const before = await stopsOf(tx, company.id, numbers);
  const parsedName = parseStopFileName(trial.name);
  const entry = { companyId: company.id, name, nameTime: ledgerTimeOf(parsedName), size: document.size };
  const arrival = { channel: "folder", userName: null, receivedAt: now, location: "dry run" };
  const id = await enterFile(tx, { ...entry, ...arrival });
  const { id: companyId, code: companyCode } = company;
  const file = { id, companyId, companyCode, name, receivedAt: now, parsedName, prepared: document };
  const { ledgerNumbers = { seal: String } } = trial;
  const decided = await decideFile(tx, file, { rules, locationFor: () => "dry run", now, ledgerNumbers });
  const changes = changesOf(before, await stopsOf(tx, company.id, numbers));
  const first = await firstOf(tx, id);
  return {
    state: decided.state,
    faults: decided.faults,
    changes: decided.state === "applied" ? changes : [],
    ...(first === undefined ? {} : { first }),
  };
}

async function runDry(store: WritingStore, trial: StopTrial): Promise<TriedStop> {
  return await dryRun(store, trial.company.id, (tx) => decideDry(tx, trial));
}

/** A wrong name hides what is wrong with the document, and what it would change: that is told too. */
async function tryWithGoodName(
  store: WritingStore,
  trial: StopTrial,
  outcome: TriedStop,
): Promise<TriedStop> {
  const { document } = trial;
  if (document.kind === "refused") {
    const { faults } = outcome;
    const more = document.faults.filter((fault) => !faults.includes(fault));
    return { ...outcome, faults: [...faults, ...more] };
  }
  const isOnlyName =
    outcome.state === "refused" && outcome.faults.every(({ code }) => code === "badFileName");
  if (!isOnlyName) return outcome;
  const lenient = await runDry(store, { ...trial, rules: { ...trial.rules, names: "lenient" } });
  const more = lenient.faults.filter(({ code }) => code !== "badFileName");
  return { ...outcome, faults: [...outcome.faults, ...more], changes: lenient.changes };
}

async function tryOnce(store: WritingStore, trial: StopTrial): Promise<TriedStop> {
  return await tryWithGoodName(store, trial, await runDry(store, trial));
}

/** What the document would meet under a new time: no namesake in the ledger, and not late. */
async function tryAsNew(store: WritingStore, trial: StopTrial): Promise<TriedStop> {
  const rules: DecisionRules = { ...trial.rules, lateFiles: "apply" };
  const outcome = await tryOnce(store, { ...trial, rules, asNew: true });
  const { name } = trial;
  const faults = outcome.faults.map((fault) => ({
    ...fault,
    message: fault.message.replace(unknownName(name), name),
  }));
  return { ...outcome, faults };
}

/** Tries the document against the state of this moment. Changes nothing. */
export async function tryStopDocument(store: WritingStore, trial: StopTrial): Promise<TriedStop> {
  const { state, faults, changes, first } = await runDry(store, trial);
  // That the file came before hides the faults and the changes of the document: those are told too.
  if (state === "duplicate" && first !== undefined) {
    const outcome = await tryAsNew(store, trial);
    return { ...outcome, state, first, underNewTime: outcome.state };
  }
  if (faults.some(({ code }) => code === "nameReused")) {
    const outcome = await tryAsNew(store, trial);
    return { ...outcome, state, faults: [...faults, ...outcome.faults] };
  }
  return await tryWithGoodName(store, trial, { state, faults, changes });
}
