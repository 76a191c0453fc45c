import type { DecidedState } from "../domain/files/file-state.ts";
import type { HeldFiles } from "./lanes/held-files.ts";

/** Figures for monitoring; `decided` counts since the start. */
export interface PipelineStatistics {
  readonly waiting: readonly { readonly company: string; readonly count: number }[];
  readonly decided: readonly {
    readonly company: string;
    readonly state: DecidedState;
    readonly count: number;
  }[];
  readonly unfiled: number;
  /** Halted companies and held files, by company. */
  readonly held: readonly HeldFiles[];
}
