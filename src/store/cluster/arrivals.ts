/**
 * What nodes tell the one that has a company about files that they have entered for it. Each file is a row until it is in line
 * there. Whoever enters it locks no lane: the transactions of the owner, which lock it for many round trips, and those of the
 * nodes that enter files, need not wait for one another. What the order of files needs is told by the lock of the lane, which
 * gives the rows that are committed by then: a file whose close was answered before another one came is among them.
 */
import type { NewFile } from "../../domain/files/new-file.ts";

/** A file that another node has entered. */
export interface ArrivedFile {
  /** Of its entry in the ledger. */
  readonly fileId: number;
  readonly name: string;
}

/** Files of one company that are in the table. */
export interface CompanyArrivals {
  readonly companyId: number;
  readonly fileIds: readonly number[];
}

/** Called with the ids of files that are in line, before anything is decided with them. */
export type OnInLine = (fileIds: readonly number[]) => void;

/** What became of a file that was to be entered. `being filed`: an entry of the source is decided, its file perhaps not moved. */
export type EnteredAs = "entered" | "being filed" | "gone";

export interface ArrivalTable {
  /**
   * Enters files, unless an entry of the same source waits already, or the file has gone. `isThere` is asked when the ledger
   * was: an entry that is filed has moved its file before. Resolves with what became of each, when it is committed.
   */
  enter(
    files: readonly NewFile[],
    isThere: (file: NewFile) => Promise<boolean>,
  ): Promise<readonly EnteredAs[]>;
  /** Those of the companies of the node but for these, some thousand at most. */
  ofNode(node: string, without: readonly number[]): Promise<readonly CompanyArrivals[]>;
  /** Those of the company, some thousand at most. */
  ofCompany(companyId: number): Promise<readonly number[]>;
  /** These are in line, by who has the leases of these epochs. */
  remove(inLine: readonly (CompanyArrivals & { readonly epoch: number })[]): Promise<void>;
}
