/** Puts files that have come in line at once, and enters them in the ledger; they are ready only with their ids. */
import type { Logger } from "../lib/logs/log.ts";
import { type EnterDependencies, enterSurely } from "./enter-files.ts";
import type { CompanyLanes } from "./lanes/company-lanes.ts";
import type { LaneRunner } from "./lanes/lane-runner.ts";
import type { WaitingFile } from "./lanes/waiting-file.ts";

export interface EnteringDependencies extends Omit<EnterDependencies, "isStopped"> {
  readonly log: Logger;
  readonly lanes: Pick<CompanyLanes, "known" | "surely">;
  /** Removes the receipts of earlier files of these names. */
  readonly clearReceipts: (files: readonly WaitingFile[]) => Promise<void>;
}

const entryGroup = 256;

export class EnteringFiles {
  readonly #deps: EnteringDependencies;
  readonly #underWay = new Set<Promise<void>>();
  #isStopped = false;

  constructor(deps: EnteringDependencies) {
    this.#deps = deps;
  }

  /** Resolves when the ledger has them, or at the end of the process. */
  enter(files: readonly WaitingFile[]): Promise<void> {
    const entering = this.#enter(files).finally(() => this.#underWay.delete(entering));
    this.#underWay.add(entering);
    return entering;
  }

  /** What the ledger does not take now is tried no more. */
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
      for (let at = 0; at < files.length; at += entryGroup) {
        await this.#enterGroup(files.slice(at, at + entryGroup));
      }
    } catch (error) {
      // Only at the end of the process: the files lie under their final names, and the next start finds them.
      log.error({ err: error, files: files.length }, "files were not entered in the ledger");
    } finally {
      for (const release of holds.values()) release();
    }
  }

  async #enterGroup(files: readonly WaitingFile[]): Promise<void> {
    await this.#deps.clearReceipts(files);
    const deps = { ...this.#deps, isStopped: () => this.#isStopped };
    const byCompany = Map.groupBy(files, ({ companyId }) => companyId);
    await Promise.all([...byCompany].map(([companyId, own]) => enterSurely(deps, companyId, own)));
    for (const file of files) this.#deps.lanes.known(file.companyId)?.wake();
  }
}
