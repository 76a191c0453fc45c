import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { unlessMissing } from "../../lib/errors.ts";
import { findUnaccounted, withoutEntry } from "./find-unaccounted.ts";
import type { LedgerTally } from "./ledger-report.ts";
import { maxAtOnce, pauseOf, type VerifyDependencies, type VerifyOptions } from "./verify-options.ts";

/** Reports the files of a company that no entry knows, and counts those that are about to be taken. */
export class FolderVerification {
  readonly #deps: VerifyDependencies;
  readonly #options: VerifyOptions;
  readonly #tally: LedgerTally;
  readonly #company: string;
  readonly #inbound: string;

  constructor(deps: VerifyDependencies, options: VerifyOptions, tally: LedgerTally, company: string) {
    this.#deps = deps;
    this.#options = options;
    this.#tally = tally;
    this.#company = company;
    this.#inbound = join(deps.locations.inboundDirectory(company), "/");
  }

  #isInbound(path: string): boolean {
    return path.startsWith(this.#inbound);
  }

  async run(): Promise<void> {
    let doubtful: string[] = [];
    for await (const paths of findUnaccounted(this.#deps, this.#company)) {
      this.#options.signal?.throwIfAborted();
      doubtful.push(...paths);
      if (doubtful.length < maxAtOnce) continue;
      await this.#settleFiles(doubtful);
      doubtful = [];
    }
    await this.#settleFiles(doubtful);
  }

  /** A file that still lies there after a pause and still has no entry is unaccounted for. */
  async #settleFiles(paths: readonly string[]): Promise<void> {
    const doubtful = this.#deps.isStopped === true ? this.#leftForNextStart(paths) : paths;
    if (doubtful.length > 0) await this.#settleDoubtful(doubtful);
  }

  /** Counts what the next start takes; gives the others. */
  #leftForNextStart(paths: readonly string[]): readonly string[] {
    const others = paths.filter((path) => !this.#isInbound(path));
    this.#tally.counts.atNextStart += paths.length - others.length;
    return others;
  }

  async #settleDoubtful(paths: readonly string[]): Promise<void> {
    const isInbound = (path: string) => this.#isInbound(path);
    let left = await this.#stillUnaccounted(paths);
    let progressAt = this.#deps.clock.now();
    // A running daemon may be in the middle of a hundred thousand: as long as it takes some, the others are not lost.
    while (left.some(isInbound) && this.#deps.clock.now() - progressAt < this.#deps.arrivalGraceMs) {
      const before = left.length;
      left = await this.#stillUnaccounted(left);
      if (left.length < before) progressAt = this.#deps.clock.now();
    }
    for (const path of left) this.#reportUnaccounted(path);
  }

  /** Those without an entry after a pause. Files that came a moment ago are counted as arriving and asked for no more. */
  async #stillUnaccounted(paths: readonly string[]): Promise<readonly string[]> {
    await pauseOf(this.#deps, this.#options);
    const left: string[] = [];
    for (const path of await withoutEntry(this.#deps, paths)) {
      const stats = await lstat(path).catch(unlessMissing);
      if (stats === undefined) continue;
      const { arrivalGraceMs, stayGraceMs = arrivalGraceMs } = this.#deps;
      const isArriving = this.#isInbound(path) && this.#deps.clock.now() - stats.ctimeMs < stayGraceMs;
      if (isArriving) this.#tally.counts.arriving += 1;
      else left.push(path);
    }
    return left;
  }

  #reportUnaccounted(path: string): void {
    const remedy = this.#isInbound(path)
      ? "; a running daemon takes it"
      : "; move it away after looking at it";
    const message = `no ledger entry knows this file${remedy}`;
    const location = this.#deps.locations.toLedger(path);
    this.#tally.report({ kind: "unaccounted", company: this.#company, location, message });
  }
}
