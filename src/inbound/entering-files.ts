/** Puts files that have come in line at once, and enters them in the ledger; they are ready only with their ids. */
import { setTimeout as wait } from "node:timers/promises";
import type { NewFile } from "../domain/files/new-file.ts";
import { parseStopFileName } from "../domain/files/stop-file-name.ts";
import type { Clock } from "../lib/clock.ts";
import { messageOf } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import { StoreError } from "../lib/store-error.ts";
import type { LimitedLog } from "../lib/logs/limited-log.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { Store } from "../store/database/database.ts";
import { FencedError } from "../store/database/fence.ts";
import type { Transaction } from "../store/database/groups/group-commit.ts";
import { apart, forEach } from "../store/database/groups/side-by-side.ts";
import { enterFile, enterFileOnce } from "../store/ledger/files.ts";
import type { CompanyLanes } from "./lanes/company-lanes.ts";
import type { LaneRunner } from "./lanes/lane-runner.ts";
import { ledgerTimeOf, pathOf, type WaitingFile } from "./lanes/waiting-file.ts";
import type { Arrival } from "./places/inbox.ts";
import type { Locations } from "./places/locations.ts";
import { portionsOf } from "../lib/portions.ts";

interface EnteringDependencies {
  readonly store: Pick<Store, "write">;
  readonly locations: Locations;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failing: LimitedLog;
  readonly lanes: Pick<CompanyLanes, "known" | "surely">;
  readonly fromArrival: (arrival: Arrival) => WaitingFile;
  readonly flushUploads: (companyId: number) => void;
  /** Removes the receipts of earlier files of these names. */
  readonly clearReceipts: (files: readonly WaitingFile[]) => Promise<void>;
  /** The work of their company is another node's: files under final names that the ledger may lack. */
  readonly handOver?: ((files: readonly WaitingFile[]) => void) | undefined;
}

const entryGroup = 256;
const pauseMs = 1_000;

interface Entering {
  readonly locations: Pick<Locations, "toLedger">;
  readonly enteredAt: number;
}

/** A file that has come, as the ledger takes it. */
export function newFileOf(file: WaitingFile, { locations, enteredAt }: Entering): NewFile {
  const nameTime = ledgerTimeOf(parseStopFileName(file.name));
  return { ...file, nameTime, location: locations.toLedger(pathOf(file)), enteredAt };
}

async function insert(tx: Transaction, entering: Entering, files: readonly WaitingFile[]): Promise<number[]> {
  return await forEach(tx, files, (file) => enterFile(tx, newFileOf(file, entering)));
}

/** Another node has entered a file of the group, or a scan there: only where several nodes are is that refused. */
function isTwice(error: unknown): boolean {
  return error instanceof StoreError && error.kind === "refused";
}

export class EnteringFiles {
  readonly #deps: EnteringDependencies;
  readonly #underWay = new Set<Promise<void>>();
  #isStopped = false;

  constructor(deps: EnteringDependencies) {
    this.#deps = deps;
  }

  /** Resolves when the ledger has them, or at the end of the process. Not an async function: that would keep all arrivals in memory. */
  enter(arrivals: readonly Arrival[]): Promise<void> {
    const { fromArrival, flushUploads } = this.#deps;
    for (const companyId of new Set(arrivals.map((arrival) => arrival.companyId))) flushUploads(companyId);
    killPoint("inbox.arriving");
    const files = arrivals.map(fromArrival);
    const entering = this.#enter(files).finally(() => this.#underWay.delete(entering));
    this.#underWay.add(entering);
    return entering;
  }

  /** What the ledger does not take now is not retried. */
  stop(): void {
    this.#isStopped = true;
  }

  async ended(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async #enter(files: readonly WaitingFile[]): Promise<void> {
    const { lanes, log } = this.#deps;
    const holds = new Map<LaneRunner, () => void>();
    try {
      for (const file of files) {
        const runner = lanes.known(file.companyId) ?? (await lanes.surely(file.companyId));
        if (files.length > 1 && !holds.has(runner)) holds.set(runner, runner.hold());
        runner.add(file);
      }
      for (const group of portionsOf(files, entryGroup)) await this.#enterGroup(group);
    } catch (error) {
      // Only at the end of the process: the files lie under their final names, and the next start finds them.
      log.error({ err: error, files: files.length }, "files were not entered in the ledger");
    } finally {
      for (const release of holds.values()) release();
    }
  }

  async #enterGroup(files: readonly WaitingFile[]): Promise<void> {
    await this.#deps.clearReceipts(files);
    const byCompany = Map.groupBy(files, ({ companyId }) => companyId);
    await Promise.all([...byCompany].map(([companyId, own]) => this.#enterSurely(companyId, own)));
    for (const file of files) this.#deps.lanes.known(file.companyId)?.wake();
  }

  /** New rows, which nothing else changes before they have their ids. */
  #enterTogether(companyId: number, files: readonly WaitingFile[]): Promise<number[]> {
    const { store, locations, clock } = this.#deps;
    const entered = { locations, enteredAt: clock.now() };
    const keys = () => [];
    return store.write(
      companyId,
      apart(keys, (tx) => insert(tx, entered, files)),
    );
  }

  /** The same, where another node has entered some of them. */
  async #enterOnce(companyId: number, files: readonly WaitingFile[]): Promise<number[]> {
    const { store, locations, clock } = this.#deps;
    const entries = files.map((file) => newFileOf(file, { locations, enteredAt: clock.now() }));
    // Units of their own, which are committed together in this order.
    const entered = entries.map((entry) => store.write(companyId, (tx) => enterFileOnce(tx, entry)));
    return await Promise.all(entered);
  }

  /** Gives each file of the company its id, however often that must be tried. Rejects only at the end of the process. */
  async #enterSurely(companyId: number, files: readonly WaitingFile[]): Promise<void> {
    const { failing, handOver } = this.#deps;
    let isFirst = true;
    for (;;) {
      try {
        const ids = await (isFirst
          ? this.#enterTogether(companyId, files)
          : this.#enterOnce(companyId, files));
        for (const [index, file] of files.entries()) {
          file.id = ids[index] ?? 0;
          file.beganAt = undefined;
        }
        return;
      } catch (error) {
        // Where several nodes are, whoever has the company gets what this one cannot enter.
        if (handOver !== undefined && (error instanceof FencedError || this.#isStopped))
          return handOver(files);
        if (this.#isStopped) throw error;
        if (handOver !== undefined && isFirst && isTwice(error)) {
          isFirst = false;
          continue;
        }
        const fields = { err: error, reason: messageOf(error), files: files.length };
        failing.warn(fields, "the ledger cannot be written; retrying");
        await wait(pauseMs);
      }
    }
  }
}
