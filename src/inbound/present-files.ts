/** The files that are in the pipeline, or about to appear: their paths, their counts, and the receipts that wait for them. */
import { basename, dirname } from "node:path";
import type { AwaitedReceipts, ReceiptOwner } from "./receipts/awaited-receipts.ts";
import { CountedPaths } from "./places/counted-paths.ts";
import { toWaitingFile, type WaitingFile, type WaitingFileSource } from "./lanes/waiting-file.ts";

/** How many files of each company are in the pipeline: came ──> decided ──> left. */
export class FileCounts {
  readonly #waiting = new Map<number, number>();
  readonly #undecided = new Map<number, number>();

  came(companyId: number): void {
    add(this.#waiting, companyId, 1);
    add(this.#undecided, companyId, 1);
  }

  /** It is decided about, or nothing is left to decide about. */
  decided(companyId: number): void {
    add(this.#undecided, companyId, -1);
  }

  /** It is filed away too, or gone. */
  left(companyId: number): void {
    add(this.#waiting, companyId, -1);
  }

  waiting(companyId: number): number {
    return this.#waiting.get(companyId) ?? 0;
  }

  undecided(companyId: number): number {
    return this.#undecided.get(companyId) ?? 0;
  }

  /** Those that wait, over all companies. */
  get total(): number {
    return [...this.#waiting.values()].reduce((total, count) => total + count, 0);
  }
}

function add(counts: Map<number, number>, companyId: number, by: 1 | -1): void {
  counts.set(companyId, (counts.get(companyId) ?? 0) + by);
}

export class PresentFiles {
  readonly counts = new FileCounts();
  /** Paths of files in the pipeline: scans ignore them. */
  readonly paths = new CountedPaths();
  /** Paths that are about to appear. Kept apart: giving one back must not forget a file that waits under that name. */
  readonly #reservedPaths = new CountedPaths();
  readonly #receipts: AwaitedReceipts;

  constructor(receipts: AwaitedReceipts) {
    this.#receipts = receipts;
  }

  has(path: string): boolean {
    return this.paths.has(path) || this.#reservedPaths.has(path);
  }

  reserve(path: string, file: ReceiptOwner): void {
    this.#reservedPaths.add(dirname(path), basename(path));
    this.#receipts.reserve(path, file);
  }

  release(path: string): void {
    this.#reservedPaths.delete(dirname(path), basename(path));
    this.#receipts.release(path);
  }

  add(source: WaitingFileSource): WaitingFile {
    const file = toWaitingFile(source);
    this.counts.came(file.companyId);
    this.paths.add(file.directory, file.fileName);
    this.#receipts.add(file);
    return file;
  }

  /** It is decided, or gone. */
  decided(file: WaitingFile): void {
    this.#receipts.delete(file);
    this.counts.decided(file.companyId);
  }

  /** It is filed away, or gone: its path may be used again. */
  left(file: WaitingFile): void {
    this.paths.delete(file.directory, file.fileName);
    this.counts.left(file.companyId);
  }
}
