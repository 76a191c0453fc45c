/** Runs histories of `order-history.ts`, many beside each other in one pipeline, which is stopped and started meanwhile. */
import { setTimeout as wait } from "node:timers/promises";
import { StoreError } from "../../src/lib/store-error.ts";
import { FaultyPipeline } from "./faulty-pipeline.ts";
import { OrderHistory } from "./order-history.ts";
import { randomOf } from "./random-numbers.ts";

export interface HistoriesOutcome {
  readonly histories: number;
  readonly files: number;
  readonly parkedOrRefused: number;
  /** Each with its seed. */
  readonly faults: readonly string[];
}

const settings = {
  ...{ groupSize: 8, settleMs: 1, storePauseMs: 1, giveUpAfterMs: 200, incompleteGraceMs: 400 },
  rulesFor: () => ({ names: "strict", lateFiles: "refuse" }) as const,
};
/** Far beyond what a busy machine needs. */
const patienceMs = 120_000;

async function until(fits: () => boolean, what: string): Promise<string | undefined> {
  const deadline = performance.now() + patienceMs;
  while (!fits()) {
    if (performance.now() > deadline) return what;
    await wait(5);
  }
  return undefined;
}

class Batch {
  readonly #rig: FaultyPipeline;
  readonly #random: () => number;
  readonly #histories = new Map<string, OrderHistory>();
  #ticks = 0;
  #away: Promise<void> = Promise.resolve();
  #isStoreBroken = false;

  constructor(rig: FaultyPipeline, seeds: readonly number[]) {
    this.#rig = rig;
    this.#random = randomOf(seeds[0] ?? 1);
    const tick = () => {
      this.#ticks += 1;
      return this.#ticks;
    };
    for (const seed of seeds) {
      const code = `S${seed}`;
      this.#histories.set(code, new OrderHistory(rig, { code, seed, tick }));
    }
    const of = (code: string) => this.#histories.get(code);
    rig.faults = {
      read: (company, name) => of(company)?.read(name),
      decide: (company, name) => of(company)?.decide(name),
      write: () =>
        this.#isStoreBroken ? new StoreError("unavailable", "disk is full", undefined) : undefined,
    };
    rig.observer = {
      begun: tick,
      attempted: (company, name, begunAt) => of(company)?.attempted(name, begunAt),
      decided: (company, name, state) => of(company)?.decided(name, state),
      looked: (company, name, isRead) => of(company)?.looked(name, isRead),
    };
  }

  async run(): Promise<HistoriesOutcome> {
    const histories = [...this.#histories.values()];
    const sending = Promise.all(histories.map((history) => history.send(() => this.#away)));
    await this.#disturb();
    await sending;
    // What can never be read or decided ends in a refusal, or somebody is told that this installation is at fault.
    const isTold = (history: OrderHistory) => history.isOver || history.saysOwnFault;
    const silent = await until(() => histories.every(isTold), "files are held in silence");
    for (const history of histories) history.heal();
    const late = await until(() => histories.every(({ isOver }) => isOver), "not all files were decided");
    const outcomes = await Promise.all(histories.map((history) => history.outcome()));
    const faults = histories.flatMap(({ code }, index) =>
      (outcomes[index]?.faults ?? []).map((fault) => `seed ${code.slice(1)}: ${fault}`),
    );
    return {
      histories: histories.length,
      files: outcomes.reduce((sum, { files }) => sum + files, 0),
      parkedOrRefused: outcomes.reduce((sum, { parkedOrRefused }) => sum + parkedOrRefused, 0),
      faults: [...faults, ...[silent, late].filter((fault) => fault !== undefined)],
    };
  }

  /** The disk is full for a moment, and the pipeline is stopped and started. */
  async #disturb(): Promise<void> {
    await wait(Math.floor(this.#random() * 40));
    this.#isStoreBroken = true;
    await wait(Math.floor(this.#random() * 40));
    this.#isStoreBroken = false;
    await wait(Math.floor(this.#random() * 60));
    this.#away = this.#rig.restart();
    await this.#away;
  }
}

const batchSize = 50;

/** Runs that many histories, from that seed on; tells after each batch. */
export async function runHistories(
  options: { readonly count: number; readonly seed: number },
  onBatch: (outcome: HistoriesOutcome) => void = () => undefined,
): Promise<HistoriesOutcome> {
  let sum: HistoriesOutcome = { histories: 0, files: 0, parkedOrRefused: 0, faults: [] };
  const rig = await FaultyPipeline.start(settings);
  try {
    for (let at = 0; at < options.count; at += batchSize) {
      const length = Math.min(batchSize, options.count - at);
      const seeds = Array.from({ length }, (_, index) => options.seed + at + index);
      const one = await new Batch(rig, seeds).run();
      sum = {
        histories: sum.histories + one.histories,
        files: sum.files + one.files,
        parkedOrRefused: sum.parkedOrRefused + one.parkedOrRefused,
        faults: [...sum.faults, ...one.faults],
      };
      onBatch(sum);
    }
    return sum;
  } finally {
    await rig.end();
  }
}
