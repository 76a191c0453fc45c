/**
 * Takes up what the last run has left in the journal of uploads, before anything else looks at the folders.
 *
 * Each upload has to stand whole under its final name, or in `.again`. After the death of the process alone all of them
 * do, but for the last, whose close was not answered. After a power failure a file may be missing, or torn (the same
 * inode, other bytes): it is written again. A file of somebody else under the name stays, and ours goes to `.again`.
 */
import { constants } from "node:fs";
import { readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Arrival } from "../inbound/inbox.ts";
import { againFolderName, isAgainFileOf, placeArrival } from "../inbound/place-arrival.ts";
import { makeDirectoryDurably } from "../lib/durable-file.ts";
import { systemCodeOf } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import { openRegularFile, type PinnedFolder, pinChild, pinFolder } from "../lib/open-regular-file.ts";
import { emptyJournal, readJournal, writeWhole } from "./journal-file.ts";
import { type JournalNote, journalFileNames, type UploadJournalDeps } from "./upload-journal.ts";

export interface RecoveredUploads {
  /** To be handed to the pipeline, in the order of their closes. */
  readonly arrivals: readonly Arrival[];
  /** False: not everything could be taken up, and the journal is kept as it is for the next start. */
  readonly isWhole: boolean;
}

interface Upload {
  readonly note: JournalNote;
  readonly bytes: Uint8Array;
}

interface Recovered {
  readonly arrival: Arrival;
  readonly turn: number;
  readonly wasWritten: boolean;
}

/** A name under which the upload may stand. */
interface Place {
  readonly folder: PinnedFolder;
  readonly name: string;
}

class Recovery {
  readonly #deps: UploadJournalDeps;
  readonly recovered: Recovered[] = [];
  /** Where the uploads so far stand: two of one name and content are two files. */
  readonly #taken = new Set<string>();
  isWhole = true;

  constructor(deps: UploadJournalDeps) {
    this.#deps = deps;
  }

  /** Takes up each upload of an open journal file. */
  async takeUp(fd: number): Promise<void> {
    for await (const { note, bytes } of readJournal(this.#deps.disk, fd)) {
      killPoint("journal.recovering");
      const upload: Upload = { note: JSON.parse(note) as JournalNote, bytes };
      try {
        this.recovered.push(await this.#restore(upload));
      } catch (error) {
        this.isWhole = false;
        this.#deps.log.error(
          { err: error, path: join(this.#deps.companiesDir, upload.note.path) },
          "an answered upload could not be taken up from the journal; mend what the error says and restart",
        );
      }
    }
  }

  async #restore(upload: Upload): Promise<Recovered> {
    const { disk, companiesDir } = this.#deps;
    const { path, turn, closedAt } = upload.note;
    const arrival = { ...upload.note.arrival, receivedAt: closedAt };
    const inbound = await pinFolder(companiesDir, dirname(path).split("/"), disk);
    const again = await pinChild(inbound, againFolderName, disk).catch(unlessMissing);
    try {
      const places = (await placesOf(arrival.name, inbound, again)).filter(
        (place) => !this.#taken.has(pathOf(place)),
      );
      const own = await this.#ownPlace(places, upload.note);
      const standing = await this.#standing(own === undefined ? places : [own], upload);
      const at = standing ?? (await this.#writeAgain(own, inbound, upload));
      this.#taken.add(at);
      await this.#removePart(upload.note);
      return { arrival: { ...arrival, path: at }, turn, wasWritten: standing === undefined };
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

  /** Where the upload stands whole; durable then. */
  async #standing(places: readonly Place[], { bytes }: Upload): Promise<string | undefined> {
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

  async #writeAgain(own: Place | undefined, inbound: PinnedFolder, upload: Upload): Promise<string> {
    const { disk, companiesDir } = this.#deps;
    const { note } = upload;
    const parts = join(companiesDir, dirname(note.part));
    await makeDirectoryDurably(parts);
    const temporary = join(parts, `.${note.turn}.recovered.tmp`);
    await this.#write(temporary, upload.bytes);
    killPoint("journal.written");
    if (own !== undefined) {
      await rename(temporary, own.folder.child(own.name));
      await own.folder.sync();
      return pathOf(own);
    }
    const inbox = { reserve: () => undefined, release: () => undefined, arrive: () => undefined };
    return await placeArrival({ inbox, disk }, { from: temporary, inbound, arrival: note.arrival });
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const { disk } = this.#deps;
    // Of a start that was broken off; it may have its final name as well, so that nobody writes into it.
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

function unlessMissing(error: unknown): undefined {
  if (!["ENOENT", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) throw error;
  return undefined;
}

/**
 * Makes every upload of the journal stand durably under its final name, and empties the journal when all of them do. To be
 * called at start-up under the lock of the state directory, before the pipeline starts.
 */
export async function recoverUploads(deps: UploadJournalDeps): Promise<RecoveredUploads> {
  const { journalDir, disk, log } = deps;
  const recovery = new Recovery(deps);
  const opened: number[] = [];
  try {
    for (const name of journalFileNames) {
      const flags = constants.O_RDWR | constants.O_NOFOLLOW;
      const fd = await disk.open(join(journalDir, name), flags).catch(unlessMissing);
      if (fd === undefined) continue;
      opened.push(fd);
      await recovery.takeUp(fd);
    }
    killPoint("journal.recovered");
    if (recovery.isWhole && recovery.recovered.length > 0)
      for (const fd of opened) await emptyJournal(disk, fd);
  } finally {
    for (const fd of opened) await disk.close(fd);
  }
  const recovered = recovery.recovered.toSorted((one, other) => one.turn - other.turn);
  if (recovered.length > 0) {
    const written = recovered.filter(({ wasWritten }) => wasWritten).length;
    log.info({ uploads: recovered.length, written }, "uploads of the last run are taken up from the journal");
  }
  return { arrivals: recovered.map(({ arrival }) => arrival), isWhole: recovery.isWhole };
}
