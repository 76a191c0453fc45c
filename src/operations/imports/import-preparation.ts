/**
 * Prepares the body of an import before any transaction: checked entries in their stored form, with the content of
 * their documents durable. It touches no database, so that it can run in a thread of its own.
 *
 * A short body is read here. A large one goes to the reader threads (`import-threads.ts`), unparsed: parsing, checking
 * and writing 20 MB of JSON would block the process for a second.
 */
import { setImmediate } from "node:timers/promises";
import { given } from "../../lib/given.ts";
import type { BusinessPartner } from "../../domain/order/business-partner.ts";
import type { KeptDocument } from "../../domain/documents/document-content.ts";
import type { StopChange } from "../../domain/stop/stop-change.ts";
import type { User } from "../../domain/users/user.ts";
import { type JsonLimits, parseJsonBytes } from "../../lib/json-text.ts";
import type { ImportInput } from "./import-request.ts";

/** Bodies over this size are parsed and read off the main thread. */
export const largeBodyBytes = 256 * 1024;

export interface KeptOrder {
  readonly orderNbr: string;
  readonly body: string;
  readonly stop: StopChange;
}

export interface KeptLoad {
  readonly loadNbr: string;
  /** See `load-text.ts`. */
  readonly body: string;
  readonly documents: readonly KeptDocument[];
}

export interface KeptCustomer {
  readonly accountNumber: string;
  readonly body: string;
}

/** What each kind of import makes of an entry. */
export interface PreparedEntries {
  readonly stops: StopChange;
  readonly orders: KeptOrder;
  readonly loads: KeptLoad;
  readonly customers: KeptCustomer;
  readonly businessPartners: BusinessPartner;
  readonly users: User;
}

export type PreparedKind = keyof PreparedEntries;

export interface ImportToPrepare extends Pick<ImportInput, "companyCode" | "body" | "rules"> {
  /** Where the content of documents is kept. */
  readonly documentsDir: string;
  /** Most stops of one import of loads, over all its loads. */
  readonly maxStops?: number;
}

export type Prepared<Kind extends PreparedKind> = readonly PreparedEntries[Kind][];

/** Throws a `DropgateError` with all faults; then nothing but contents of documents was stored. */
export type Prepare<Kind extends PreparedKind> = (input: ImportToPrepare) => Promise<Prepared<Kind>>;

export type Preparations = { readonly [Kind in PreparedKind]: Prepare<Kind> };

export interface LargeImport extends Omit<ImportToPrepare, "body"> {
  /** Transferred: empty afterwards. */
  readonly bytes: Uint8Array;
  readonly limits: JsonLimits;
}

/** The reader threads, as imports use them. */
export interface ImportReaders {
  prepare<Kind extends PreparedKind>(kind: Kind, large: LargeImport): Promise<Prepared<Kind>>;
}

export interface PreparationDeps {
  /** Not needed where entries have no documents. */
  readonly documentsDir?: string;
  /** Without them large bodies are read here too. */
  readonly readers?: ImportReaders;
}

/** The limits of JSON when the caller names no others: the defaults of the configuration. */
export const defaultJsonLimits: JsonLimits = { maxDepth: 32, maxValues: 500_000 };

/** The entries of an import as they are written, read here or by the reader threads. */
export async function preparedEntries<Kind extends PreparedKind>(
  { documentsDir = "", readers }: PreparationDeps,
  input: ImportInput & { readonly maxStops?: number },
  { kind, prepare }: { readonly kind: Kind; readonly prepare: Prepare<Kind> },
): Promise<Prepared<Kind>> {
  const { companyCode, body, rules, maxStops, large, jsonLimits: limits = defaultJsonLimits } = input;
  const shared = { companyCode, documentsDir, ...given({ rules, maxStops }) };
  if (large === undefined) return prepare({ ...shared, body });
  if (readers === undefined) return prepare({ ...shared, body: parseJsonBytes(large, limits) });
  return readers.prepare(kind, { ...shared, bytes: large, limits });
}

/** So many entries are prepared at a time, so that others get their turn. */
const entriesInTurn = 100;

/** Prepares each entry, in turns; short lists without a wait of its own. */
export async function inTurns<Entry, Made>(
  entries: readonly Entry[],
  make: (entry: Entry, index: number) => Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  for (const [index, entry] of entries.entries()) {
    if (index % entriesInTurn === entriesInTurn - 1) await setImmediate();
    made.push(await make(entry, index));
  }
  return made;
}
