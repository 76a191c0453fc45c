/**
 * What a node does whose program has become too old for the database, because another node migrates it
 * (specification/operation.md#upgrade-of-several-nodes).
 *
 *   fit ──the database needs a newer one──> leaving: companies given back, hosts sent elsewhere by /readyz
 *    ^                                          └──none is left, and balancers had their time──> away: nothing is written
 *    └───────────────────────────── the migration was given up ─────────────────────────────────────┘
 */
import type { Logger } from "../lib/logs/log.ts";

export interface ProgramAgeDeps {
  /** Refuses all writes with this reason, until it is undefined; resolves when none is running. */
  readonly refuseWrites: (reason: string | undefined) => Promise<void>;
  /** The schema of the program. */
  readonly schema: number;
  /** How long hosts may still be led to this node after `/readyz` has failed for the first time. */
  readonly balancersMs: number;
  readonly log: Pick<Logger, "warn" | "info">;
}

export class ProgramAge {
  readonly #deps: ProgramAgeDeps;
  #fault: string | undefined;
  #leavingSince = 0;
  #isAway = false;

  constructor(deps: ProgramAgeDeps) {
    this.#deps = deps;
  }

  /** Why this node is leaving, with the remedy; undefined while its program is fit. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** It writes nothing any more. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Called again and again with what the database needs, and how many companies the node has. */
  async note(needed: number, companies: number): Promise<void> {
    const { schema } = this.#deps;
    if (needed <= schema) return await this.#stay();
    if (this.#fault === undefined) this.#beginToLeave(needed);
    const hasWaited = performance.now() - this.#leavingSince >= this.#deps.balancersMs;
    if (!this.#isAway && companies === 0 && hasWaited) await this.#leave();
  }

  #beginToLeave(needed: number): void {
    const { schema, log } = this.#deps;
    this.#leavingSince = performance.now();
    this.#fault =
      `this dropgate (schema ${schema}) is too old for the database, which another node migrates for schema ${needed} and ` +
      "newer: install the version of that node here, and start it";
    log.warn(
      { schema, needed },
      "this dropgate is too old for the database: giving its companies to other nodes",
    );
  }

  async #leave(): Promise<void> {
    this.#deps.log.warn(
      { schema: this.#deps.schema },
      "this dropgate is too old for the database: it writes no more",
    );
    await this.#deps.refuseWrites(this.#fault);
    this.#isAway = true;
  }

  async #stay(): Promise<void> {
    if (this.#fault === undefined) return;
    this.#deps.log.info({ schema: this.#deps.schema }, "the database was not migrated: this node goes on");
    this.#fault = undefined;
    this.#isAway = false;
    await this.#deps.refuseWrites(undefined);
  }
}
