/**
 * Receipts of a dead node's company: it may have lost its power, and they with it. They are compared with the ledger while the
 * company's work goes on, which had to wait long enough.
 *
 *   of the last minute ──compared──> as they have to be
 *        another one is there ──> written again
 *        none is there        ──> mostly a host has fetched and deleted it, at any node, which notes that within two seconds: so
 *                                 it is written again when that would be known, unless it was collected by then
 *
 * What cannot be written for a minute is given up, and told. What survives a crash: nothing; until all is done, the table of
 * leases says that the company was a dead node's, and whoever takes it over begins anew.
 */
import { isOpenState } from "../../domain/files/file-state.ts";
import { isThere } from "../../lib/files/is-there.ts";
import type { LimitedLog } from "../../lib/logs/limited-log.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import type { Ownership, TakenCompany } from "../../store/cluster/ownership.ts";
import { findFile, type LedgerEntry, listFiledSince } from "../../store/ledger/files.ts";
import type { ReceiptFiles } from "../places/receipt-files.ts";
import {
  type AwaitedReceipts,
  receiptPathOf,
  receiptsOnTheirWay,
  type WrittenAgain,
} from "../receipts/awaited-receipts.ts";
import {
  type CompareDeps,
  comparedAtOnce,
  type FaultyReceipt,
  findFaultyReceipts,
  receiptsToBe,
  type ReceiptFault,
} from "./compare-receipts.ts";
import { endReceiptsBeside, foldersBeside } from "./receipts-beside.ts";
import { writtenBackMs } from "./rewrite-receipts.ts";

/** What a dead node has left of the receipts of its company. */
export interface LeftReceipts {
  /** When that node was surely there for the last time, milliseconds UTC. */
  readonly orphanedAt: number;
  /** The entries whose files it has filed in its last minute. */
  readonly entries: readonly LedgerEntry[];
}

/** To be asked before the company's work begins: what is filed from then on is this node's own. */
export async function listLeftReceipts(
  { store }: Pick<CompareDeps, "store">,
  { companyId, orphanedAt }: Pick<TakenCompany, "companyId" | "orphanedAt">,
): Promise<LeftReceipts | undefined> {
  if (orphanedAt === undefined) return undefined;
  return {
    orphanedAt,
    entries: await listFiledSince(store.read, orphanedAt - writtenBackMs, companyId),
  };
}

export interface OrphanedReceiptsDeps extends CompareDeps {
  readonly ledgerNumbers: Pick<SealedNumbers, "seal" | "open">;
  readonly company: TakenCompany;
  readonly ownership: Pick<Ownership, "fenceOf">;
  readonly receiptFiles: ReceiptFiles;
  readonly receipts: Pick<AwaitedReceipts, "writeAgain" | "leavesTo">;
  readonly failing: LimitedLog;
}

interface Faulty {
  readonly id: number;
  readonly path: string;
  /** Of the entry: one that is decided about anew meanwhile has its receipts from this node. */
  readonly decidedAt: number | null;
  fault: ReceiptFault;
  /** By `performance.now()`, as below. */
  dueAt: number;
  triedAt?: number;
  /** It could not be written. */
  hasFailed?: true;
}

/** Between two looks. */
export const orphanedLookMs = 1_000;
/** Longer than a node takes to note what hosts have collected, also when that fails once. */
const missingMs = 6_000;
const patienceMs = 60_000;

function toFaulty({ entry, path, fault }: FaultyReceipt): Faulty {
  const now = performance.now();
  const dueAt = fault === "missing" ? now + missingMs : now;
  return { id: entry.id, path, decidedAt: entry.decidedAt, fault, dueAt };
}

export class OrphanedReceipts {
  readonly #deps: OrphanedReceiptsDeps;
  readonly #orphanedAt: number;
  #toCompare: readonly LedgerEntry[];
  /** In which something may be left of receipts that lie beside files. */
  readonly #beside: Set<string>;
  readonly #faulty = new Set<Faulty>();

  constructor(deps: OrphanedReceiptsDeps, { orphanedAt, entries }: LeftReceipts) {
    this.#deps = deps;
    this.#orphanedAt = orphanedAt;
    this.#toCompare = entries;
    this.#beside = new Set(foldersBeside(deps.locations, deps.company.companyCode, entries));
  }

  /** None is left to compare or to write. */
  get isDone(): boolean {
    return this.#toCompare.length === 0 && this.#faulty.size === 0 && this.#beside.size === 0;
  }

