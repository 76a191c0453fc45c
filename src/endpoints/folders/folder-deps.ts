import {
  constants,
  type Dirent,
  access as nodeAccess,
  opendirSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { opendir, realpath, stat } from "node:fs/promises";
import { promisify } from "node:util";
import type { Inbox } from "../../inbound/places/inbox.ts";
import type { Clock } from "../../lib/clock.ts";
import { type DiskCalls, systemDisk } from "../../lib/files/durable-file.ts";
import type { ChangeClock } from "../../lib/files/change-clock.ts";
import { mayShortCallsWait, shortCall } from "../../lib/files/short-calls.ts";
import { asForeign, foreignEntries } from "../../lib/files/foreign-calls.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { WatchFolder } from "./folder-watch.ts";
import type { TakeThread } from "./take-thread.ts";

/** A folder whose files are taken in. */
export interface WatchedFolder {
  readonly companyId: number;
  readonly companyCode: string;
  readonly path: string;
  /** The company's own `inbound/`: its files stay in place. Those of other folders are moved there. */
  readonly isInbox: boolean;
  readonly inboundDirectory: string;
}

/** The settings of the section `inbound` that folders need; read at each use, so that a reload takes effect. */
export interface FolderSettings {
  readonly settleMs: number;
  readonly scanMs: number;
  readonly unfinishedReportAfterMs: number;
  readonly incompleteGraceMs: number;
  readonly maxFileBytes: number;
  readonly giveUpAfterMs: number;
}

/** The system calls that folders are watched with. A seam: tests count them and make one of them fail. */
export interface FolderDisk extends DiskCalls {
  /** The entries of a folder, read in portions, so that a large one never blocks the process. */
  entries(path: string): Promise<AsyncIterable<Dirent> | Iterable<Dirent>>;
  stat(path: string): Promise<Stats>;
  /** Synchronous. */
  statNow(path: string): Stats;
  realpath(path: string): Promise<string>;
  /** Rejects unless this process may do it (`constants.R_OK`, `W_OK`). */
  access(path: string, mode: number): Promise<void>;
  /** How many `lstat` calls run at the same time. */
  readonly statsAtOnce: number;
}

// Measured with 100,000 entries: 128 ms at 1,024 to 4,096 a portion, 690 ms at 32, 1,550 ms at 16,384.
const portion = 2_048;

const accessCall = promisify(nodeAccess);

/**
 * For folders anywhere. Few `lstat` calls at once: a share that dies keeps a thread of the runtime for each.
 */
export const systemFolderDisk: FolderDisk = {
  ...systemDisk,
  lstat: asForeign(systemDisk.lstat),
  entries: async (path) => foreignEntries(path, portion),
  stat: asForeign((path) => stat(path)),
  statNow: (path) => statSync(path),
  realpath: asForeign((path) => realpath(path)),
  access: asForeign((path, mode = constants.F_OK) => accessCall(path, mode)),
  statsAtOnce: 2,
};

/** A folder with more entries than this is read in the background. */
const fewEntries = 64;

/** All entries of the folder; undefined when they are many. */
function fewEntriesNow(path: string): Dirent[] | undefined {
  const directory = opendirSync(path, { bufferSize: fewEntries });
  try {
    const entries: Dirent[] = [];
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      if (entries.length === fewEntries) return undefined;
      entries.push(entry);
    }
    return entries;
  } finally {
    directory.closeSync();
  }
}

/**
 * For the disk of the state directory: small calls are synchronous, which costs a tenth of a hop to the thread pool and back,
 * unless they may wait for other machines. With a thousand companies that is most of a start and of an idle minute.
 */
export const localFolderDisk: FolderDisk = {
  ...systemFolderDisk,
  lstat: systemDisk.lstat,
  access: (path, mode) => accessCall(path, mode),
  statsAtOnce: 64,
  stat: (path) =>
    shortCall(
      () => statSync(path),
      () => stat(path),
    ),
  realpath: (path) =>
    shortCall(
      () => realpathSync.native(path),
      () => realpath(path),
    ),
  entries: async (path) =>
    (mayShortCallsWait() ? undefined : fewEntriesNow(path)) ?? (await opendir(path, { bufferSize: portion })),
};

export interface FolderDeps {
  readonly inbox: Pick<
    Inbox,
    "reserve" | "release" | "clearReceipt" | "isKnown" | "arriveAll" | "hold" | "keepBack"
  >;
  readonly settings: () => FolderSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly disk: FolderDisk;
  /** The same for the companies' own folders. */
  readonly localDisk: FolderDisk;
  readonly watch: WatchFolder;
  /** Whether a file that does not end with the end tag of its root is cut off, rather than faulty or ended otherwise. */
  readonly isIncomplete: (
    path: string,
    origin: { readonly companyCode: string; readonly size: number },
  ) => Promise<boolean>;
  /** Why no file of the company can be taken now; undefined when files can. */
  readonly whyNoRoom: (company: {
    readonly id: number;
    readonly code: string;
  }) => Promise<string | undefined>;
  /** Makes everything durable that was written to the file system of the folder. */
  readonly syncCopies: (folder: string) => Promise<void>;
  readonly takeThread: () => TakeThread;
  /**
   * How long files of the company may be taken here, in milliseconds; undefined: for ever. 0: another node takes them, which
   * may have found them already.
   */
  readonly mayTakeForMs: (companyId: number) => number | undefined;
  /** The clock of the file system that has the companies' folders, where other nodes may have left files in them. */
  readonly changeClock?: (() => Promise<ChangeClock | undefined>) | undefined;
  /** How often `.again` is looked at there: a node that died before an entry was made has left its file. A minute unless given. */
  readonly againEveryMs?: number | undefined;
  /** Marks temporary files as those of this run: what else lies there was left by a crash, or by the node that had the company. */
  readonly runId: string;
}
