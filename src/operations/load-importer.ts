/**
 * Applies imported loads in the background, one after another in the order in which they were taken, each in a unit of
 * work of its own.
 *
 *   waiting ─ applied ─> its outcome kept, its text given up, in the same transaction
 *           └ refused ─> the same, with the reasons
 *
 * Survives a crash: what waits is found again at the start. What was decided is never applied again.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../lib/clock.ts";
import { isDiskFault } from "../lib/disk-fault.ts";
import { DropgateError, type Fault } from "../lib/errors.ts";
import type { Logger } from "../lib/log.ts";
import type { Service } from "../lib/service.ts";
import { isStoreFault } from "../lib/store-error.ts";
import type { Store } from "../store/database.ts";
import { attempt, type Transaction } from "../store/group-commit.ts";
import { decideImportItem, isItemWaiting, listWaitingItems, type WaitingItem } from "../store/imports.ts";
import { applyLoad } from "./apply-load.ts";
import { readLoadText } from "./load-text.ts";

export interface LoadImporterDeps {
  readonly store: Pick<Store, "read" | "write">;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface LoadImporter extends Service {
  /** There may be loads to apply. */
  wake(): void;
}

/** Loads in one commit: enough to share its cost, few enough that requests between get their turn soon. */
const loadsInGroup = 8;
const retryMs = 1_000;

function faultsOf(error: DropgateError): readonly Fault[] {
  return error.faults.length > 0 ? error.faults : [{ code: error.code, message: error.message }];
}

class BackgroundImporter implements LoadImporter {
  readonly name = "load importer";
  readonly #deps: LoadImporterDeps;
  #isRunning = false;
  #isAwake = false;
  #isStopped = true;
  #drained: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();

  constructor(deps: LoadImporterDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
    this.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stop.abort();
    await this.#drained;
  }

  wake(): void {
    this.#isAwake = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    this.#drained = this.#drain();
  }

  async #drain(): Promise<void> {
    while (!this.#isStopped) {
      try {
        this.#isAwake = false;
        const items = await listWaitingItems(this.#deps.store.read, loadsInGroup);
        // In the same turn as the look: a wake that comes later finds nothing running and begins anew.
        if (items.length === 0 && !this.#isAwake) break;
        await this.#decideAll(items);
      } catch (error) {
        this.#deps.log.warn({ err: error }, "imported loads cannot be applied now; they wait");
        await wait(retryMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
      }
    }
    this.#isRunning = false;
  }

  /** Waits for all of them, so that none is still under way when they are looked up again. */
  async #decideAll(items: readonly WaitingItem[]): Promise<void> {
    const outcomes = await Promise.allSettled(items.map((item) => this.#decide(item)));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #decide(item: WaitingItem): Promise<void> {
    const { store, log } = this.#deps;
    const faults = await store.write((tx) => this.#apply(tx, item));
    if (faults === "decided before") return;
    const { loadNbr, companyId, guid: importId } = item;
    const told = { loadNbr, companyId, importId };
    if (faults.length === 0) log.info(told, "load applied");
    else log.warn({ ...told, faults }, "load refused");
  }

  async #apply(tx: Transaction, item: WaitingItem): Promise<readonly Fault[] | "decided before"> {
    if (!(await isItemWaiting(tx, item))) return "decided before";
    const now = this.#deps.clock.now();
    const { companyId, position } = item;
    const faults = await this.#refusalOf(() =>
      attempt(tx, async () => {
        const load = await readLoadText(item.body);
        await applyLoad(tx, { companyId, load, path: `loads[${position}]`, now });
      }),
    );
    const state = faults.length === 0 ? "applied" : "refused";
    await decideImportItem(tx, { ...item, state, faults, now });
    return faults;
  }

  /** A load that makes the program fail must not hold up all others for ever: it is refused too, and the log has why. */
  async #refusalOf(work: () => Promise<void>): Promise<readonly Fault[]> {
    try {
      await work();
      return [];
    } catch (error) {
      if (error instanceof DropgateError && error.code !== "internal") return faultsOf(error);
      if (isStoreFault(error) || isDiskFault(error)) throw error;
      this.#deps.log.error({ err: error }, "an imported load cannot be applied");
      return [{ code: "internal", message: "internal error; the operator finds its cause in the log." }];
    }
  }
}

/** Makes the importer; it works from its start until its stop, and finishes what it has begun. */
export function createLoadImporter(deps: LoadImporterDeps): LoadImporter {
  return new BackgroundImporter(deps);
}
