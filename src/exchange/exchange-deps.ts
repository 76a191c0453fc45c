import type { Clock } from "../lib/clock.ts";
import type { DiskCalls } from "../lib/files/durable-file.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { CompanyFolders } from "./company-folders.ts";
import type { ExchangePeer } from "./exchange-session.ts";
import type { Intake } from "./intake.ts";
import type { ExchangeInbox, GatheredArrivals } from "./arrivals/gathered-arrivals.ts";
import type { PartialDownloads } from "./partial-downloads.ts";
import type { UploadClaims } from "./upload-claims.ts";

export interface ExchangeLimits {
  readonly maxUploadBytes: number;
  /** How many files of a company may wait. */
  readonly maxWaiting: number;
  /** How many bytes must stay free on a disk of this size. */
  readonly minFreeBytes: (diskBytes: number) => number;
}

/** A host deletes a file from `error/`: the ledger notes it before the bytes go. */
export interface Removal {
  readonly companyId: number;
  /** Absolute path of the file. */
  readonly path: string;
  readonly userName: string;
}

/** A host has taken a file from `outbound/`: read all of it, moved it into `done/`, or deleted it. */
export interface Pickup extends Removal {
  readonly kind: "downloaded" | "moved" | "deleted";
}

export interface FileExchangeDeps {
  /** Absolute path of the folder that holds one folder for each company code. Paths that go out begin with it. */
  readonly companiesDir: string;
  readonly inbox: ExchangeInbox;
  readonly limits: ExchangeLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Resolves when the note is durable. When it rejects the file is not deleted. */
  readonly recordRemoval: (removal: Removal) => Promise<void>;
  /** Told after the fact; a rejection is logged and changes nothing for the client. */
  readonly recordPickup?: (pickup: Pickup) => Promise<void>;
  /** Room for more files, shared with the other ways in; one of its own unless given. */
  readonly intake?: Intake;
  /** The system calls; tests put their own in. */
  readonly disk?: DiskCalls;
  /** The clock that tells bursts, which only goes forward; tests put their own in. */
  readonly burstNowMs?: () => number;
}

/** What the parts of one session share. */
export interface SessionContext {
  readonly deps: Omit<FileExchangeDeps, "inbox"> & { readonly inbox: GatheredArrivals };
  readonly disk: DiskCalls;
  readonly intake: Intake;
  readonly claims: UploadClaims;
  readonly partialDownloads: PartialDownloads;
  readonly peer: ExchangePeer;
  /** For the times of closes: never goes back. */
  readonly closeClock: Clock;
}

/** One company as the session sees it. */
export interface SessionCompany {
  readonly id: number;
  readonly code: string;
  readonly folders: CompanyFolders;
}
