/** What the process of a check, a measurement of growth or a verification is told, and what it tells: lines of JSON. */

export interface HealthTask {
  readonly kind: "check" | "growth" | "verify";
  /** The file that the daemon has its configuration from. */
  readonly configFile: string;
}

export type HealthReport =
  | { readonly kind: "progress"; readonly entries: number; readonly total: number }
  | { readonly kind: "result"; readonly result: unknown };
