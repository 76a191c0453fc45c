/**
 * A part that starts, runs and stops. Start order is given by the composition root, stop order is its exact reverse.
 */
export interface Service {
  readonly name: string;
  /** Resolves when usable; rejects when it cannot be, having undone what it began. */
  start(signal: AbortSignal): Promise<void>;
  /** Takes no more, finishes what is in hand until the deadline aborts. Safe to call twice. */
  stop(deadline: AbortSignal): Promise<void>;
}
