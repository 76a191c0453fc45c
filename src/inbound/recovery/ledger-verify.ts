/**
 * Proves the accounting of the ledger (specification/file-exchange.md#once): received = applied + refused + duplicate +
 * superseded + waiting, every entry's bytes lie in exactly one place and are those that were received, and no file lies
 * about that no entry knows.
 *
 *   entry ──look──> in order
 *      └──> doubtful ──row changed meanwhile, or its file is in motion──> looked at again after a pause
 *                   \──else──> discrepancy
 *
 * Safe beside a working daemon, because a row is always changed before its bytes are moved: a filed entry whose row reads
 * the same before and after the look is as it was seen. What is in motion is given time to arrive.
 */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import {
  type AccountedFile,
  findAccountedFiles,
  lastFileId,
  listAccountedFiles,
} from "../../store/ledger/file-queries.ts";
import { listSharedLocations } from "../../store/ledger/shared-locations.ts";
import { findUnaccounted, withoutEntry } from "./find-unaccounted.ts";
import { type LedgerFinding, lookAtEntry } from "../places/look-at-entry.ts";
import type { Locations } from "../places/locations.ts";

export interface VerifyDependencies {
  readonly store: Pick<Store, "read">;
  readonly locations: Locations;
  readonly clock: Clock;
  /** How long a file may lie in `inbound/` while none is taken from there. */
  readonly arrivalGraceMs: number;
  /** How long a file may lie in `inbound/` unchanged because it is not whole yet. Default: `arrivalGraceMs`. */
  readonly stayGraceMs?: number;
  /** No daemon runs: what lies in `inbound/` is taken by the next start, which also ends what a crash broke off. */
  readonly isStopped?: boolean;
  /** How long files in motion are given between two looks. Default 1,000. */
  readonly pauseMs?: number;
}

export interface VerifyProgress {
  /** Entries looked at, of about `total`. */
  readonly entries: number;
  readonly total: number;
  readonly bytes: number;
}

/** Entries of one company; `received` is the sum of the five that follow it. */
export interface CompanyAccount {
  readonly company: string;
  readonly received: number;
  readonly applied: number;
  readonly refused: number;
  readonly duplicate: number;
  readonly superseded: number;
  /** With those that are to be tried again. */
  readonly waiting: number;
}

export type DiscrepancyKind = LedgerFinding["kind"] | "shared" | "state" | "unaccounted";

export interface Discrepancy {
  readonly kind: DiscrepancyKind;
  readonly company?: string;
  readonly fileId?: number;
  readonly name?: string;
  /** Relative to the state directory when inside it. */
  readonly location: string;
  readonly message: string;
}

export interface LedgerReport {
  readonly accounts: readonly CompanyAccount[];
  readonly entries: number;
  readonly bytes: number;
  /** Entries whose bytes a user removed from `error/`. */
  readonly removed: number;
  /** Entries that never had bytes: the file was gone, or was no file, when it was to be read. */
  readonly withoutBytes: number;
  /** Files in `inbound/` that the running daemon is about to take. */
  readonly arriving: number;
  /** Files that the next start takes, or moves on, while no daemon runs. */
  readonly atNextStart: number;
  readonly discrepancyCount: number;
  /** The first of them. */
  readonly discrepancies: readonly Discrepancy[];
}

export interface VerifyOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

const pageSize = 2_000;
const lookers = 8;
const bufferBytes = 64 * 1024;
const maxLooks = 5;
const defaultPauseMs = 1_000;
/** How many are kept to be told, and to be looked at again at once. */
const maxKept = 1_000;

type AccountState = Exclude<keyof CompanyAccount, "company" | "received">;

interface Doubt {
  readonly file: AccountedFile;
  readonly finding: LedgerFinding;
}

const movingText = "the entry is still being filed away";

class Verification {
  readonly #deps: VerifyDependencies;
  readonly #options: VerifyOptions;
  readonly #codes = new Map<number, string>();
  readonly #accounts = new Map<number, CompanyAccount>();
  readonly #discrepancies: Discrepancy[] = [];
  readonly #buffers = Array.from({ length: lookers }, () => Buffer.allocUnsafeSlow(bufferBytes));
  #inMotion: Doubt[] = [];
  #count = 0;
  #entries = 0;
  #bytes = 0;
  #removed = 0;
  #withoutBytes = 0;
  #arriving = 0;
  #atNextStart = 0;

  constructor(deps: VerifyDependencies, options: VerifyOptions) {
    this.#deps = deps;
    this.#options = options;
  }

