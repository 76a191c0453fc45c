/** What the accounting of the ledger has come to: sums by company, counts, and what is not right. */
import { decidedStates, isFileState, isOpenState } from "../../domain/files/file-state.ts";
import type { Company } from "../../store/accounts/companies.ts";
import type { PrunedEntries } from "../../store/ledger/entry-retention.ts";
import type { AccountedFile, CountedFile } from "../../store/ledger/accounted-files.ts";
import type { LedgerFinding } from "../places/verify-entry.ts";

/** Entries of one company; `received` is the sum of the five that follow it. */
export interface CompanyAccount {
  readonly company: string;
  readonly received: number;
  readonly applied: number;
  readonly refused: number;
  readonly duplicate: number;
  readonly superseded: number;
  /** With those that are to be retried. */
  readonly waiting: number;
  /** How many of them have no entry any more, because of their age. */
  readonly pruned: number;
}

export type DiscrepancyKind = LedgerFinding["kind"] | "shared" | "state" | "count" | "unaccounted";

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
  /** Entries whose bytes were removed because of their age. */
  readonly pruned: number;
  /** Entries that never had bytes: the file was gone, or was no file, when it was to be read. */
  readonly withoutBytes: number;
  /** Files in `inbound/` that the running daemon is about to take. */
  readonly arriving: number;
  /** Files that the next start takes, or moves on, while no daemon runs. */
  readonly atNextStart: number;
  /** What was not proved, and why, in words. */
  readonly unproved: readonly string[];
  readonly discrepancyCount: number;
  /** The first of them. */
  readonly discrepancies: readonly Discrepancy[];
}

/** How many are listed; all are counted. */
const maxListed = 1_000;

const movingText = "the entry is still being filed away";

function emptyAccount(company: string): CompanyAccount {
  return { company, received: 0, applied: 0, refused: 0, duplicate: 0, superseded: 0, waiting: 0, pruned: 0 };
}

/** Gathers the report. */
export class LedgerTally {
  readonly #codes: ReadonlyMap<number, string>;
  readonly #accounts: Map<number, CompanyAccount>;
  readonly #discrepancies: Discrepancy[] = [];
  readonly #unproved: string[] = [];
  #count = 0;
  readonly counts = {
    entries: 0,
    bytes: 0,
    removed: 0,
    pruned: 0,
    withoutBytes: 0,
    arriving: 0,
    atNextStart: 0,
  };

  constructor(companies: readonly Pick<Company, "id" | "code">[]) {
    this.#codes = new Map(companies.map(({ id, code }) => [id, code]));
    this.#accounts = new Map(companies.map(({ id, code }) => [id, emptyAccount(code)]));
  }

  /** Sets the sums of a company, as they were counted; states that do not exist are in `received` alone. */
  enter(companyId: number, counts: ReadonlyMap<string, number>, pruned: PrunedEntries | undefined): void {
    const known = emptyAccount(this.#codeOf({ companyId }));
    const account = { ...known, pruned: 0 };
    for (const [state, count] of counts) {
      account.received += count;
      if (isFileState(state)) account[state === "retry" ? "waiting" : state] += count;
    }
    for (const state of decidedStates) {
      const count = pruned?.[state] ?? 0;
      account.received += count;
      account[state] += count;
      account.pruned += count;
    }
    this.#accounts.set(companyId, account);
  }

  /** An entry whose state does not exist. */
  reportState({ companyId, id, name, location, state }: CountedFile): void {
    const message = `the state ${JSON.stringify(state)} does not exist, so the sums cannot agree`;
    const company = this.#codeOf({ companyId });
    this.report({ kind: "state", company, fileId: id, name, location, message });
  }

  /** What is not right with an entry. */
  reportFinding(file: AccountedFile, finding: LedgerFinding): void {
    const { kind, location } = finding;
    const isMoving = !file.isFiled && !(file.state !== undefined && isOpenState(file.state));
    const message = isMoving ? `${finding.message} (${movingText})` : finding.message;
    this.report({ kind, ...this.#nameOf(file), location, message });
  }

  report(discrepancy: Discrepancy): void {
    this.#count += 1;
    if (this.#discrepancies.length < maxListed) this.#discrepancies.push(discrepancy);
  }

  reportUnproved(what: string): void {
    this.#unproved.push(what);
  }

  toReport(): LedgerReport {
    const found = { discrepancyCount: this.#count, discrepancies: this.#discrepancies };
    return { accounts: [...this.#accounts.values()], ...this.counts, unproved: this.#unproved, ...found };
  }

  #codeOf({ companyId }: Pick<AccountedFile, "companyId">): string {
    return this.#codes.get(companyId) ?? String(companyId);
  }

  #nameOf(file: AccountedFile): Pick<Discrepancy, "company" | "fileId" | "name"> {
    return { company: this.#codeOf(file), fileId: file.id, name: file.name };
  }
}
