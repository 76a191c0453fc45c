/** The state of the program for monitoring; the composition root provides it. */

/**
 * What `/readyz` reports: to everybody the names of checks and their results, nothing that an outsider should not know.
 */
export interface Health {
  readonly isReady: boolean;
  readonly checks: Readonly<Record<string, boolean>>;
  /** Only to the addresses of `http.metricsFrom`: why, and which files wait for long. */
  readonly messages: readonly string[];
}

export interface Monitoring {
  health(): Health;
  /** In the text form of Prometheus. */
  metrics(): string;
}
