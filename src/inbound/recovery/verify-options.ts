/** How the ledger is verified. */
import { setTimeout as wait } from "node:timers/promises";
import type { Clock } from "../../lib/clock.ts";
import type { Store } from "../../store/database/database.ts";
import type { hashBytesAt } from "../places/hash-bytes.ts";
import type { Locations } from "../places/locations.ts";

export interface VerifyDependencies {
  readonly store: Pick<Store, "read" | "asOfNow">;
  readonly locations: Locations;
  readonly clock: Clock;
  /** How long a file may lie in `inbound/` while none is taken from there. */
  readonly arrivalGraceMs: number;
  /** How long a file may lie in `inbound/` unchanged because it is not whole yet. Default: `arrivalGraceMs`. */
  readonly stayGraceMs?: number;
  /** No daemon runs: the next start takes what lies in `inbound/`, and finishes what a crash has interrupted. */
  readonly isStopped?: boolean;
  /** What lies at a path, for whoever has read all of it already. Default: it is read and hashed. */
  readonly bytesAt?: typeof hashBytesAt;
  /** Between two checks of files in motion. Default 1,000. */
  readonly pauseMs?: number;
}

export interface VerifyProgress {
  /** Entries checked, of about `total`. */
  readonly entries: number;
  readonly total: number;
  readonly bytes: number;
}

export interface VerifyOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: VerifyProgress) => void;
}

/** How many are kept to be checked again at once. */
export const maxAtOnce = 1_000;
const defaultPauseMs = 1_000;

/** Waits as long as there is to be between two checks; rejects when aborted. */
export async function pauseOf(
  { pauseMs = defaultPauseMs }: VerifyDependencies,
  { signal }: VerifyOptions,
): Promise<void> {
  await wait(pauseMs, undefined, signal === undefined ? {} : { signal });
}
