/** What is told of the program itself; the composition root gives it. */

/** What `/readyz` reports: to everybody names of checks and whether each is fine, nothing that an outsider should not know. */
export interface Health {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
  /** Only to the addresses of `http.metricsFrom`: why, and which files wait for long. */
  readonly messages: readonly string[];
}

export interface Monitoring {
  health(): Health | Promise<Health>;
  /** In the text form of Prometheus. */
  metrics(): string;
}
