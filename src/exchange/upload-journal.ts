/**
 * Makes short uploads of a burst durable with one sync each.
 *
 *   enter    bytes and name durable in the journal ──▶ placed under the final name, not synced ──▶ answered
 *   settle   wait for placements under way ──▶ sync files and folders ──▶ empty the journal ──▶ handed to the pipeline
 *
 * Two files take turns: what arrives while one is settled goes into the other. The pipeline and the ledger never see a file
 * that is still in the journal. What survives a crash: every file that was answered, under its final name or in the
 * journal, from which the next start writes it again (recover-uploads.ts). Where the journal cannot take an upload (none
 * is there yet, it is full, its disk fails) the upload is synced by itself, as outside a burst.
 */
import { constants } from "node:fs";
import { dirname, join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Arrival } from "../inbound/inbox.ts";
import { mapAtOnce } from "../lib/at-once.ts";
import { type DiskCalls, makeDirectoryDurably, syncDirectory, writeWhole } from "../lib/durable-file.ts";
import { unlessMissing } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { Logger } from "../lib/log.ts";
import { openRegularFile } from "../lib/open-regular-file.ts";
import { shareRuns } from "../lib/shared-run.ts";
import { syncFileSystems } from "../lib/sync-file-system.ts";
import { JournalFile } from "./journal-file.ts";

export const journalFileNames = ["uploads-1.journal", "uploads-2.journal"] as const;

const settlePauseMs = 1_000;
const openPauseMs = 60_000;
/** So few are synced one by one: a sync of the file system waits for everybody's writes. */
const fewFiles = 64;
const syncsAtOnce = 8;

/** An upload that is whole. */
export interface ShortUpload {
  readonly arrival: Omit<Arrival, "path">;
  readonly bytes: Uint8Array;
  /** Absolute path that it is to get. */
  readonly path: string;
  /** Absolute path of the unfinished file. */
  readonly part: string;
  /** By which the file is known again when its bytes are not. */
  readonly inode: number;
}

/** What the journal notes beside the bytes. Paths are relative to the folder of the companies. */
export interface JournalNote {
  readonly arrival: Omit<Arrival, "path">;
  readonly path: string;
  readonly part: string;
  readonly inode: number;
  /** Counts the uploads of one run. */
  readonly turn: number;
}

export interface EnteredUpload {
  /** False: the journal failed, and may hold the upload all the same. It has to be synced by itself, and waits with the others. */
  readonly isDurable: boolean;
  /** To be called once: where the file stands now, or undefined when it could not be placed. */
  placed(path: string | undefined): void;
}

export interface UploadJournalDeps {
  readonly journalDir: string;
  readonly companiesDir: string;
  readonly disk: DiskCalls;
  readonly log: Logger;
}

interface Half {
  readonly file: JournalFile;
  /** Where the files of its records stand, by their turn. */
  paths: Map<number, string>;
  readonly underWay: Set<Promise<void>>;
}

export class UploadJournal {
  readonly #deps: UploadJournalDeps;
  /** Uploads go into the first; the other one is empty or being settled. */
  #halves: readonly [Half, Half] | undefined;
  #opening: Promise<void> | undefined;
  #mayOpenAtMs = 0;
  #turn = 0;
  readonly #stopping = new AbortController();
  /** Resolves when every file that was placed before the call is durable, and nothing of it in the journal any more. */
  readonly settle: () => Promise<void>;

