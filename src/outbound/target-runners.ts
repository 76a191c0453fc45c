/**
 * A runner for each target of the configuration.
 *
 *   new ──> running ──left the configuration──> retiring: its attempts end ──> closed
 *    └── cannot be made: broken until the configuration changes
 */
import { setTimeout as wait } from "node:timers/promises";
import type { Logger } from "../lib/logs/log.ts";
import type { OutboundTarget } from "../store/outbound/outbound-targets.ts";
import type { TargetInUse } from "./attempt.ts";
import type { TargetRunner } from "./target-runner.ts";

export interface TargetRunnersDeps {
  readonly log: Logger;
  /** May throw. */
  readonly targets: (target: OutboundTarget) => TargetInUse;
  readonly newRunner: (target: OutboundTarget, inUse: TargetInUse) => TargetRunner;
  /** One that had left the configuration is closed. It may be back by now: the queue asks for all targets again. */
  readonly onRetired: () => void;
}

const closeGraceMs = 1_000;

export class TargetRunners {
  readonly #deps: TargetRunnersDeps;
  readonly #running = new Map<number, TargetRunner>();
  /** Those of targets that are no longer in the configuration, until their attempts are over. */
  readonly #retiring = new Map<number, TargetRunner>();
  /** Targets that could not be made. */
  readonly #broken = new Set<number>();
  /** Targets that are not in the configuration, and that the log has reported. */
  readonly #left = new Set<number>();
  /** What is being closed while the queue goes on. */
  readonly #closing = new Set<Promise<void>>();
  /** The list of which all is known: the store gives the very same one until a commit. */
  #taken: readonly OutboundTarget[] | undefined;
  /** What was added for each target up to the last query. */
  readonly #added = new Map<number, number>();

  constructor(deps: TargetRunnersDeps) {
    this.#deps = deps;
  }

  async settled(): Promise<void> {
    await Promise.all([...this.#running.values()].map((runner) => runner.settled()));
  }

  /** From now on there is a runner for each of these targets that the configuration has, which looks for what is due. */
  look(targets: readonly OutboundTarget[]): void {
    this.#takeOver(targets);
    for (const target of targets) {
      const { id, added } = target;
      const isNews = this.#added.get(id) !== added;
      this.#added.set(id, added);
      this.#running.get(id)?.heed(target);
      this.#running.get(id)?.look(isNews);
    }
  }

  /** The next look asks for all targets, as if something had been added for each. */
  forgetAdded(): void {
    this.#added.clear();
  }

  #takeOver(targets: readonly OutboundTarget[]): void {
    if (targets === this.#taken) return;
    this.#taken = targets;
    const configured = new Set(targets.filter(({ isConfigured }) => isConfigured).map(({ id }) => id));
    for (const [id, runner] of this.#running) {
      if (configured.has(id)) continue;
      this.#running.delete(id);
      this.#inBackground(this.#retire(id, runner));
    }
    for (const target of targets) {
      this.#logLeft(target);
      const isNew = !this.#running.has(target.id) && !this.#retiring.has(target.id);
      if (isNew && configured.has(target.id)) this.#add(target);
    }
  }

  /** The configuration has changed: those that could not be made may be made now. */
  forgetBroken(): void {
    this.#broken.clear();
  }

  /** Each runner goes on with the target as the configuration has it now. */
  replaceTargets(): void {
    for (const runner of this.#running.values()) {
      const inUse = this.#make(runner.target);
      if (inUse !== undefined) this.#inBackground(runner.replace(inUse));
    }
  }

  /** The same for the targets of one company, which are closed and forgotten: they may come back after that. */
  async end(companyId: number, deadline: AbortSignal): Promise<void> {
    const isOwn = ({ target }: TargetRunner) => target.companyId === companyId;
    const running = [...this.#running.values()].filter(isOwn);
    // They close themselves.
    const retiring = [...this.#retiring.values()].filter(isOwn);
    for (const { target } of running) this.#running.delete(target.id);
    await Promise.all([...running, ...retiring].map((runner) => runner.stop(deadline)));
    for (const { inUse } of running) this.#inBackground(inUse.target.close());
    this.#taken = undefined;
  }

  /** Resolves when nothing is tried any more, at the latest a moment after the deadline, and all is recorded. */
  async stop(deadline: AbortSignal): Promise<void> {
    const runners = [...this.#running.values(), ...this.#retiring.values()];
    await Promise.all(runners.map((runner) => runner.stop(deadline)));
  }

  /** Closes the targets; one that hangs at it is left behind. */
  async close(): Promise<void> {
    for (const runner of this.#running.values()) this.#inBackground(runner.inUse.target.close());
    this.#running.clear();
    await Promise.race([Promise.all(this.#closing), wait(closeGraceMs, undefined, { ref: false })]);
  }

  /** What it holds must not be tried by another runner of the same target meanwhile. */
  async #retire(id: number, runner: TargetRunner): Promise<void> {
    this.#retiring.set(id, runner);
    await runner.stop(new AbortController().signal);
    this.#retiring.delete(id);
    await runner.inUse.target.close();
    this.#taken = undefined;
    this.#deps.onRetired();
  }

  /** Once for each target that has left the configuration while something was waiting for it. */
  #logLeft({ id, isConfigured, open, companyCode, name }: OutboundTarget): void {
    if (isConfigured || open === 0) {
      this.#left.delete(id);
      return;
    }
    if (this.#left.has(id)) return;
    this.#left.add(id);
    this.#deps.log.warn(
      { company: companyCode, target: name, open },
      "a target is not in the configuration; what is for it waits until it is there again",
    );
  }

  #add(target: OutboundTarget): void {
    if (this.#broken.has(target.id)) return;
    const inUse = this.#make(target);
    if (inUse !== undefined) this.#running.set(target.id, this.#deps.newRunner(target, inUse));
  }

  #make(target: OutboundTarget): TargetInUse | undefined {
    try {
      return this.#deps.targets(target);
    } catch (error) {
      this.#broken.add(target.id);
      const fields = { err: error, company: target.companyCode, target: target.name };
      this.#deps.log.error(fields, "a target cannot be used; what is for it waits");
      return undefined;
    }
  }

  #inBackground(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => this.#deps.log.error({ err: error }, "a target could not be closed"))
      .finally(() => this.#closing.delete(watched));
    this.#closing.add(watched);
  }
}
