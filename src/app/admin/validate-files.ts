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
import { unlessMissing } from "../../lib/errors.ts";
import { isoOrNull } from "../../lib/iso-time.ts";
import { createLogger } from "../../lib/logs/log.ts";
import type { LedgerEntry } from "../../store/ledger/files.ts";
import { requireCompany } from "./admin.ts";
import { type AdminStore, findStore, withAdminStore } from "./admin-store.ts";
import { documentPoolOptionsOf } from "../daemon/part-options.ts";
import { type FileReason, toReason } from "./file-view.ts";
import type { ReadableDocument, StopChangeView } from "./stops/stop-change.ts";
import { type StopTrial, type TriedStop, tryStopDocument } from "./stops/stop-trial.ts";
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
  { faults, changes }: Pick<TriedStop, "faults" | "changes">,
): ValidatedFile {
  return { file, verdict, reasons: faults.map(toReason), changes };
}

async function validateFor(
  store: AdminStore,
  { file, document }: Read,
  { company, rules }: Pick<StopTrial, "company" | "rules">,
): Promise<ValidatedFile> {
  const tried = await tryStopDocument(store, { name: basename(file), document, company, rules });
  const { state, first, underNewTime } = tried;
  return {
    ...validated(file, state, tried),
    ...(first === undefined ? {} : { first: firstEntryOf(first) }),
    ...(underNewTime === undefined ? {} : { underNewTime }),
  };
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
  if (findStore(config) === "none" && options.company === undefined)
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
