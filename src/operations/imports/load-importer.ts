/**
 * Applies imported loads in the background, in the order in which they came, each in a unit of work of its own.
 *
 *   waiting ─ applied ─> its outcome kept, its text given up, in the same transaction
 *      ^    └ refused ─> the same, with the reasons
 *      └─ held: the store is at fault for this one alone; later loads of its numbers wait with it, all others go on
 *
 * A pass goes over all waiting loads. Another one retries held loads, after a pause that grows to a minute. While the store
 * can write nothing at all, because the disk is full for instance, the pass stays where it is and retries each second.
 *
 * Survives a crash: a start finds the waiting loads again. A decided load is never applied again.
 */
import type { Service } from "../../lib/service.ts";
import { sleep } from "../../lib/sleep.ts";
import type { Store } from "../../store/database/database.ts";
import type { CompanyWork, TakenCompany } from "../../store/cluster/ownership.ts";
import { beginning, WaitingLoads, type WaitingLoadsDeps } from "./waiting-loads.ts";

export interface LoadImporterDeps extends WaitingLoadsDeps {
  readonly store: Pick<Store, "read" | "write" | "listen">;
  /** The first pause before what is held is tried again. Default a second. */
  readonly retryMs?: number;
}

/** Loads in one commit: enough to share its cost, few enough that requests between get their turn soon. */
const loadsInGroup = 8;
const defaultRetryMs = 1_000;
/** How often a node asks for what others have accepted, whose announcements do not reach it. */
const askMs = 1_000;
const longestRetryMs = 60_000;
export interface LoadImporter extends Service, CompanyWork {}

class BackgroundImporter implements LoadImporter {
  readonly name = "load importer";
  readonly #deps: LoadImporterDeps & { readonly retryMs: number };
  readonly #loads: WaitingLoads;
  readonly #stop = new AbortController();
  #after = beginning;
  #retryMs: number;
  #retry: NodeJS.Timeout | undefined;
  #isRunning = false;
  #isAwake = false;
  #drained: Promise<void> = Promise.resolve();
  #endListening: () => void = () => undefined;

  constructor(deps: LoadImporterDeps) {
    const { retryMs = defaultRetryMs } = deps;
    this.#deps = { ...deps, retryMs };
    this.#loads = new WaitingLoads(deps);
    this.#retryMs = retryMs;
  }

  async start(): Promise<void> {
    // After the answers of the commit: whoever sent the import is answered before its loads are begun.
    const endListening = this.#deps.store.listen("loadImports", () => queueMicrotask(() => this.#wake()));
    const asking =
      this.#deps.ownership?.isSole === false ? setInterval(() => this.#wake(), askMs).unref() : undefined;
    this.#endListening = () => {
      endListening();
      clearInterval(asking);
    };
    this.#wake();
  }

  /** Applies the loads of the company, from the first on that waits. */
  async take({ companyId }: TakenCompany): Promise<void> {
    this.#loads.begin(companyId);
    this.#wake();
  }

  /** Resolves when the loads in hand are applied, or were refused because another node has the company. */
  async leave({ companyId }: TakenCompany): Promise<void> {
    await this.#loads.end(companyId);
  }

  async stop(): Promise<void> {
    this.#endListening();
    clearTimeout(this.#retry);
    this.#stop.abort();
    await this.#drained;
    this.#loads.close();
  }

  /** There may be loads to apply. */
  #wake(): void {
    this.#isAwake = true;
    if (this.#isRunning || this.#stop.signal.aborted) return;
    this.#isRunning = true;
    this.#drained = this.#drain();
  }

  async #drain(): Promise<void> {
    let isHalted = false;
    while (!this.#stop.signal.aborted) {
      try {
        this.#isAwake = false;
        const keys = await this.#loads.list(this.#after, loadsInGroup);
        // In the same turn as the listing: a wake that comes later finds nothing running and begins anew.
        if (keys.length === 0 && !this.#isAwake) break;
        await this.#loads.take(keys);
        this.#after = keys.at(-1) ?? this.#after;
        isHalted = false;
      } catch (error) {
        if (!isHalted) this.#deps.log.warn({ err: error }, "no imported load can be applied now; all wait");
        isHalted = true;
        await sleep(this.#deps.retryMs, this.#stop.signal);
      }
    }
    this.#isRunning = false;
    this.#endPass();
  }

  /** Until the retry of held loads, passes continue behind them. */
  #endPass(): void {
    if (this.#stop.signal.aborted || this.#retry !== undefined) return;
    if (!this.#loads.hasHeld) {
      this.#after = beginning;
      this.#retryMs = this.#deps.retryMs;
      return;
    }
    this.#retry = setTimeout(() => this.#beginAgain(), this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
  }

  #beginAgain(): void {
    this.#retry = undefined;
    // Not in the middle of another pass, whose numbers these are.
    if (this.#isRunning) {
      this.#retry = setTimeout(() => this.#beginAgain(), this.#deps.retryMs).unref();
      return;
    }
    this.#after = beginning;
    this.#loads.forgetHeld();
    this.#wake();
  }
}

/** Makes the importer; it works from its start until its stop, and finishes the loads in hand. */
export function createLoadImporter(deps: LoadImporterDeps): LoadImporter {
  return new BackgroundImporter(deps);
}
