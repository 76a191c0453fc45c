/**
 * Puts the uploads that an earlier version has left in its journal into their places, and removes the journal.
 *
 * Each has to stand whole under its final name, or in `.again`. After a crash of the process alone all of them do. After a
 * power failure a file may be missing, or torn (the same inode, other bytes): it is written again. Another file under the
 * name stays, and the upload goes to `.again`. One that cannot get its place is kept beside the journal for the next start.
 * What survives a crash: everything; the journal goes only when all of it stands or is kept, and a second pass finds what
 * the first has placed.
 */
import { constants } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Arrival } from "../../inbound/places/inbox.ts";
import { againFolderName, isAgainFileOf, placeArrival } from "../../inbound/places/place-arrival.ts";
import { rename, rm, rmdir } from "../../lib/files/changes.ts";
import {
  type DiskCalls,
  makeDirectoryDurably,
  syncDirectory,
  writeFileDurably,
  writeWhole,
} from "../../lib/files/durable-file.ts";
import { systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import {
  openRegularFile,
  type PinnedFolder,
  pinChild,
  pinFolder,
} from "../../lib/files/open-regular-file.ts";
import {
  type FormerJournal,
  type JournaledUpload,
  type JournalNote,
  keptFolderIn,
  keyOf,
  readFormerJournal,
} from "./former-journal.ts";

export interface FormerJournalDeps {
  readonly journalDir: string;
  readonly companiesDir: string;
  readonly disk: DiskCalls;
  readonly log: Logger;
  /** Absolute paths at which files lie that the ledger has and that are not filed away. Asked for at most once. */
  readonly placesInLedger: () => Promise<ReadonlySet<string>>;
}

interface TakenUp {
  readonly arrival: Arrival;
  readonly wasWritten: boolean;
}

/** A name under which the upload may stand. */
interface Place {
  readonly folder: PinnedFolder;
  readonly name: string;
}

class TakingUp {
  readonly #deps: FormerJournalDeps;
  /** Where the uploads so far stand: two of one name and content are two files. */
  readonly #taken = new Set<string>();
  #known: Promise<ReadonlySet<string>> | undefined;

  constructor(deps: FormerJournalDeps) {
    this.#deps = deps;
  }

  /** Makes the upload stand in its place, durably. */
  async place(upload: JournaledUpload): Promise<TakenUp> {
    const { disk, companiesDir } = this.#deps;
    const { arrival, path } = upload.note;
    const inbound = await pinFolder(companiesDir, dirname(path).split("/"), disk);
    const again = await pinChild(inbound, againFolderName, disk).catch(unlessMissing);
    try {
      const places = (await placesOf(arrival.name, inbound, again)).filter(
        (place) => !this.#taken.has(pathOf(place)),
      );
      const own = await this.#ownPlace(places, upload.note);
      const standing = await this.#standing(own === undefined ? await this.#unowned(places) : [own], upload);
      const at = standing ?? (await this.#writeAgain(own, inbound, upload));
      this.#taken.add(at);
      await this.#removePart(upload.note);
      return { arrival: { ...arrival, path: at }, wasWritten: standing === undefined };
    } finally {
      await again?.close();
      await inbound.close();
    }
  }

  /** Where the very file lies that was uploaded, whatever is in it. */
  async #ownPlace(places: readonly Place[], { inode }: JournalNote): Promise<Place | undefined> {
    for (const place of places) {
      if ((await this.#inodeAt(place.folder.child(place.name))) === inode) return place;
    }
    return undefined;
  }

  /** Those that the ledger does not know: an earlier start may have written the upload there, as another file. */
  async #unowned(places: readonly Place[]): Promise<readonly Place[]> {
    this.#known ??= this.#deps.placesInLedger();
    const known = await this.#known;
    return places.filter((place) => !known.has(pathOf(place)));
  }

  /** Where the upload stands whole; durable then. */
  async #standing(places: readonly Place[], { bytes }: JournaledUpload): Promise<string | undefined> {
    for (const place of places) {
      if (!(await this.#isWholeAt(place.folder.child(place.name), bytes))) continue;
      await place.folder.sync();
      return pathOf(place);
    }
    return undefined;
  }

  async #isWholeAt(path: string, bytes: Uint8Array): Promise<boolean> {
    const { disk } = this.#deps;
    const file = await openRegularFile(path, constants.O_RDONLY, disk).catch(unlessMissing);
    if (file === undefined) return false;
    try {
      if (file.stats.size !== bytes.byteLength) return false;
      const found = Buffer.alloc(bytes.byteLength);
      if ((await disk.read(file.fd, found, 0)) !== found.byteLength || !found.equals(bytes)) return false;
      await disk.fsync(file.fd);
      return true;
    } finally {
      await disk.close(file.fd);
    }
  }

  async #writeAgain(own: Place | undefined, inbound: PinnedFolder, upload: JournaledUpload): Promise<string> {
    const { disk, companiesDir } = this.#deps;
    const { note } = upload;
    const parts = join(companiesDir, dirname(note.part));
    await makeDirectoryDurably(parts);
    const temporary = join(parts, `.${note.turn}.recovered.tmp`);
    await this.#write(temporary, upload.bytes);
    if (own !== undefined) {
      await rename(temporary, own.folder.child(own.name));
      await own.folder.sync();
      return pathOf(own);
    }
    const ignore = () => undefined;
    // The pipeline, which starts later, removes the receipts of all that lies in `inbound/`.
    const holder = { release: ignore };
    const inbox = { reserve: ignore, clearReceipt: async () => undefined, holderOf: () => holder };
    const placed = await placeArrival({ inbox, disk }, { from: temporary, inbound, arrival: note.arrival });
    return placed.path;
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const { disk } = this.#deps;
    // An interrupted start has left it; it may have its final name as well, so it is never written into.
    await disk.unlink(path).catch(unlessMissing);
    const fd = await disk.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o640);
    try {
      await writeWhole(disk, fd, bytes, 0);
      await disk.fsync(fd);
    } finally {
      await disk.close(fd);
    }
  }

  /** What the crash has left of the unfinished name. A later upload of the same name is another file. */
  async #removePart({ part, inode }: JournalNote): Promise<void> {
    const path = join(this.#deps.companiesDir, part);
    if ((await this.#inodeAt(path)) === inode) await this.#deps.disk.unlink(path);
  }

  async #inodeAt(path: string): Promise<number | undefined> {
    return (await this.#deps.disk.lstat(path).catch(unlessMissing))?.ino;
  }
}

function pathOf({ folder, name }: Place): string {
  return join(folder.path, name);
}

async function placesOf(
  name: string,
  inbound: PinnedFolder,
  again: PinnedFolder | undefined,
): Promise<readonly Place[]> {
  const names = again === undefined ? [] : await readdir(again.child("."));
  const others = names.filter((other) => isAgainFileOf(other, name));
  return [
    { folder: inbound, name },
    ...others.flatMap((other) => (again === undefined ? [] : [{ folder: again, name: other }])),
  ];
}

/** Inodes do not keep their meaning: what is mended before the next start may be another file. */
async function keep(folder: string, upload: JournaledUpload): Promise<string> {
  await makeDirectoryDurably(folder);
  const path = join(folder, `${keyOf(upload)}.json`);
  const base64 = Buffer.from(upload.bytes).toString("base64");
  await writeFileDurably(path, JSON.stringify({ note: { ...upload.note, inode: 0 }, base64 }));
  return path;
}

/** Removes the files of the journal but those that are kept, and the folders when nothing is left in them. */
async function removeJournal(
  journalDir: string,
  { files }: FormerJournal,
  kept: ReadonlySet<string>,
): Promise<void> {
  for (const path of files) if (!kept.has(path)) await rm(path);
  for (const folder of [keptFolderIn(journalDir), journalDir]) {
    await rmdir(folder).catch((error: unknown) => {
      if (!["ENOENT", "ENOTEMPTY"].includes(systemCodeOf(error) ?? "")) throw error;
    });
  }
  await syncDirectory(dirname(journalDir));
}

/**
 * Makes every upload of an earlier version's journal stand durably under its final name and removes the journal. Resolves
 * with what is to be handed to the pipeline, in the order of the closes; without a journal it does nothing. To be called
 * at start-up under the lock of the state directory, before the pipeline starts.
 */
export async function takeUpFormerJournal(deps: FormerJournalDeps): Promise<readonly Arrival[]> {
  const { journalDir, companiesDir, log } = deps;
  const journal = await readFormerJournal(journalDir);
  if (journal === undefined) return [];
  const takingUp = new TakingUp(deps);
  const takenUp: TakenUp[] = [];
  const kept = new Set<string>();
  for (const upload of journal.uploads) {
    try {
      takenUp.push(await takingUp.place(upload));
    } catch (error) {
      kept.add(await keep(keptFolderIn(journalDir), upload));
      const path = join(companiesDir, upload.note.path);
      log.error(
        { err: error, path, kept: keptFolderIn(journalDir) },
        "an upload that an earlier version has answered cannot be put in its place; remove the cause in the error and restart",
      );
    }
  }
  await removeJournal(journalDir, journal, kept);
  const written = takenUp.filter(({ wasWritten }) => wasWritten).length;
  log.info(
    { uploads: takenUp.length, written, kept: kept.size },
    "the journal of an earlier version is taken up",
  );
  return takenUp.map(({ arrival }) => arrival);
}

/** Where an upload may stand, as absolute paths; for a state directory without a daemon. */
async function pathsOf(companiesDir: string, { arrival, path }: JournalNote): Promise<readonly string[]> {
  const again = join(companiesDir, dirname(path), againFolderName);
  const names = (await readdir(again).catch(unlessMissing)) ?? [];
  const others = names.filter((other) => isAgainFileOf(other, arrival.name));
  return [join(companiesDir, path), ...others.map((other) => join(again, other))];
}

async function isAt(path: string, { note, bytes }: JournaledUpload): Promise<boolean> {
  const stats = await lstat(path).catch(unlessMissing);
  if (stats?.isFile() !== true) return false;
  if (stats.ino === note.inode) return true;
  return stats.size === bytes.byteLength && (await readFile(path)).equals(bytes);
}

/**
 * How many uploads the next start takes out of an earlier version's journal; those that stand in `inbound/` as well are
 * not counted. For a state directory that no daemon works on.
 */
export async function countUploadsOfFormerJournal(
  folders: Pick<FormerJournalDeps, "journalDir" | "companiesDir">,
): Promise<number> {
  let count = 0;
  const journal = await readFormerJournal(folders.journalDir);
  for (const upload of journal?.uploads ?? []) {
    const paths = await pathsOf(folders.companiesDir, upload.note);
    const standing = await Promise.all(paths.map((path) => isAt(path, upload)));
    if (!standing.includes(true)) count += 1;
  }
  return count;
}
