import type { Clock } from "../../lib/clock.ts";
import type { DiskCalls } from "../../lib/files/durable-file.ts";
import { sizeText } from "../../lib/size-text.ts";
import { ExchangeError, type FileSystemStatistics } from "../exchange-session.ts";

const cachedForMs = 1_000;

export interface DiskSpace {
  /** Throws `noSpace` when the disk has less free space than it must keep. Asks the system at most once a second. */
  assertEnough(): Promise<void>;
  statistics(): Promise<FileSystemStatistics>;
  /** For monitoring. */
  room(): Promise<DiskRoom>;
}

/** Bytes for whoever may write there, and how many of them must stay. */
export interface FreeSpace {
  readonly freeBytes: number;
  readonly minFreeBytes: number;
}

export interface DiskRoom extends FreeSpace {
  /** The size of the file system. */
  readonly diskBytes: number;
}

interface DiskSpaceDeps {
  readonly directory: string;
  /** How many bytes must stay free on a disk of this size. */
  readonly minFreeBytes: (diskBytes: number) => number;
  readonly disk: Pick<DiskCalls, "statfs">;
  readonly clock: Clock;
}

/** The statistics of a disk as clients get them. */
export function statisticsOf(found: Awaited<ReturnType<DiskCalls["statfs"]>>): FileSystemStatistics {
  return {
    blockSize: found.bsize,
    blocks: found.blocks,
    blocksFree: found.bfree,
    blocksAvailable: found.bavail,
    files: found.files,
    filesFree: found.ffree,
    // Node does not give the mount flags; a read-only disk shows at the first write.
    isReadOnly: false,
  };
}

/** Watches the free space of the file system on which the companies' files lie. */
export function createDiskSpace(deps: DiskSpaceDeps): DiskSpace {
  let asked: { readonly atMs: number; readonly answer: Promise<FileSystemStatistics> } | undefined;
  let isAsking = false;

  function ask(): Promise<FileSystemStatistics> {
    isAsking = true;
    return deps.disk
      .statfs(deps.directory)
      .finally(() => {
        isAsking = false;
      })
      .then(statisticsOf);
  }

  function statistics(): Promise<FileSystemStatistics> {
    const nowMs = deps.clock.now();
    const isOld = asked === undefined || Math.abs(nowMs - asked.atMs) >= cachedForMs;
    // A file system that hangs keeps a thread for each question: one is enough.
    if (asked === undefined || (isOld && !isAsking)) asked = { atMs: nowMs, answer: ask() };
    return asked.answer;
  }

  async function room(): Promise<DiskRoom> {
    const { blocks, blocksAvailable, blockSize } = await statistics();
    const diskBytes = blocks * blockSize;
    return { diskBytes, freeBytes: blocksAvailable * blockSize, minFreeBytes: deps.minFreeBytes(diskBytes) };
  }

  async function assertEnough(): Promise<void> {
    const { freeBytes, minFreeBytes } = await room();
    if (freeBytes >= minFreeBytes) return;
    throw new ExchangeError(
      "noSpace",
      `The server's disk has less than ${sizeText(minFreeBytes)} free; try again later`,
    );
  }

  return { assertEnough, statistics, room };
}
