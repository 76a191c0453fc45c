/** Reads the bytes of every entry of the ledger; those in motion get time to arrive. */
import { setImmediate } from "node:timers/promises";
import {
  type AccountedFile,
  findAccountedFiles,
  listAccountedFiles,
} from "../../store/ledger/accounted-files.ts";
import { lastFileId } from "../../store/ledger/file-queries.ts";
import { type LedgerFinding, verifyEntry } from "../places/verify-entry.ts";
import type { LedgerTally } from "./ledger-report.ts";
import { maxAtOnce, pauseOf, type VerifyDependencies, type VerifyOptions } from "./verify-options.ts";

const pageSize = 2_000;
const checkers = 8;
const bufferBytes = 64 * 1024;
const maxChecks = 5;

interface Doubt {
  readonly file: AccountedFile;
  readonly finding: LedgerFinding;
}

function isSameEntry(one: AccountedFile, other: AccountedFile): boolean {
  return (
    one.location === other.location &&
    one.isFiled === other.isFiled &&
    one.isRemoved === other.isRemoved &&
    one.stateText === other.stateText
  );
}

/** Counts every entry in the tally, and reports those whose bytes do not lie where they should. */
export class EntryVerification {
  readonly #deps: VerifyDependencies;
  readonly #options: VerifyOptions;
  readonly #tally: LedgerTally;
  readonly #buffers = Array.from({ length: checkers }, () => Buffer.allocUnsafeSlow(bufferBytes));
  #inMotion: Doubt[] = [];

  constructor(deps: VerifyDependencies, options: VerifyOptions, tally: LedgerTally) {
    this.#deps = deps;
    this.#options = options;
    this.#tally = tally;
  }

  async run(): Promise<void> {
    const { read } = this.#deps.store;
    const total = await lastFileId(read);
    for (let afterId = 0; ; ) {
      const page = await listAccountedFiles(read, { afterId, limit: pageSize });
      this.#tally.counts.entries += page.length;
      await this.#settle(await this.#checkAll(page));
      const { entries, bytes } = this.#tally.counts;
      this.#options.onProgress?.({ entries, total, bytes });
      const last = page.at(-1);
      if (last === undefined || page.length < pageSize) break;
      afterId = last.id;
      // Where all bytes of a page are gone, nothing else has waited.
      await setImmediate();
    }
    await this.#settleMotion();
  }

  /** Gives those whose bytes do not seem right. */
  async #checkAll(files: readonly AccountedFile[]): Promise<Doubt[]> {
    const doubts: Doubt[] = [];
    const rest = files.values();
    const checkOn = async (buffer: Buffer): Promise<void> => {
      for (const file of rest) {
        this.#options.signal?.throwIfAborted();
        const finding = await this.#check(file, buffer);
        if (finding !== undefined) doubts.push({ file, finding });
      }
    };
    await Promise.all(this.#buffers.map(checkOn));
    return doubts;
  }

  async #check(file: AccountedFile, buffer: Buffer): Promise<LedgerFinding | undefined> {
    if (file.isRemoved) {
      this.#tally.counts[file.isPruned ? "pruned" : "removed"] += 1;
      return undefined;
    }
    const check = await verifyEntry(file, {
      pathOf: (location) => this.#deps.locations.fromLedger(location),
      buffer,
      bytesAt: this.#deps.bytesAt,
      ...(this.#options.signal === undefined ? {} : { signal: this.#options.signal }),
    });
    if (check.kind === "withoutBytes") this.#tally.counts.withoutBytes += 1;
    if (check.kind === "inOrder") this.#tally.counts.bytes += check.size;
    return check.kind === "doubtful" ? check.finding : undefined;
  }

  /** Reports what is certain; what has changed or is in motion is checked again later. */
  async #settle(doubts: readonly Doubt[]): Promise<void> {
    if (doubts.length === 0) return;
    const ids = doubts.map(({ file }) => file.id);
    const now = await findAccountedFiles(this.#deps.store.read, ids);
    for (const { file, finding } of doubts) {
      const current = now.get(file.id);
      if (file.isFiled && current !== undefined && isSameEntry(file, current))
        this.#tally.reportFinding(file, finding);
      else this.#inMotion.push({ file, finding });
    }
    if (this.#inMotion.length >= maxAtOnce) await this.#settleMotion();
  }

  async #settleMotion(): Promise<void> {
    let doubts = this.#inMotion;
    this.#inMotion = [];
    for (let checks = 1; checks <= maxChecks && doubts.length > 0; checks += 1) {
      await pauseOf(this.#deps, this.#options);
      const ids = doubts.map(({ file }) => file.id);
      const now = await findAccountedFiles(this.#deps.store.read, ids);
      const again = await this.#checkAll([...now.values()]);
      // An entry that was removed meanwhile was too old. The count of the entries proves that none is missing.
      doubts = again;
      // Nobody moves anything meanwhile.
      if (this.#deps.isStopped === true) break;
    }
    for (const { file, finding } of doubts) {
      if (this.#isInterrupted(finding)) this.#tally.counts.atNextStart += 1;
      else this.#tally.reportFinding(file, finding);
    }
  }

  /** A copy that was made to file the bytes away, whose source was not removed any more: the next start does that. */
  #isInterrupted({ kind }: LedgerFinding): boolean {
    return this.#deps.isStopped === true && kind === "twice";
  }
}
