/** What the process of a check or of a verification is told, and what it tells: lines of JSON. */

export interface HealthTask {
  readonly kind: "check" | "verify";
  /** The file that the daemon has its configuration from. */
  readonly configFile: string;
}

export type HealthReport =
  | { readonly kind: "progress"; readonly entries: number; readonly total: number }
  | { readonly kind: "result"; readonly result: unknown };
