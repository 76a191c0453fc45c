import type { ForgottenEntries } from "../../domain/retention/pruned-text.ts";
import type { RunningDaemons } from "../../store/cluster/running-daemons.ts";
import type { Store } from "../../store/database/database.ts";
import type { ListedDelivery } from "../../store/outbound/delivery-queries.ts";
import type { FilesBefore } from "../../store/ledger/file-queries.ts";
import type { FileRepeat, LedgerEntry } from "../../store/ledger/files.ts";
import type { StopSummary } from "../../store/stops/stop-history.ts";
import type { Candidate, DocumentStory, RemoteFileStory, UntakenStory } from "./explain-elsewhere.ts";
import type { FolderOfTarget, OutboundStory } from "./explain-outbound.ts";
import type { LooseSearch } from "../recovery/find-loose-files.ts";
import type { LooseFile } from "../recovery/folder-looks.ts";
import type { UntakenOfRemote } from "../remotes/untaken-files.ts";

export interface ExplainDependencies extends LooseSearch, RunningDaemons {
  readonly store: Pick<Store, "read">;
  readonly folderOfTarget: FolderOfTarget;
  /** What remotes have that is not taken, as the running daemon reports it. */
  readonly untaken: readonly UntakenOfRemote[];
  /** Milliseconds UTC. */
  readonly now: number;
  /** Room on the disk of the state directory, and how much has to stay free, in bytes. */
  readonly space?: DiskRoom;
}

export interface DiskRoom {
  readonly freeBytes: number;
  readonly minFreeBytes: number;
}

/** What is at the location that the ledger names. */
export type BytesPresence = "there" | "absent" | "removed" | "notAFile" | "unreadable";

export interface FileStory {
  readonly company: string;
  readonly entry: LedgerEntry;
  /** Absolute path of the bytes. */
  readonly path: string;
  readonly presence: BytesPresence;
  /** What goes out about its stop since it came, as far as it is not delivered, or else the newest; oldest first. */
  readonly goesOut: readonly ListedDelivery[];
  /** What was decided about it before a retry, oldest first. */
  readonly repeats: readonly FileRepeat[];
  /** The entry whose content this one repeats. */
  readonly first?: LedgerEntry;
  /** The stop that was asked for, when it is not the file's first. */
  readonly laterStop?: string;
  /** Why it does not go on, as the running daemon reports it. */
  readonly held?: readonly string[];
  /** The files before it, while it waits. */
  readonly before?: FilesBefore;
  /** Files of the same stop that go before it, while it waits. */
  readonly ofSameStop?: readonly EarlierFile[];
  /** The same of files that still lie in a folder, because they are not whole or cannot be read. */
  readonly inFolders?: readonly LooseFile[];
}

export interface EarlierFile {
  readonly id: number;
  readonly name: string;
  readonly presence: BytesPresence;
}

export interface StopStory {
  readonly company: string;
  readonly stop: StopSummary;
  readonly statusName: string;
  /** By when they happened, the newest 100. */
  readonly events: readonly ToldEvent[];
  /** What went out about it, or is to go, oldest first, the newest 50. */
  readonly deliveries: readonly ListedDelivery[];
}

export interface ToldEvent {
  readonly code: number;
  readonly name: string;
  readonly recordedAt: number;
  /** When it happened: as reported, else when it was recorded. */
  readonly happenedAt: number;
}

export type LooseStory = LooseFile & {
  readonly userName?: string;
  /** Files of folders that keep it back: earlier ones of its stop that are not whole or cannot be read. */
  readonly behind?: readonly LooseFile[];
};

export interface Explanation extends RunningDaemons {
  readonly subject: string;
  /** When it was told, milliseconds UTC. */
  readonly now: number;
  /** What was asked for, when the ledger knows it only in another case. */
  readonly askedFor?: string;
  /** Entries of that name, oldest first. */
  readonly files: readonly FileStory[];
  /** Files of that name that are in no ledger. */
  readonly loose: readonly LooseStory[];
  readonly stops: readonly StopStory[];
  /** Entries of the stop, oldest first, the newest 50. */
  readonly stopFiles: readonly FileStory[];
  /** What went out, or goes out, under that name: completion files and exports. */
  readonly outbound: readonly OutboundStory[];
  /** Files of that name that were taken from remotes, and may be seen there again. */
  readonly remoteFiles: readonly RemoteFileStory[];
  /** Files of that name, or of that stop, that lie on remotes and are not taken. */
  readonly untaken: readonly UntakenStory[];
  /** How many files of remotes the daemon has not reported one by one. */
  readonly moreUntaken: number;
  /** The document of that GUID. */
  readonly documents: readonly DocumentStory[];
  /** What a pattern may mean, the newest first. */
  readonly candidates: readonly Candidate[];
  /** When there is too little room, so that uploads are refused. */
  readonly fullDisk?: DiskRoom;
  /** Companies outside the search that know the name or the stop. */
  readonly otherCompanies: readonly string[];
  /** Of a name without an entry: until when entries were removed because of their age, by company. */
  readonly forgotten?: readonly ForgottenEntries[];
  /** What is wrong with the name, for a name that is known nowhere. */
  readonly nameFault?: string;
}

/** What is known in one company. */
export type CompanyView = Pick<
  Explanation,
  "files" | "loose" | "stops" | "stopFiles" | "outbound" | "remoteFiles" | "untaken" | "documents"
>;
