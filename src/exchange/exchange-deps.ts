import type { ArrivalSink, Inbox, Reservations } from "../inbound/places/inbox.ts";
import type { BoundedMap } from "../lib/bounded-map.ts";
import type { Clock } from "../lib/clock.ts";
import type { DiskCalls } from "../lib/files/durable-file.ts";
import type { Logger } from "../lib/logs/log.ts";
import type { CompanyFolders } from "./folders/company-folders.ts";
import type { ExchangePeer } from "./exchange-session.ts";
import type { Intake } from "./uploads/intake.ts";
import type { PartialDownloads } from "./folders/download.ts";
import type { ChannelTransfers } from "./transfer-figures.ts";
import type { UploadClaims } from "./uploads/upload-claims.ts";

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
  /** Of the client. */
  readonly address: string;
}

/** A host has read a receipt to its end, or has deleted it. */
export interface CollectedReceipt {
  readonly companyId: number;
  /** Of the ledger entry that it answers. */
  readonly reference: string;
  readonly userName: string;
  readonly over: ExchangePeer["channel"];
  /** It was deleted; whether somebody had read it before shows from what was told of it before. */
  readonly isUnread: boolean;
}

/** This process among the nodes that share the tree. */
export interface TreeNode {
  /** Another one with each start. */
  readonly incarnation: string;
  /** Whether the process of that incarnation is there. One that is not may still be frozen, and wake up. */
  isLive(incarnation: string): Promise<boolean>;
}

export interface FileExchangeDeps {
  /** Absolute path of the folder that holds one folder for each company code. Paths that go out begin with it. */
  readonly companiesDir: string;
  /** Reserves the names that files are about to get. */
  readonly inbox: Reservations & Pick<Inbox, "enterElsewhere" | "isToEnter">;
  /** Takes the files that are complete. */
  readonly arrivals: Pick<ArrivalSink, "arrive" | "flush">;
  /** Room for more files, shared with the other ways in. */
  readonly intake: Intake;
  readonly limits: { readonly maxUploadBytes: number };
  readonly clock: Clock;
  readonly log: Logger;
  /** Resolves when the note is durable. When it rejects the file is not deleted. */
  readonly recordRemoval: (removal: Removal) => Promise<void>;
  /** Called after the fact; a rejection is logged and changes nothing for the client. */
  readonly recordPickup?: (pickup: Pickup) => Promise<void>;
  /** Called after the fact; returns at once. */
  readonly receiptCollected?: (receipt: CollectedReceipt) => void;
  /** Not given where this process has the tree alone. */
  readonly node?: TreeNode | undefined;
  /** The system calls; tests put their own in. */
  readonly disk?: DiskCalls;
}

/** What the parts of one session share. */
export interface SessionContext {
  readonly deps: FileExchangeDeps;
  readonly disk: DiskCalls;
  readonly claims: UploadClaims;
  readonly partialDownloads: PartialDownloads;
  /** When the uploads began whose files lie under names that say "unfinished", by the keys of these; milliseconds UTC. */
  readonly uploadBegins: BoundedMap<number>;
  readonly peer: ExchangePeer;
  /** For the times at which uploads begin and are closed: never goes back. */
  readonly closeClock: Clock;
  /** Of the protocol of the session. */
  readonly transfers: ChannelTransfers;
}

/** One company as the session sees it. */
export interface SessionCompany {
  readonly id: number;
  readonly code: string;
  readonly folders: CompanyFolders;
}
