/**
 * Takes up what the last run has left in the journal of uploads, before anything else looks at the folders.
 *
 * Each upload has to stand whole under its final name, or in `.again`. After the death of the process alone all of them
 * do, but for those whose close was not answered. After a power failure a file may be missing, or torn (the same
 * inode, other bytes): it is written again. A file of somebody else under the name stays, and ours goes to `.again`.
 */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { readdir, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Arrival } from "../inbound/inbox.ts";
import { againFolderName, isAgainFileOf, placeArrival } from "../inbound/place-arrival.ts";
import { makeDirectoryDurably, writeFileDurably, writeWhole } from "../lib/durable-file.ts";
import { unlessMissing } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import { openRegularFile, type PinnedFolder, pinChild, pinFolder } from "../lib/open-regular-file.ts";
import { emptyJournal, readJournal } from "./journal-file.ts";
import { type JournalNote, journalFileNames, type UploadJournalDeps } from "./upload-journal.ts";

interface Upload {
  readonly note: JournalNote;
  readonly bytes: Uint8Array;
}

interface Recovered {
  readonly arrival: Arrival;
  readonly wasWritten: boolean;
}

/** A name under which the upload may stand. */
interface Place {
  readonly folder: PinnedFolder;
  readonly name: string;
}

export interface RecoveryDeps extends UploadJournalDeps {
  /** Absolute paths at which files lie that the ledger has and that are not filed away. Asked for at most once. */
  readonly placesInLedger: () => Promise<ReadonlySet<string>>;
}

class Recovery {
  readonly #deps: RecoveryDeps;
  readonly recovered: Recovered[] = [];
  /** What could not be taken up. */
  readonly failed: Upload[] = [];
  /** Where the uploads so far stand: two of one name and content are two files. */
  readonly #taken = new Set<string>();
  #known: Promise<ReadonlySet<string>> | undefined;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  /** Makes the upload stand in its place; one that cannot is told and kept. */
  async takeUp(upload: Upload): Promise<void> {
    killPoint("journal.recovering");
    try {
      this.recovered.push(await this.#restore(upload));
    } catch (error) {
      this.failed.push(upload);
      this.#deps.log.error(
        { err: error, path: join(this.#deps.companiesDir, upload.note.path) },
        "an answered upload could not be put in its place; mend what the error says and restart",
      );
    }
  }

  async #restore(upload: Upload): Promise<Recovered> {
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

/** Uploads that an earlier start could not take up, each a file of its own beside the journal. */
const keptFolderName = "kept";

async function readKept(folder: string): Promise<ReadonlyMap<string, Upload>> {
  const kept = new Map<string, Upload>();
  const names = (await readdir(folder).catch(unlessMissing)) ?? [];
  for (const name of names.filter((each) => each.endsWith(".json")).sort()) {
    const { note, base64 } = JSON.parse(await readFile(join(folder, name), "utf8")) as {
      note: JournalNote;
      base64: string;
    };
    kept.set(join(folder, name), { note, bytes: Buffer.from(base64, "base64") });
  }
  return kept;
}

/** Out of the journal, whose records would be taken up again with those that could be. Inodes do not keep their meaning. */
async function keep(folder: string, uploads: readonly Upload[]): Promise<void> {
  if (uploads.length > 0) await makeDirectoryDurably(folder);
  for (const { note, bytes } of uploads) {
    const text = JSON.stringify({
      note: { ...note, inode: 0 },
      base64: Buffer.from(bytes).toString("base64"),
    });
    await writeFileDurably(join(folder, `${note.arrival.receivedAt ?? 0}-${randomUUID()}.json`), text);
  }
}

/**
 * Makes every upload of the journal stand durably under its final name, and empties the journal. Resolves with what is to
 * be handed to the pipeline, in the order of the closes. An upload that cannot get its place is kept beside the journal and
 * tried again at each start; rejects when not even that can be done. To be called at start-up under the lock of the state
 * directory, before the pipeline starts.
 */
export async function recoverUploads(deps: RecoveryDeps): Promise<readonly Arrival[]> {
  const { journalDir, disk, log } = deps;
  const keptFolder = join(journalDir, keptFolderName);
  const recovery = new Recovery(deps);
  const opened: number[] = [];
  try {
    for (const name of journalFileNames) {
      const flags = constants.O_RDWR | constants.O_NOFOLLOW;
      const fd = await disk.open(join(journalDir, name), flags).catch(unlessMissing);
      if (fd === undefined) continue;
      opened.push(fd);
      for await (const { note, bytes } of readJournal(disk, fd))
        await recovery.takeUp({ note: JSON.parse(note) as JournalNote, bytes: Buffer.from(bytes) });
    }
    killPoint("journal.recovered");
    await keep(keptFolder, recovery.failed.splice(0));
    for (const fd of opened) await emptyJournal(disk, fd);
  } finally {
    for (const fd of opened) await disk.close(fd);
  }
  for (const [path, upload] of await readKept(keptFolder)) {
    await recovery.takeUp(upload);
    // Failed ones stay where they are.
    if (recovery.failed.pop() === undefined) await disk.unlink(path);
  }
  const { recovered } = recovery;
  if (recovered.length > 0) {
    const written = recovered.filter(({ wasWritten }) => wasWritten).length;
    log.info({ uploads: recovered.length, written }, "uploads of the last run are taken up from the journal");
  }
  return recovered
    .map(({ arrival }) => arrival)
    .toSorted((one, other) => (one.receivedAt ?? 0) - (other.receivedAt ?? 0));
}