  async run(): Promise<LedgerReport> {
    for (const { id, code } of await listCompanies(this.#deps.store.read)) {
      this.#codes.set(id, code);
      this.#accounts.set(id, emptyAccount(code));
    }
    await this.#verifyEntries();
    await this.#settleMotion();
    await this.#verifyPlaces();
    for (const code of this.#codes.values()) await this.#verifyFolders(code);
    return {
      accounts: [...this.#accounts.values()],
      entries: this.#entries,
      bytes: this.#bytes,
      removed: this.#removed,
      withoutBytes: this.#withoutBytes,
      arriving: this.#arriving,
      atNextStart: this.#atNextStart,
      discrepancyCount: this.#count,
      discrepancies: this.#discrepancies,
    };
  }

  async #verifyEntries(): Promise<void> {
    const { read } = this.#deps.store;
    const total = await lastFileId(read);
    for (let afterId = 0; ; ) {
      const page = await listAccountedFiles(read, { afterId, limit: pageSize });
      for (const file of page) this.#tally(file);
      await this.#settle(await this.#lookAtAll(page));
      this.#options.onProgress?.({ entries: this.#entries, total, bytes: this.#bytes });
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) return;
      afterId = last.id;
    }
  }

  #tally(file: AccountedFile): void {
    this.#entries += 1;
    const code = this.#codes.get(file.companyId) ?? String(file.companyId);
    const account = this.#accounts.get(file.companyId) ?? emptyAccount(code);
    const state: AccountState | undefined = file.state === "retry" ? "waiting" : file.state;
    const counted = state === undefined ? {} : { [state]: account[state] + 1 };
    this.#accounts.set(file.companyId, { ...account, received: account.received + 1, ...counted });
    if (state === undefined) {
      const message = `the state ${JSON.stringify(file.stateText)} does not exist, so the sums cannot agree`;
      this.#report({ kind: "state", ...this.#nameOf(file), location: file.location, message });
    }
  }

  /** Looks at the bytes of all; gives those that do not seem right. */
  async #lookAtAll(files: readonly AccountedFile[]): Promise<Doubt[]> {
    const doubts: Doubt[] = [];
    const rest = files.values();
    const lookOn = async (buffer: Buffer): Promise<void> => {
      for (const file of rest) {
        this.#options.signal?.throwIfAborted();
        const finding = await this.#look(file, buffer);
        if (finding !== undefined) doubts.push({ file, finding });
      }
    };
    await Promise.all(this.#buffers.map(lookOn));
    return doubts;
  }

  async #look(file: AccountedFile, buffer: Buffer): Promise<LedgerFinding | undefined> {
    if (file.isRemoved) {
      this.#removed += 1;
      return undefined;
    }
    const look = await lookAtEntry(file, {
      pathOf: (location) => this.#deps.locations.fromLedger(location),
      buffer,
      ...(this.#options.signal === undefined ? {} : { signal: this.#options.signal }),
    });
    if (look.kind === "withoutBytes") this.#withoutBytes += 1;
    if (look.kind === "inOrder") this.#bytes += look.size;
    return look.kind === "doubtful" ? look.finding : undefined;
  }

