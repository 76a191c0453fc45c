/**
 * Starts services in order and stops them in the exact reverse; a failed start unwinds what is up. Each service gets
 * the deadline and keeps to it. One that hangs all the same is abandoned shortly after it, so that the others are
 * stopped and the process ends.
 */
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { Logger } from "../../lib/logs/log.ts";
import type { Service } from "../../lib/service.ts";

/** Something to undo at the end, by name. */
export interface Release {
  readonly name: string;
  release(deadline: AbortSignal): Promise<void>;
}

const defaultGraceMs = 5_000;

class OverdueError extends Error {
  constructor() {
    super("it has not stopped in time; the stop goes on without it");
    this.name = "OverdueError";
  }
}

/** Rejects that long after the deadline. */
async function overdue(deadline: AbortSignal, graceMs: number): Promise<never> {
  if (!deadline.aborted) await once(deadline, "abort");
  await setTimeout(graceMs, undefined, { ref: false });
  throw new OverdueError();
}

export class ReleaseStack {
  readonly #releases: Release[] = [];
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  push(release: Release): void {
    this.#releases.push(release);
  }

  /** Starts a service and remembers to stop it. A service whose start fails has undone itself. */
  async start(service: Service, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await service.start(signal);
    this.push({ name: service.name, release: (deadline) => service.stop(deadline) });
  }

  /**
   * Undoes everything, last first; goes on after failures and returns their number. `graceMs` after the deadline it
   * waits for nobody any more.
   */
  async releaseAll(deadline: AbortSignal, graceMs = defaultGraceMs): Promise<number> {
    const tooLate = overdue(deadline, graceMs);
    tooLate.catch(() => undefined);
    let failures = 0;
    for (let next = this.#releases.pop(); next !== undefined; next = this.#releases.pop()) {
      try {
        await Promise.race([next.release(deadline), tooLate]);
        this.#log.debug({ service: next.name }, "stopped");
      } catch (error) {
        failures += 1;
        this.#log.error(
          { err: error, service: next.name },
          "stopping a service failed; continuing with the others",
        );
      }
    }
    return failures;
  }
}
