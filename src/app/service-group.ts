/** Starts services in order and stops them in the exact reverse; a failed start unwinds what is up. */
import type { Logger } from "../lib/log.ts";
import type { Service } from "../lib/service.ts";

/** Something to undo at the end, by name. */
export interface Release {
  readonly name: string;
  release(deadline: AbortSignal): Promise<void> | void;
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

  /** Undoes everything, last first; goes on past failures and gives their number. */
  async releaseAll(deadline: AbortSignal): Promise<number> {
    let failures = 0;
    for (let next = this.#releases.pop(); next !== undefined; next = this.#releases.pop()) {
      try {
        await next.release(deadline);
        this.#log.debug({ service: next.name }, "stopped");
      } catch (error) {
        failures += 1;
        this.#log.error({ err: error, service: next.name }, "stopping failed; going on with the others");
      }
    }
    return failures;
  }
}
