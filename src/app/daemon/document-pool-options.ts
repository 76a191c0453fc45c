import type { Config } from "../../config/schema.ts";
import type { DocumentPoolOptions } from "../../documents/pool/document-pool.ts";
import type { Logger } from "../../lib/logs/log.ts";

/** What the section `inbound` says about reading documents, so that a dry run is held to the limits of the daemon. */
export function documentPoolOptionsOf(
  { inbound }: Pick<Config, "inbound">,
  log: Logger,
): DocumentPoolOptions {
  return {
    log,
    threads: inbound.parserThreads,
    deadlineMs: inbound.parserTimeoutMs,
    maxHeapMb: inbound.parserMemoryMb,
    limits: {
      maxBytes: inbound.maxFileBytes,
      maxStops: inbound.maxStops,
      maxDetails: inbound.maxDetails,
      maxDepth: inbound.maxDepth,
      maxTextLength: inbound.maxTextBytes,
    },
  };
}
