/**
 * What is due for one target, page by page. A page holds little; what a file is rendered from is read for a few at a time,
 * shortly before they are sent.
 */
import { longestWaitMs } from "../domain/outbound/retry-schedule.ts";
import { findCompletions } from "../store/outbound/completions.ts";
import type { Reader } from "../store/database/database.ts";
import { type DeliveryHead, findStillWaiting, listHeads } from "../store/outbound/delivery-heads.ts";
import { findMessages } from "../store/outbound/messages.ts";
import type { DeliveryToRender } from "./delivery-to-render.ts";

const pageSize = 256;
const contentsAtOnce = 32;
/** Rows that were read so recently are not asked for again: news come with every commit. */
const trustedMs = 1_000;

export interface DueOptions {
  readonly read: Reader;
  readonly targetId: number;
  readonly companyCode: string;
}

export class DueDeliveries {
  readonly #options: DueOptions;
  #heads: readonly DeliveryHead[] = [];
  #ready: DeliveryToRender[] = [];
  /** When the first that is not due yet is due; what is not known is due now. */
  #nextAt = 0;
  /** Whether what was read may be out of date. */
  #isStale = false;
  /** When it was read. */
  #readAt = 0;

  constructor(options: DueOptions) {
    this.#options = options;
  }

  /** Rows may have changed: `next` asks the store. */
  expectNews(): void {
    this.#nextAt = 0;
    this.#isStale = true;
  }

  /** A row is due then that was not before. */
  expectAt(dueAt: number): void {
    this.#nextAt = Math.min(this.#nextAt, dueAt);
  }

  /** Whether asking could give one. */
  mayHave(now: number): boolean {
    return this.#ready.length > 0 || this.#heads.length > 0 || this.#nextAt <= now;
  }

  /** The next one that is due and not held. `held` are those that are being tried or recorded. */
  async next(now: number, held: ReadonlySet<number>): Promise<DeliveryToRender | undefined> {
    if (this.#isStale && now - this.#readAt >= trustedMs) await this.#forgetWithdrawn(now);
    if (this.#ready.length === 0) {
      if (this.#heads.length === 0) await this.#readPage(now, held);
      await this.#readContents();
    }
    return this.#ready.shift();
  }

  /** Rows may have stood here through a long pause of the target: somebody may have given them up since. */
  async #forgetWithdrawn(now: number): Promise<void> {
    this.#isStale = false;
    this.#readAt = now;
    const ids = [...this.#ready, ...this.#heads].map(({ id }) => id);
    if (ids.length === 0) return;
    try {
      const waiting = await findStillWaiting(this.#options.read, ids);
      this.#ready = this.#ready.filter(({ id }) => waiting.has(id));
      this.#heads = this.#heads.filter(({ id }) => waiting.has(id));
    } catch (error) {
      this.expectNews();
      throw error;
    }
  }

  async #readPage(now: number, held: ReadonlySet<number>): Promise<void> {
    // Those that are held now: one that is given back while the store answers may be in an answer from before.
    const before = new Set(held);
    const limit = pageSize + before.size;
    // Before the question: news that come meanwhile are not forgotten.
    this.#nextAt = Number.POSITIVE_INFINITY;
    const rows = await this.#ask(limit);
    this.#readAt = now;
    // One that was never tried is due whenever it was made: the clock may have been set back since.
    const isDue = ({ dueAt, attempts }: DeliveryHead) =>
      attempts === 0 || dueAt <= now || dueAt > now + longestWaitMs;
    const next = rows.find((row) => !isDue(row));
    if (next !== undefined) this.expectAt(next.dueAt);
    else if (rows.length === limit) this.#nextAt = 0;
    this.#heads = rows.filter((row) => isDue(row) && !before.has(row.id));
  }

  async #ask(limit: number): Promise<readonly DeliveryHead[]> {
    try {
      return await listHeads(this.#options.read, { targetId: this.#options.targetId, limit });
    } catch (error) {
      this.expectNews();
      throw error;
    }
  }

  async #readContents(): Promise<void> {
    const some = this.#heads.slice(0, contentsAtOnce);
    const ids = some.filter(({ kind }) => kind === "completion").map(({ subjectId }) => subjectId);
    const completions = await findCompletions(this.#options.read, ids);
    const byId = new Map(completions.map((completion) => [completion.id, completion]));
    const messageIds = some.filter(({ kind }) => kind === "message").map(({ subjectId }) => subjectId);
    const messages = new Map(
      (await findMessages(this.#options.read, messageIds)).map((message) => [message.id, message]),
    );
    const { companyCode } = this.#options;
    this.#ready = some.map((row) => {
      const completion = row.kind === "completion" ? byId.get(row.subjectId) : undefined;
      const message = row.kind === "message" ? messages.get(row.subjectId) : undefined;
      return {
        ...{ ...row, companyCode },
        ...(completion === undefined ? {} : { completion }),
        ...(message === undefined ? {} : { message }),
      };
    });
    this.#heads = this.#heads.slice(some.length);
  }
}
