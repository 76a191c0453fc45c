/**
 * Applies imported loads in the background, one after another in the order in which they were taken, each in a unit of
 * work of its own.
 *
 *   waiting ─ applied ─> its outcome kept, its text given up, in the same transaction
 *      ^    └ refused ─> the same, with the reasons
 *      └─ held: the store is at fault for this one alone; later loads of its numbers wait with it, all others go on
 *
 * A pass goes over all that waits. What is held is tried again in another one, after a pause that grows to a minute. When
 * nothing at all can be written, because the disk is full for instance, the pass stands where it is and goes on each second.
 *
 * Survives a crash: what waits is found again at the start. What was decided is never applied again.
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Load } from "../../domain/load/load.ts";
import type { Clock } from "../../lib/clock.ts";
import { isDiskFault } from "../../lib/files/disk-fault.ts";
import { DropgateError, type Fault } from "../../lib/errors.ts";
import { createLimitedLog, type LimitedLog } from "../../lib/logs/limited-log.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Service } from "../../lib/service.ts";
import { isPassingStoreError, isStoreFault } from "../../lib/store-error.ts";
import type { Store } from "../../store/database/database.ts";
import { attempt, type Transaction } from "../../store/database/group-commit.ts";
import {
  companyOfImport,
  decideImportItem,
  isItemWaiting,
  type ItemKey,
  listWaitingItems,
  readWaitingItem,
  type WaitingItem,
} from "../../store/stops/imports.ts";
import { noteAlive } from "../../store/database/meta.ts";
import { applyLoad } from "../loads/apply-load.ts";
import { LoadNumberSet, numbersOf } from "./held-loads.ts";
import { type LoadLines, readLoadText } from "./load-text.ts";

export interface LoadImporterDeps {
  readonly store: Pick<Store, "read" | "write" | "listen">;
  readonly clock: Clock;
  readonly log: Logger;
  /** For large loads that an earlier version has kept; without it they are read here. */
  readonly readers?: LoadLines;
  /** The first pause before what is held is tried again. Default a second. */
  readonly retryMs?: number;
}

/** Loads in one commit: enough to share its cost, few enough that requests between get their turn soon. */
const loadsInGroup = 8;
const defaultRetryMs = 1_000;
const longestRetryMs = 60_000;
/** Before the first of all. */
const beginning: ItemKey = { importId: -1, position: -1 };

/** A load with its text parsed, or why it cannot be. */
interface ReadLoad {
  readonly item: WaitingItem;
  readonly load: Load | undefined;
  readonly error?: unknown;
}

function faultsOf(error: DropgateError): readonly Fault[] {
  return error.faults.length > 0 ? error.faults : [{ code: error.code, message: error.message }];
}

const isFaultOfMachine = (error: unknown) => isStoreFault(error) || isDiskFault(error);

class BackgroundImporter implements Service {
  readonly name = "load importer";
  readonly #deps: LoadImporterDeps;
  readonly #failing: LimitedLog;
  readonly #held = new LoadNumberSet();
  readonly #stop = new AbortController();
  #after = beginning;
  #heldCount = 0;
  #retryMs: number;
  #retry: NodeJS.Timeout | undefined;
  #isHalted = false;
  #isRunning = false;
  #isAwake = false;
  #isStopped = true;
  #drained: Promise<void> = Promise.resolve();
  #endListening: () => void = () => undefined;

  constructor(deps: LoadImporterDeps) {
    this.#deps = deps;
    this.#failing = createLimitedLog(deps.log);
    this.#retryMs = this.#firstRetryMs;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
    // Behind the answers of the commit: whoever sent the import is told before its loads are begun.
    this.#endListening = this.#deps.store.listen("loadImports", () => queueMicrotask(() => this.#wake()));
    this.#wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endListening();
    clearTimeout(this.#retry);
    this.#stop.abort();
    await this.#drained;
    this.#failing.flush();
  }

  /** There may be loads to apply. */
  #wake(): void {
    this.#isAwake = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    this.#drained = this.#drain();
  }