  /** Reports what is certain; what has changed or is in motion is looked at again later. */
  async #settle(doubts: readonly Doubt[]): Promise<void> {
    if (doubts.length === 0) return;
    const ids = doubts.map(({ file }) => file.id);
    const now = await findAccountedFiles(this.#deps.store.read, ids);
    for (const { file, finding } of doubts) {
      const current = now.get(file.id);
      if (file.isFiled && current !== undefined && isSameEntry(file, current))
        this.#reportFinding(file, finding);
      else this.#inMotion.push({ file, finding });
    }
    if (this.#inMotion.length >= maxKept) await this.#settleMotion();
  }

  async #settleMotion(): Promise<void> {
    let doubts = this.#inMotion;
    this.#inMotion = [];
    for (let looks = 1; looks <= maxLooks && doubts.length > 0; looks += 1) {
      await this.#pause();
      const ids = doubts.map(({ file }) => file.id);
      const now = await findAccountedFiles(this.#deps.store.read, ids);
      const again = await this.#lookAtAll([...now.values()]);
      const gone = doubts.filter(({ file }) => !now.has(file.id));
      for (const { file, finding } of gone) this.#reportFinding(file, finding);
      doubts = again;
      // Nobody moves anything meanwhile.
      if (this.#deps.isStopped === true) break;
    }
    for (const { file, finding } of doubts) {
      if (this.#isBrokenOff(finding)) this.#atNextStart += 1;
      else this.#reportFinding(file, finding);
    }
  }

  /** A copy that was made to file the bytes away, whose source was not removed any more: the next start does that. */
  #isBrokenOff({ kind }: LedgerFinding): boolean {
    return this.#deps.isStopped === true && kind === "twice";
  }

  async #verifyPlaces(): Promise<void> {
    const options = { limit: maxKept, signal: this.#options.signal };
    for (const shared of await listSharedLocations(this.#deps.store.read, options)) {
      const { location, firstId, lastId } = shared;
      const message = `the entries ${firstId} and ${lastId} name the same place`;
      this.#report({ kind: "shared", fileId: firstId, location, message });
    }
  }

  async #verifyFolders(company: string): Promise<void> {
    let doubtful: string[] = [];
    for await (const paths of findUnaccounted(this.#deps, company)) {
      this.#options.signal?.throwIfAborted();
      doubtful.push(...paths);
      if (doubtful.length < maxKept) continue;
      await this.#settleFiles(company, doubtful);
      doubtful = [];
    }
    await this.#settleFiles(company, doubtful);
  }

  /** A file that still lies there after a pause and still has no entry is unaccounted for. */
  async #settleFiles(company: string, paths: readonly string[]): Promise<void> {
    const inbound = join(this.#deps.locations.inboundDirectory(company), "/");
    const isInbound = (path: string) => path.startsWith(inbound);
    const looked = this.#deps.isStopped === true ? this.#leftForNextStart(paths, isInbound) : paths;
    if (looked.length > 0) await this.#settleDoubtful(company, looked, isInbound);
  }

  /** Counts what the next start takes; gives the others. */
  #leftForNextStart(paths: readonly string[], isInbound: (path: string) => boolean): readonly string[] {
    const others = paths.filter((path) => !isInbound(path));
    this.#atNextStart += paths.length - others.length;
    return others;
  }

  async #settleDoubtful(
    company: string,
    paths: readonly string[],
    isInbound: (path: string) => boolean,
  ): Promise<void> {
    let left = await this.#stillUnaccounted(paths, isInbound);
    let progressAt = this.#deps.clock.now();
    // A running daemon may be in the middle of a hundred thousand: as long as it takes some, the others are not lost.
    while (left.some(isInbound) && this.#deps.clock.now() - progressAt < this.#deps.arrivalGraceMs) {
      const before = left.length;
      left = await this.#stillUnaccounted(left, isInbound);
      if (left.length < before) progressAt = this.#deps.clock.now();
    }
    for (const path of left) this.#reportUnaccounted(company, path, isInbound(path));
  }

  /** Looks again after a pause. Files that came a moment ago are counted as arriving and asked for no more. */
  async #stillUnaccounted(
    paths: readonly string[],
    isInbound: (path: string) => boolean,
  ): Promise<readonly string[]> {
    await this.#pause();
    const left: string[] = [];
    for (const path of await withoutEntry(this.#deps, paths)) {
      const changedAt = await changeTimeOf(path);
      if (changedAt === undefined) continue;
      const { arrivalGraceMs, stayGraceMs = arrivalGraceMs } = this.#deps;
      const isArriving = isInbound(path) && this.#deps.clock.now() - changedAt < stayGraceMs;
      if (isArriving) this.#arriving += 1;
      else left.push(path);
    }
    return left;
  }

  #reportUnaccounted(company: string, path: string, isInbound: boolean): void {
    const remedy = isInbound ? "; a running daemon takes it" : "; move it away after looking at it";
    const message = `no ledger entry knows this file${remedy}`;
    this.#report({ kind: "unaccounted", company, location: this.#deps.locations.toLedger(path), message });
  }

  #reportFinding(file: AccountedFile, finding: LedgerFinding): void {
    const { kind, location } = finding;
    const isMoving = !file.isFiled && file.state !== "waiting" && file.state !== "retry";
    const message = isMoving ? `${finding.message} (${movingText})` : finding.message;
    this.#report({ kind, ...this.#nameOf(file), location, message });
  }

  #nameOf(file: AccountedFile): Pick<Discrepancy, "company" | "fileId" | "name"> {
    const company = this.#codes.get(file.companyId) ?? String(file.companyId);
    return { company, fileId: file.id, name: file.name };
  }

  #report(discrepancy: Discrepancy): void {
    this.#count += 1;
    if (this.#discrepancies.length < maxKept) this.#discrepancies.push(discrepancy);
  }

  async #pause(): Promise<void> {
    const { signal } = this.#options;
    await wait(this.#deps.pauseMs ?? defaultPauseMs, undefined, signal === undefined ? {} : { signal });
  }
}

function emptyAccount(company: string): CompanyAccount {
  return { company, received: 0, applied: 0, refused: 0, duplicate: 0, superseded: 0, waiting: 0 };
}

function isSameEntry(one: AccountedFile, other: AccountedFile): boolean {
  return (
    one.location === other.location &&
    one.isFiled === other.isFiled &&
    one.isRemoved === other.isRemoved &&
    one.stateText === other.stateText
  );
}

/** When the file was last changed or renamed, undefined when it is gone. */
async function changeTimeOf(path: string): Promise<number | undefined> {
  return (await lstat(path).catch(unlessMissing))?.ctimeMs;
}

/** Verifies the whole ledger. Memory is bounded; at most 1,000 discrepancies are told, all are counted. */
export async function verifyLedger(
  deps: VerifyDependencies,
  options: VerifyOptions = {},
): Promise<LedgerReport> {
  return await new Verification(deps, options).run();
}
