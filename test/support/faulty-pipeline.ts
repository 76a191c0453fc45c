/** A pipeline over a real store and real parser threads, in which reading and deciding can be made to fail, file by file. */
import { ledgerNumbers } from "./ledger-numbers.ts";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createDocumentPool, type DocumentPool } from "../../src/documents/pool/document-pool.ts";
import type { PreparedDocument } from "../../src/documents/pool/prepared-document.ts";
import { type Clock, systemClock } from "../../src/lib/clock.ts";
import { createLogger, type Logger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { isStoreBusy } from "../../src/lib/store-error.ts";
import type { Store } from "../../src/store/database/database.ts";
import { type LedgerEntry, toLedgerEntry } from "../../src/store/ledger/files.ts";
import type { Work } from "../../src/store/database/groups/group-commit.ts";
import type { Owner } from "../../src/store/database/owner.ts";
import type { DecidedFile } from "../../src/inbound/lanes/decide-file.ts";
import type { Arrival, Channel } from "../../src/inbound/places/inbox.ts";
import type { PipelineSettings } from "../../src/inbound/lanes/lane-runner.ts";
import { createLocations, type Locations } from "../../src/inbound/places/locations.ts";
import { Pipeline } from "../../src/inbound/pipeline.ts";
import { nameOfAgainFile } from "../../src/inbound/places/place-arrival.ts";
import { waitFor } from "./wait-for.ts";
import { openUncheckedStore } from "./unchecked-store.ts";

/** What the disk says of a file, or an error that is no value. */
export type ReadFault = (PreparedDocument & { readonly kind: "unreadable" }) | Error;

/** Asked at each reading, and once for each unit of work that decides; what they give happens instead. */
export interface Faults {
  read(company: string, name: string): ReadFault | undefined;
  decide(company: string, name: string): Error | undefined;
  /** Asked at every unit of work. */
  write?: () => Error | undefined;
}

/** Told what happens, with numbers that grow. */
export interface Observer {
  /** A decision is begun: gives the number of this moment. */
  begun(): number;
  /** A decision that was begun then has run to its end; it may still be undone. */
  attempted(company: string, name: string, begunAt: number): void;
  /** It is committed. */
  decided(company: string, name: string, state: string): void;
  /** The document was read, or not. */
  looked(company: string, name: string, isRead: boolean): void;
}

const nobody: Observer = {
  begun: () => 0,
  attempted: () => undefined,
  decided: () => undefined,
  looked: () => undefined,
};

export const noFaults: Faults = { read: () => undefined, decide: () => undefined };

export function unreadable(systemCode: string): ReadFault {
  return { kind: "unreadable", systemCode, message: "as the test wants it" };
}

function isDecidedFile(value: unknown): value is DecidedFile {
  return typeof value === "object" && value !== null && "location" in value && "receipt" in value;
}

/** `companies/CODE/<folder>/<day>/<name>`; the name may have the reference of its entry in it. */
function fileOfLocation(location: string): { company: string; name: string } {
  const [, company = "", , , name = ""] = location.split("/");
  return { company, name: name.replace(/\.[0-9a-f-]{36}\.xml$/, ".xml") };
}

interface Documents {
  readonly pool: Pick<DocumentPool, "prepareFile">;
  end(): Promise<void>;
}

async function startDocuments(): Promise<Documents> {
  const pool = createDocumentPool({ log: createLogger({ level: "silent" }), threads: 1 });
  const never = new AbortController().signal;
  await pool.start(never);
  return { pool, end: () => pool.stop(never) };
}

export class FaultyPipeline {
  readonly directory: string;
  readonly locations: Locations;
  readonly store: Store;
  faults: Faults = noFaults;
  observer: Observer = nobody;
  settings: PipelineSettings;
  clock: Clock = systemClock;
  pipeline: Pipeline;
  readonly #documents: Pick<DocumentPool, "prepareFile">;
  readonly #endDocuments: () => Promise<void>;
  readonly #companies = new Map<number, string>();
  readonly #signal = new AbortController().signal;
  readonly #log: Logger;

  private constructor(
    directory: string,
    parts: { store: Store; documents: Documents; settings: PipelineSettings },
  ) {
    this.directory = directory;
    this.locations = createLocations(directory);
    this.store = parts.store;
    this.#documents = parts.documents.pool;
    this.#endDocuments = parts.documents.end;
    this.settings = parts.settings;
    this.#log = createLogger({ level: "silent" });
    this.pipeline = this.#makePipeline();
  }

  /** In a folder of its own, which is removed at the end. A pool that is `shared` is the caller's, before and after. */
  static async start(
    settings: Partial<PipelineSettings> = {},
    shared?: DocumentPool,
  ): Promise<FaultyPipeline> {
    const directory = mkdtempSync(join(tmpdir(), "dropgate-faulty-"));
    const documents =
      shared === undefined ? await startDocuments() : { pool: shared, end: async () => undefined };
    const rig = new FaultyPipeline(directory, {
      store: await openUncheckedStore(directory),
      documents,
      settings: {
        ...{ groupSize: 8, settleMs: 5, incompleteGraceMs: 60_000, giveUpAfterMs: 3_600_000 },
        maxFileBytes: 50 * 2 ** 20,
        storePauseMs: 5,
        rulesFor: () => ({ names: "strict", lateFiles: "refuse" }),
        ...settings,
      },
    });
    await rig.pipeline.start(rig.#signal);
    return rig;
  }

  async addCompany(code: string): Promise<number> {
    const { company } = await this.store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
    this.#companies.set(company.id, code);
    mkdirSync(join(this.locations.inboundDirectory(code), ".again"), { recursive: true });
    return company.id;
  }

  /** Writes a file into `inbound/`, or beside it when its name is taken, as one that has just arrived. */
  arrival(companyId: number, name: string, content: string, channel: Channel = "sftp"): Arrival {
    const inbound = this.locations.inboundDirectory(this.#codeOf(companyId));
    const taken = this.pipeline.isKnown(join(inbound, name));
    this.#again += taken ? 1 : 0;
    const path = taken
      ? join(inbound, ".again", `${this.#again.toString(16).padStart(12, "0")}-${name}`)
      : join(inbound, name);
    writeFileSync(path, content);
    this.pipeline.reserve(path, { companyId, name });
    return { companyId, name, path, channel, userName: "host", size: content.length };
  }

  #again = 0;

  async ledger(companyId: number): Promise<LedgerEntry[]> {
    const rows = this.store.read.selectFrom("files").selectAll().where("company_id", "=", companyId);
    return (await rows.orderBy("id").execute()).map(toLedgerEntry);
  }

  /** A file arrives; resolves when it and all others of the company are filed away. */
  async take(companyId: number, name: string, content: string): Promise<void> {
    const before = (await this.ledger(companyId)).length;
    await this.pipeline.arriveAll([this.arrival(companyId, name, content)]);
    await waitFor("the file to be filed", async () => {
      const entries = await this.ledger(companyId);
      return entries.length > before && entries.every(({ isFiled }) => isFiled);
    });
  }

  /** State of each file of the company, by its name. */
  async states(companyId: number): Promise<Readonly<Record<string, string>>> {
    return Object.fromEntries((await this.ledger(companyId)).map(({ name, state }) => [name, state]));
  }

  receiptOf(companyId: number, name: string): string {
    const receipts = this.locations.receiptsDirectory(this.#codeOf(companyId));
    return readFileSync(join(receipts, name.replace(/\.xml$/, ".receipt.xml")), "utf8");
  }

  async restart(): Promise<void> {
    await this.pipeline.stop();
    this.pipeline = this.#makePipeline();
    await this.pipeline.start(this.#signal);
  }

  async end(): Promise<void> {
    await this.pipeline.stop();
    await this.#endDocuments();
    await this.store.close();
    rmSync(this.directory, { recursive: true, force: true });
  }

  #codeOf(companyId: number): string {
    return this.#companies.get(companyId) ?? "";
  }

  #makePipeline(): Pipeline {
    return new Pipeline({
      store: {
        read: this.store.read,
        write: (whose, work) => this.#write(whose, work),
        writeSoon: (whose, work) => this.store.writeSoon(whose, this.#failing(work, this.observer.begun())),
      },
      documents: { prepareFile: (path) => this.#prepare(path) },
      locations: this.locations,
      flushUploads: () => undefined,
      ledgerNumbers,
      settings: () => this.settings,
      companyCodeOf: async (companyId) => this.#codeOf(companyId),
      clock: { now: () => this.clock.now() },
      log: this.#log,
    });
  }

  async #write<T>(whose: Owner, work: Work<T>): Promise<T> {
    // In the same turn in which the group left the line.
    const begunAt = this.observer.begun();
    const result = await this.store.write(whose, this.#failing(work, begunAt));
    if (isDecidedFile(result)) {
      const { company, name } = fileOfLocation(result.location);
      this.observer.decided(company, name, result.state);
    }
    return result;
  }

  /**
   * A unit that fails after all was written, so that it has to be undone. Where units are not undone alone, one that has
   * failed in a group runs again: its fault is drawn once, so that it ends as it did, but for one that passes by itself.
   */
  #failing<T>(work: Work<T>, begunAt: number): Work<T> {
    let drawn: { readonly fault: Error | undefined } | undefined;
    return async (tx) => {
      const result = await work(tx);
      if (drawn === undefined || isStoreBusy(drawn.fault))
        drawn = { fault: this.faults.write?.() ?? this.#faultOf(result, begunAt) };
      if (drawn.fault !== undefined) throw drawn.fault;
      return result;
    };
  }

  #faultOf(result: unknown, begunAt: number): Error | undefined {
    if (!isDecidedFile(result)) return undefined;
    const { company, name } = fileOfLocation(result.location);
    this.observer.attempted(company, name, begunAt);
    return this.faults.decide(company, name);
  }

  async #prepare(path: string): Promise<PreparedDocument> {
    const company = path.slice(this.directory.length).split("/")[2] ?? "";
    const name = nameOfAgainFile(basename(path));
    const fault = this.faults.read(company, name);
    if (fault !== undefined) this.observer.looked(company, name, false);
    if (fault instanceof Error) throw fault;
    const prepared = fault ?? (await this.#documents.prepareFile(path));
    if (prepared.kind === "read") this.observer.looked(company, name, true);
    return prepared;
  }
}

/** A stop document with one or several stops; the first is that of the name. */
export function stopXml(stopNbrs: readonly string[], text = "", stopFunction = "01"): string {
  const stops = stopNbrs.map(
    (stopNbr) =>
      `<Stop><Function>${stopFunction}</Function><StopNbr>${stopNbr}</StopNbr><ShipToName>${text}</ShipToName></Stop>`,
  );
  return stops.length === 1 ? (stops[0] ?? "") : `<Stops>${stops.join("")}</Stops>`;
}