  constructor(deps: UploadJournalDeps) {
    this.#deps = deps;
    this.settle = shareRuns(() => this.#settle());
  }

  /** Resolves when the upload is durable in the journal; undefined when the journal cannot take it. */
  async enter(upload: ShortUpload): Promise<EnteredUpload | undefined> {
    const half = this.#halves?.[0];
    if (half === undefined) {
      this.#opening ??= this.#open().finally(() => {
        this.#opening = undefined;
      });
      return undefined;
    }
    this.#turn += 1;
    const turn = this.#turn;
    const { promise: underWay, resolve: done } = Promise.withResolvers<void>();
    half.underWay.add(underWay);
    const placed = (path: string | undefined): void => {
      if (path !== undefined) half.paths.set(turn, path);
      half.underWay.delete(underWay);
      done();
      // Its record would bring a file back whose upload was refused.
      if (path === undefined) this.#settleSoon();
    };
    const outcome = await this.#append(half, upload, turn);
    if (outcome !== "full") return { isDurable: outcome === "durable", placed };
    placed(undefined);
    return undefined;
  }

  /** From here on a fault ends `settle` instead of being tried again: the next start takes up what is in the journal. */
  stopTrying(): void {
    this.#stopping.abort();
  }

  /** To be called when nothing enters any more; what can be settled is. */
  async close(): Promise<void> {
    this.stopTrying();
    await this.#opening;
    // Told in the log there. Nobody may use the descriptors when they are closed.
    await this.settle().catch(() => undefined);
    const halves = this.#halves ?? [];
    this.#halves = undefined;
    await Promise.all(halves.map(({ file }) => file.close()));
  }

  async #append(half: Half, upload: ShortUpload, turn: number): Promise<"durable" | "doubtful" | "full"> {
    const { arrival, bytes, path, part, inode } = upload;
    const { companiesDir, log } = this.#deps;
    const note: JournalNote = {
      arrival,
      path: relative(companiesDir, path),
      part: relative(companiesDir, part),
      inode,
      turn,
    };
    try {
      if (!(await half.file.append({ note: JSON.stringify(note), bytes }))) return "full";
      killPoint("journal.synced");
      return "durable";
    } catch (error) {
      log.warn(
        { err: error, path },
        "the journal of uploads cannot be written; the upload is synced by itself",
      );
      return "doubtful";
    }
  }

  async #open(): Promise<void> {
    const { journalDir, disk, log } = this.#deps;
    if (performance.now() < this.#mayOpenAtMs || this.#stopping.signal.aborted) return;
    const opened: JournalFile[] = [];
    try {
      await makeDirectoryDurably(journalDir);
      for (const name of journalFileNames) opened.push(await JournalFile.open(join(journalDir, name), disk));
      await syncDirectory(journalDir);
      const [first, second] = opened.map((file): Half => ({ file, paths: new Map(), underWay: new Set() }));
      if (first !== undefined && second !== undefined) this.#halves = [first, second];
      killPoint("journal.opened");
    } catch (error) {
      this.#mayOpenAtMs = performance.now() + openPauseMs;
      await Promise.all(opened.map((file) => file.close()));
      log.warn({ err: error, journalDir }, "there is no journal of uploads; each upload is synced by itself");
    }
  }

  #settleSoon(): void {
    this.settle().catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, "the journal of uploads was not settled");
    });
  }

  async #settle(): Promise<void> {
    const { signal } = this.#stopping;
    if (this.#halves === undefined || this.#halves.every(({ file }) => file.isEmpty)) return;
    const [half, other] = this.#halves;
    // One that could not be settled before the stop: nothing behind it may overtake it.
    if (!other.file.isEmpty) throw new Error("uploads before these could not be synced");
    this.#halves = [other, half];
    for (let isAgain = false; ; isAgain = true) {
      try {
        await Promise.all(half.underWay);
        killPoint("journal.settling");
        // The system tells a lost write once, and then takes the pages for clean.
        await (isAgain ? this.#writeAgain(half) : this.#makeDurable([...half.paths.values()]));
        killPoint("journal.filesSynced");
        await half.file.empty();
        half.paths = new Map();
        killPoint("journal.emptied");
        return;
      } catch (error) {
        this.#deps.log.error(
          { err: error, files: half.paths.size },
          signal.aborted
            ? "uploads could not be synced; they are in the journal, and the next start takes them up"
            : "uploads could not be synced; they are in the journal and wait; trying again",
        );
        if (signal.aborted) throw error;
        await pause(settlePauseMs, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  async #makeDurable(paths: readonly string[]): Promise<void> {
    const folders = foldersOf(paths);
    if (paths.length > fewFiles) return await syncFileSystems(folders);
    await mapAtOnce(paths, syncsAtOnce, (path) => this.#syncFile(path));
    for (const folder of folders) await syncDirectory(folder).catch(unlessMissing);
  }

  /** Puts the bytes of the journal into the files once more, and syncs one after the other. */
  async #writeAgain({ file, paths }: Half): Promise<void> {
    for await (const { note, bytes } of file.records()) {
      const path = paths.get((JSON.parse(note) as JournalNote).turn);
      if (path !== undefined) await this.#syncFile(path, bytes);
    }
    for (const folder of foldersOf([...paths.values()])) await syncDirectory(folder).catch(unlessMissing);
  }

  async #syncFile(path: string, bytes?: Uint8Array): Promise<void> {
    const { disk } = this.#deps;
    const flags = bytes === undefined ? constants.O_RDONLY : constants.O_RDWR;
    const file = await openRegularFile(path, flags, disk).catch(unlessMissing);
    // Taken away by somebody who may: there is nothing left to keep.
    if (file === undefined) return;
    try {
      if (bytes !== undefined && file.stats.size === bytes.byteLength)
        await writeWhole(disk, file.fd, bytes, 0);
      await disk.fsync(file.fd);
    } finally {
      await disk.close(file.fd);
    }
  }
}

function foldersOf(paths: readonly string[]): string[] {
  return [...new Set(paths.map((path) => dirname(path)))];
}