  get #firstRetryMs(): number {
    return this.#deps.retryMs ?? defaultRetryMs;
  }

  async #drain(): Promise<void> {
    while (!this.#isStopped) {
      try {
        this.#isAwake = false;
        const keys = await listWaitingItems(this.#deps.store.read, this.#after, loadsInGroup);
        // In the same turn as the look: a wake that comes later finds nothing running and begins anew.
        if (keys.length === 0 && !this.#isAwake) break;
        await this.#takeAll(keys);
        this.#isHalted = false;
      } catch (error) {
        await this.#halt(error);
      }
    }
    this.#isRunning = false;
    this.#endPass();
  }

  async #halt(error: unknown): Promise<void> {
    if (!this.#isHalted) this.#deps.log.warn({ err: error }, "no imported load can be applied now; all wait");
    this.#isHalted = true;
    await wait(this.#firstRetryMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** What comes later is looked for behind what is held, until that is tried again. */
  #endPass(): void {
    if (this.#isStopped || this.#retry !== undefined) return;
    if (this.#heldCount === 0) {
      this.#after = beginning;
      this.#retryMs = this.#firstRetryMs;
      return;
    }
    this.#retry = setTimeout(() => this.#beginAgain(), this.#retryMs).unref();
    this.#retryMs = Math.min(2 * this.#retryMs, longestRetryMs);
  }

  #beginAgain(): void {
    this.#retry = undefined;
    // Not in the middle of another pass, whose numbers these are.
    if (this.#isRunning) {
      this.#retry = setTimeout(() => this.#beginAgain(), this.#firstRetryMs).unref();
      return;
    }
    this.#after = beginning;
    this.#heldCount = 0;
    this.#held.clear();
    this.#wake();
  }

  /** Throws when nothing can be decided about at all; then they are taken again from the first. */
  async #takeAll(keys: readonly ItemKey[]): Promise<void> {
    let group: ReadLoad[] = [];
    const numbers = new LoadNumberSet();
    const decide = async () => {
      await this.#decideAll(group);
      group = [];
      numbers.clear();
    };
    for (const key of keys) {
      const read = await this.#read(key);
      if (read === undefined) continue;
      const own = numbersOf(read.item.companyId, read.item.loadNbr, read.load);
      // Two of the same numbers are not in one group: when the first fails, the second must not go before it.
      if (numbers.has(own)) await decide();
      if (this.#held.has(own)) {
        this.#held.add(own);
        this.#heldCount += 1;
        continue;
      }
      numbers.add(own);
      group.push(read);
    }
    await decide();
    this.#after = keys.at(-1) ?? this.#after;
  }

  /** Undefined when it is held, or decided already. */
  async #read(key: ItemKey): Promise<ReadLoad | undefined> {
    let item: WaitingItem | undefined;
    try {
      item = await readWaitingItem(this.#deps.store.read, key);
    } catch (error) {
      await this.#holdUnread(key, error);
      return undefined;
    }
    if (item === undefined) return undefined;
    try {
      return {
        item,
        load: await readLoadText(item.body, { lines: this.#deps.readers, companyId: item.companyId }),
      };
    } catch (error) {
      return { item, load: undefined, error };
    }
  }

  async #holdUnread(key: ItemKey, error: unknown): Promise<void> {
    await this.#throwIfGeneral(error);
    this.#heldCount += 1;
    if (isPassingStoreError(error)) {
      const companyId = await companyOfImport(this.#deps.store.read, key.importId);
      if (companyId !== undefined) this.#held.addAll(companyId);
    }
    this.#failing.warn({ err: error, ...key }, "an imported load cannot be read now; it waits");
  }

  /** Waits for all of them, so that none is still under way when they are looked up again. */
  async #decideAll(group: readonly ReadLoad[]): Promise<void> {
    const outcomes = await Promise.allSettled(group.map((read) => this.#decide(read)));
    for (const [index, outcome] of outcomes.entries()) {
      const read = group[index];
      if (outcome.status !== "rejected" || read === undefined) continue;
      await this.#throwIfGeneral(outcome.reason);
      this.#hold(read, outcome.reason);
    }
  }

  /** Tells a full disk from a page that cannot be read: with that one only the loads that need it are held. */
  async #throwIfGeneral(error: unknown): Promise<void> {
    if (!isPassingStoreError(error) && !isDiskFault(error)) return;
    const { store, clock } = this.#deps;
    const isWritable = await noteAlive(store, clock.now()).then(
      () => true,
      () => false,
    );
    if (!isWritable) throw error;
  }

  #hold({ item, load }: ReadLoad, error: unknown): void {
    const { companyId, loadNbr, guid: importId } = item;
    this.#heldCount += 1;
    this.#held.add(numbersOf(companyId, loadNbr, load));
    this.#failing.warn(
      { err: error, loadNbr, companyId, importId },
      "an imported load cannot be applied now; it and the later ones of its stops wait",
    );
  }

  async #decide(read: ReadLoad): Promise<void> {
    const { store, log } = this.#deps;
    const faults = await store.write((tx) => this.#apply(tx, read));
    if (faults === "decided before") return;
    const { loadNbr, companyId, guid: importId } = read.item;
    const told = { loadNbr, companyId, importId };
    if (faults.length === 0) log.info(told, "load applied");
    else log.warn({ ...told, faults }, "load refused");
  }

  async #apply(tx: Transaction, read: ReadLoad): Promise<readonly Fault[] | "decided before"> {
    const { item, load } = read;
    if (!(await isItemWaiting(tx, item))) return "decided before";
    const now = this.#deps.clock.now();
    const { companyId, position } = item;
    const faults = await this.#refusalOf(async () => {
      if (load === undefined) throw read.error;
      await attempt(tx, () => applyLoad(tx, { companyId, load, path: `loads[${position}]`, now }));
    });
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
      if (error instanceof DropgateError && error.code === "overloaded") throw error;
      if (error instanceof DropgateError && error.code !== "internal") return faultsOf(error);
      if (isFaultOfMachine(error)) throw error;
      this.#deps.log.error({ err: error }, "an imported load cannot be applied");
      return [{ code: "internal", message: "internal error; the operator finds its cause in the log." }];
    }
  }
}

/** Makes the importer; it works from its start until its stop, and finishes what it has begun. */
export function createLoadImporter(deps: LoadImporterDeps): Service {
  return new BackgroundImporter(deps);
}
