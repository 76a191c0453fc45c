/** What the rounds of a cluster came to: a line for each, and the figures at the end. */
import { mkdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Figures } from "../../support/cluster-checks.ts";
import type { RoundOutcome } from "../../support/cluster-round.ts";
import type { ClusterSite } from "../../support/cluster-site.ts";
import { StolenTime } from "../../support/stolen-time.ts";

const shownProblems = 12;

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

export class RoundTotals {
  readonly problems: string[] = [];
  /** A round did not come to an end: the ones after it would tell nothing. */
  isBroken = false;
  readonly #site: ClusterSite;
  readonly #plan: { readonly seed: number; readonly leaseMs: number };
  readonly #kinds = new Map<string, number>();
  readonly #figures: Figures = {
    ...{ files: 0, resent: 0, lost: 0, doubled: 0, outOfOrder: 0, longestGapMs: 0 },
    ...{ deliveries: 0, deliveredAgain: 0 },
  };
  readonly #startedAt = performance.now();
  readonly #stolen = new StolenTime();
  #rounds = 0;

  constructor(site: ClusterSite, plan: { readonly seed: number; readonly leaseMs: number }) {
    this.#site = site;
    this.#plan = plan;
  }

  /** Runs a round and prints its line. */
  async take(index: number, kind: string, run: () => Promise<RoundOutcome>): Promise<void> {
    const startedAt = performance.now();
    const seconds = () => ((performance.now() - startedAt) / 1_000).toFixed(0);
    this.#rounds += 1;
    this.#kinds.set(kind, (this.#kinds.get(kind) ?? 0) + 1);
    try {
      const { verdict, words, stolenShare } = await run();
      this.#add(verdict);
      const { files, resent, longestGapMs, problems } = verdict;
      console.log(
        `${index} ${kind} (${words}): ${files} files, ${resent} resent, gap ${longestGapMs} ms, ${seconds()} s, ` +
          `${percent(stolenShare)} stolen, ` +
          `${problems.length === 0 ? "ok" : `${problems.length} PROBLEMS`}`,
      );
      await this.#tell(index, problems);
    } catch (error) {
      this.isBroken = true;
      const what = error instanceof Error ? (error.stack ?? error.message) : String(error);
      console.log(`${index} ${kind}: BROKEN after ${seconds()} s`);
      await this.#tell(index, [what]);
    }
  }

  note(problems: readonly string[]): void {
    for (const problem of problems) console.log(`  ${problem}`);
    this.problems.push(...problems);
  }

  print(): void {
    this.#stolen.end();
    const logs = this.#site.nodes.flatMap(({ log }) => log);
    const count = (text: string) => logs.filter(({ msg }) => msg.includes(text)).length;
    const { files, resent, lost, doubled, outOfOrder, longestGapMs, deliveries, deliveredAgain } =
      this.#figures;
    const kinds = [...this.#kinds].map(([kind, times]) => `${kind} ${times}`).join(", ");
    console.log(
      `${this.#rounds} rounds (${kinds}), seed ${this.#plan.seed}, lease ${this.#plan.leaseMs} ms, ` +
        `${Math.round((performance.now() - this.#startedAt) / 1_000)} s: ${files} files answered, ${resent} uploads sent again, ` +
        `${lost} lost, ${doubled} doubled, ${outOfOrder} out of order; longest gap ${longestGapMs} ms; ${deliveries} ` +
        `deliveries, ${deliveredAgain} came again with their bytes; ${count("company taken over")} times a company was taken ` +
        `over, ${count("the lease of a company is lost")} leases lost; ${percent(this.#stolen.share)} of the processors' time ` +
        `was stolen; ${this.problems.length} problems`,
    );
  }

  #add(verdict: Figures): void {
    const sum = this.#figures;
    for (const name of Object.keys(sum) as (keyof Figures)[])
      sum[name] = name === "longestGapMs" ? Math.max(sum[name], verdict[name]) : sum[name] + verdict[name];
  }

  /** Prints the first ones, and keeps the logs of the nodes as they are now. */
  async #tell(index: number, problems: readonly string[]): Promise<void> {
    if (problems.length === 0) return;
    this.problems.push(...problems);
    for (const problem of problems.slice(0, shownProblems)) console.log(`    ${problem}`);
    const folder = join(tmpdir(), `dropgate-cluster-${this.#plan.seed}-round-${index}`);
    await mkdir(folder, { recursive: true });
    for (const { name, runs } of this.#site.nodes)
      await writeFile(join(folder, `${name}.log`), runs.map(({ text }) => text).join(""));
    await writeFile(join(folder, "problems"), `${problems.join("\n")}\n`);
    console.log(`    logs: ${folder}`);
  }
}