  /** Compares what is left to compare and writes what is due, unless stopped; the rest is for the next look. Never rejects. */
  async look(stopping: AbortSignal): Promise<void> {
    const { company, ownership, failing } = this.#deps;
    const mayGoOn = () => !stopping.aborted && ownership.fenceOf(company.companyId) !== undefined;
    try {
      for (const folder of this.#beside) {
        if (!mayGoOn()) return;
        await endReceiptsBeside(this.#deps, folder, mayGoOn);
        this.#beside.delete(folder);
      }
      while (this.#toCompare.length > 0 && mayGoOn()) {
        await this.#comparePage();
        // At once: a host may collect what was found.
        await this.#writeDue(mayGoOn);
      }
      await this.#writeDue(mayGoOn);
    } catch (error) {
      failing.warn(
        { err: error, company: company.companyCode },
        "receipts of a node that has died cannot be compared with the ledger; retrying",
      );
    }
    if (mayGoOn()) this.#giveUp();
  }

  async #comparePage(): Promise<void> {
    const page = this.#toCompare.slice(0, comparedAtOnce);
    const found = await findFaultyReceipts(this.#deps, page, {
      orphanedAt: this.#orphanedAt,
      unread: ({ entry, path }, error) => {
        const fields = { err: error, entry: entry.id, path };
        this.#deps.failing.warn(fields, "a receipt cannot be read; writing it again");
        return "other";
      },
    });
    for (const receipt of found) this.#faulty.add(toFaulty(receipt));
    this.#toCompare = this.#toCompare.slice(comparedAtOnce);
  }

  async #writeDue(mayGoOn: () => boolean): Promise<void> {
    const due = [...this.#faulty].filter(({ dueAt }) => performance.now() >= dueAt);
    if (due.length === 0 || !mayGoOn()) return;
    const { log, company, locations } = this.#deps;
    // Also those of files that a dead node has left there, and has not entered: nobody else knows of them yet.
    const onTheirWay = new Set(await receiptsOnTheirWay(locations, company.companyCode));
    let written = 0;
    for (const faulty of due) {
      if (!mayGoOn()) break;
      const end = await this.#write(faulty, onTheirWay);
      if (end === "written") written += 1;
      if (end !== "later") this.#faulty.delete(faulty);
      faulty.triedAt ??= performance.now();
      faulty.dueAt = performance.now() + missingMs;
    }
    const fields = { company: company.companyCode, receipts: written };
    if (written > 0) log.info(fields, "receipts of a node that has died were written again");
  }

  async #write(faulty: Faulty, onTheirWay: ReadonlySet<string>): Promise<WrittenAgain> {
    try {
      return await this.#writeAgain(faulty, onTheirWay);
    } catch (error) {
      const { id, path } = faulty;
      faulty.hasFailed = true;
      this.#deps.failing.warn({ err: error, id, path }, "a receipt cannot be written again; retrying");
      return "later";
    }
  }

  async #writeAgain(faulty: Faulty, onTheirWay: ReadonlySet<string>): Promise<WrittenAgain> {
    const { store, company, locations, receipts, receiptFiles } = this.#deps;
    const entry = await findFile(store.read, faulty.id);
    if (entry === undefined || isOpenState(entry.state) || !entry.isFiled) return "none";
    if (entry.decidedAt !== faulty.decidedAt) return "none";
    const { path } = faulty;
    const isOfName = path === receiptPathOf(locations, company.companyCode, entry.name);
    // What comes of that file decides about it.
    if (isOfName && receipts.leavesTo(entry)) return "none";
    if (isOfName && onTheirWay.has(path)) return "later";
    // A host has deleted it since.
    const isGone = !(await isThere(path));
    if (faulty.fault !== "missing" && isGone) {
      faulty.fault = "missing";
      return "later";
    }
    const { fault } = faulty;
    if (fault !== "other" && entry.receiptCollectedAt !== null) return "none";
    if (fault === "missing" && !isGone) return "none";
    const onlyIf = fault === "missing" ? "missing" : "there";
    if (isOfName)
      return await receipts.writeAgain(entry, {
        ...{ onlyOf: entry.id, onlyIf, isCollectedToo: fault === "other" },
      });
    const toBe = (await receiptsToBe(this.#deps, entry)).find((one) => one.path === path);
    if (toBe === undefined) return "none";
    return (await receiptFiles.write(path, toBe.text, { onlyIf })) ? "written" : "later";
  }

  /** Of those that are withheld for a minute, whatever comes of the files for whose sake; of all others it is told. */
  #giveUp(): void {
    const before = performance.now() - patienceMs;
    const given = [...this.#faulty].filter(({ triedAt }) => triedAt !== undefined && triedAt <= before);
    for (const one of given) this.#faulty.delete(one);
    const entries = given.filter(({ hasFailed }) => hasFailed).map(({ id }) => id);
    if (entries.length === 0) return;
    this.#deps.log.error(
      { company: this.#deps.company.companyCode, entries },
      "receipts that a power failure may have taken cannot be written again; `dropgate file ENTRY` shows what they would say",
    );
  }
}
