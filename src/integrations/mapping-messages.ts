/** The messages between the pool and its mapping processes. */
import type { MappingJob, MappingOutcome } from "./map-body.ts";

export interface JobMessage {
  readonly job: MappingJob;
  /** The memory of the XML parser, beyond which the process ends with `memoryExitCode`. */
  readonly maxParserBytes: number;
}

export type ProcessReport =
  | { readonly kind: "ready" }
  | {
      readonly kind: "done";
      readonly outcome: MappingOutcome;
      /** Its memory has grown, and some of it will not shrink: the process should be replaced. */
      readonly isWornOut: boolean;
    };
