/**
 * A dry run of stop files: what would be said about each, and what applying it would change. Each file is decided about
 * by the very rules of the pipeline, in a transaction that is then undone.
 */
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { companySettingsOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { createDocumentPool, type DocumentPool } from "../../documents/pool/document-pool.ts";
import type { DecidedState, FileState } from "../../domain/files/file-state.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import { decideFile, type DecisionRules } from "../../inbound/lanes/decide-file.ts";
import { ledgerTimeOf } from "../../inbound/lanes/waiting-file.ts";
import { type Fault, unlessMissing } from "../../lib/errors.ts";
import { isoOrNull } from "../../lib/iso-time.ts";
import { createLogger } from "../../lib/logs/log.ts";
import type { Company } from "../../store/accounts/companies.ts";
import { enterFile, findFile, type LedgerEntry } from "../../store/ledger/files.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import { requireCompany } from "./admin.ts";
import { type AdminStore, dryRun, findStore, withAdminStore } from "./admin-store.ts";
import { documentPoolOptionsOf } from "../daemon/part-options.ts";
import { type FileReason, toReason } from "./file-view.ts";
import {
  changesOf,
  type ReadableDocument,
  type StopChangeView,
  stopNumbersOf,
  stopsOf,
} from "./stops/stop-change.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export interface ValidatedFile {
  readonly file: string;
  /** What would be decided; `valid` when only the document could be checked. */
  readonly verdict: DecidedState | "valid";
  readonly reasons: readonly FileReason[];
  readonly changes: readonly StopChangeView[];
  /** Of a duplicate: the entry that counts. Reasons and changes are those that the file would have under a new time. */
  readonly first?: FirstEntry;
  /** Of a duplicate: what would be decided about it under a new time. */
  readonly underNewTime?: DecidedState;
  /** A remark for the administrator. */
  readonly note?: string;
}

export interface FirstEntry {
  readonly id: number;
  readonly state: FileState;
  readonly decidedAt: string | null;
  readonly reasons: readonly FileReason[];
}

interface Read {
  readonly file: string;
  readonly document: ReadableDocument;
}

interface Outcome {
  readonly state: DecidedState;
  readonly faults: readonly Fault[];
  readonly changes: readonly StopChangeView[];
  readonly first?: LedgerEntry;
}

/** Something that is no stop file was named by mistake: no reason code fits. */
async function readOne(pool: DocumentPool, file: string): Promise<ReadableDocument> {
  const path = resolve(file);
  const stats = await stat(path).catch(unlessMissing);
  if (stats === undefined) throw new WrongUseError(`there is no file ${file}: correct the path`);
  if (stats.isDirectory()) throw new WrongUseError(`${file} is a folder: name the files in it`);
  const document = await pool.prepareFile(path);
  if (document.kind === "unreadable") throw new WrongUseError(`${file} cannot be read: ${document.message}`);
  return document;
}

async function readAll(config: Config, files: readonly string[]): Promise<readonly Read[]> {
  const log = createLogger({ level: "silent" });
  const pool: DocumentPool = createDocumentPool({ ...documentPoolOptionsOf(config, log), threads: 1 });
  await pool.start(new AbortController().signal);
  try {
    const read: Read[] = [];
    for (const file of files) read.push({ file, document: await readOne(pool, file) });
    return read;
  } finally {
    await pool.stop(AbortSignal.abort());
  }
}

interface Trial {
  readonly name: string;
  readonly document: ReadableDocument;
  readonly company: Company;
  readonly rules: DecisionRules;
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

async function decideDry(tx: Transaction, trial: Trial): Promise<Outcome> {
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
  // The receipt is shown to nobody.
  const ledgerNumbers = { seal: String };
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

async function runDry(store: AdminStore, trial: Trial): Promise<Outcome> {
  return await dryRun(store, trial.company.id, (tx) => decideDry(tx, trial));
}

/** A wrong name hides what is wrong with the document, and what it would change: that is told too. */
async function tryWithGoodName(store: AdminStore, trial: Trial, outcome: Outcome): Promise<Outcome> {
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

async function tryOnce(store: AdminStore, trial: Trial): Promise<Outcome> {
  return await tryWithGoodName(store, trial, await runDry(store, trial));
}

/** What the document would meet under a new time: no namesake in the ledger, and not late. */
async function tryAsNew(store: AdminStore, trial: Trial): Promise<Outcome> {
  const rules: DecisionRules = { ...trial.rules, lateFiles: "apply" };
  const outcome = await tryOnce(store, { ...trial, rules, asNew: true });
  const { name } = trial;
  const faults = outcome.faults.map((fault) => ({
    ...fault,
    message: fault.message.replace(unknownName(name), name),
  }));
  return { ...outcome, faults };
}

function firstEntryOf(entry: LedgerEntry): FirstEntry {
  const { id, state, decidedAt, faults } = entry;
  const time = isoOrNull(decidedAt);
  return { id, state, decidedAt: time, reasons: faults.map(toReason) };
}

function validateAlone({ file, document }: Read, note: string): ValidatedFile {
  if (document.kind === "read") return { file, verdict: "valid", reasons: [], changes: [], note };
  return { ...validated(file, "refused", { faults: document.faults, changes: [] }), note };
}

function validated(
  file: string,
  verdict: DecidedState,
  { faults, changes }: Pick<Outcome, "faults" | "changes">,
): ValidatedFile {
  return { file, verdict, reasons: faults.map(toReason), changes };
}

async function validateFor(
  store: AdminStore,
  { file, document }: Read,
  { company, rules }: Pick<Trial, "company" | "rules">,
): Promise<ValidatedFile> {
  const trial: Trial = { name: basename(file), document, company, rules };
  const { state, faults, changes, first } = await runDry(store, trial);
  // That the file came before hides the faults and the changes of the document: those are shown too.
  if (state === "duplicate" && first !== undefined) {
    const outcome = await tryAsNew(store, trial);
    const view = validated(file, state, outcome);
    return { ...view, first: firstEntryOf(first), underNewTime: outcome.state };
  }
  if (faults.some(({ code }) => code === "nameReused")) {
    const outcome = await tryAsNew(store, trial);
    return validated(file, state, { ...outcome, faults: [...faults, ...outcome.faults] });
  }
  return validated(file, state, await tryWithGoodName(store, trial, { state, faults, changes }));
}

/**
 * Validates each file by itself, against the state of this moment. Changes nothing. Rejects with a `WrongUseError` when
 * one of them cannot be read.
 */
export async function validateFiles(
  config: Config,
  files: readonly string[],
  options: { readonly company?: string },
): Promise<readonly ValidatedFile[]> {
  // Read before the store is opened: as root, the files may be for root alone.
  const read = await readAll(config, files);
  if (findStore(config.stateDir) === "none" && options.company === undefined)
    return read.map((one) => validateAlone(one, "there is no state yet: only the document was checked"));
  return await withAdminStore(config, async (store) => {
    const company = await requireCompany(store, options.company);
    if (company === undefined)
      return read.map((one) => validateAlone(one, "there is no company yet: only the document was checked"));
    const { names, lateFiles } = companySettingsOf(config, company.code);
    const validated: ValidatedFile[] = [];
    for (const one of read)
      validated.push(await validateFor(store, one, { company, rules: { names, lateFiles } }));
    return validated;
  });
}
