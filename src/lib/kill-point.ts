/**
 * Points at which the process can be made to die, so that tests can show what survives a crash at each of them.
 *
 * `DROPGATE_KILL_POINT=name[:nth]` in the environment at the start arms one point: its nth pass (the first unless told
 * otherwise) ends the process with SIGKILL, so that nothing is flushed, answered or tidied up any more. It works in
 * worker threads too; each thread counts its own passes. Without the variable a call compares with `undefined`.
 */

/** Every point, in the order of a file's way, with what has been done when it is passed. */
export const killPoints = {
  "lock.taken": "the state directory is locked",
  "lock.pidWritten": "the process id is noted beside the lock",
  "store.opened": "the database file is there, with its pragmas",
  "migrate.begun": "the table with the number of the schema is there",
  "migrate.copied": "a database that is about to be migrated is copied",
  "migrate.stepDone": "a migration has run, not committed",
  "store.migrated": "the schema is up to date",
  "store.instanceNoted": "the instance id is in the database, not in the marker",
  "store.markerWritten": "the instance id is in the marker",
  "generation.noted": "the generation is counted up in the database, not beside it",
  "boot.noted": "the boot of the machine is noted, not committed",
  "recheck.written": "a receipt that a power failure took is written again",
  "journal.takingUp": "an upload of an earlier version's journal is about to be looked for in its folder",
  "journal.written": "such an upload that is not in its folder is written again, under a temporary name",
  "journal.takenUp": "every upload of that journal stands under its final name; the journal is there",
  "recovery.begun": "nothing of an earlier run has been taken up",
  "recovery.filingQueued": "a decided file of an earlier run is queued to be filed",
  "recovery.redone": "the decided files of an earlier run are filed",
  "recovery.loaded": "a waiting entry of an earlier run is back in line",
  "recovery.inLine": "all waiting entries are back in line",
  "sweep.removed": "an unfinished part that was left over is removed",
  "upload.opened": "an upload is opened; nothing of it is on the disk",
  "upload.stalePartRemoved": "an older part of the same name is removed",
  "upload.creating": "the unfinished file is about to be made",
  "upload.writing": "the unfinished file is there, empty or as it was left",
  "upload.written": "bytes are written, not synced",
  "upload.cut": "the unfinished file is cut",
  "upload.synced": "the bytes are durable",
  "upload.left": "a broken link has left its part behind",
  "upload.removed": "a client's unfinished file is removed, the folder not synced",
  "upload.renameLinked": "an unfinished file has both of its unfinished names",
  "upload.renameSynced": "the bytes of an unfinished file that gets its final name are durable",
  "upload.closing": "the close has come",
  "upload.durable": "the bytes of a closed upload are durable under the unfinished name",
  "upload.finished": "the upload has its place; the close is not answered",
  "place.reserved": "the final path is reserved",
  "receipt.cleared": "the receipt of an earlier file of the name is gone",
  "place.linked": "the final name is there, the old one too",
  "place.unlinked": "the old name is gone; the folder may not be synced",
  "place.folderSynced": "the folder is synced; the old name may be there",
  "place.finished": "the final name is durable, the old one gone",
  "place.arrived": "the file is handed to the pipeline",
  "again.folderMade": "the folder for files whose name is taken is there",
  "again.linked": "such a file has its final name and the old one",
  "again.finished": "such a file is in its place",
  "folder.leftoversSeen": "the first scan has seen what a crash left in the dot-folders",
  "folder.copySwept": "a copy that a crash left is removed",
  "folder.asideRecovered": "a file of inbound/ that was set aside is where the first scan finds it",
  "folder.scanned": "a folder has been scanned",
  "folder.settled": "files of a folder have settled",
  "folder.takingMade": "the folder in which copies grow is there",
  "folder.copied": "a settled file is copied",
  "folder.durable": "the copies of settled files are durable",
  "folder.setAside": "a file of inbound/ is set aside; its copy has not got its name",
  "folder.placed": "copies have their places in inbound/, not synced; their sources are still there",
  "folder.placesSynced": "copies are durable in inbound/, their sources are still there",
  "folder.sourceRemoved": "the source of a copy that is in inbound/ is removed",
  "folder.taken": "settled files are ready to be handed over",
  "folder.handed": "settled files are handed to the pipeline",
  "remote.fetching": "a temporary file for a file of a remote is there",
  "remote.fetched": "the bytes of a file of a remote are durable under a temporary name",
  "remote.noting": "files of a remote are fetched, not noted",
  "remote.noted": "files of a remote are noted as taken, not placed",
  "remote.placed": "files of a remote are in inbound/, not handed to the pipeline",
  "remote.entered": "files of a remote are in the ledger, and still on the remote",
  "remote.settled": "a file of a remote is removed or moved there, the note of it still there",
  "remote.forgotten": "the notes of files that were removed or moved are gone",
  "inbox.arriving": "the pipeline has been called with files",
  "ledger.entering": "files are in line, not in the ledger",
  "ledger.inserted": "a ledger entry is inserted, not committed",
  "ledger.entered": "the ledger entries are committed",
  "commit.unitBegun": "a unit of work is about to run in its savepoint",
  "commit.unitDone": "a unit of work has run, not committed",
  "commit.ready": "all units of a group have run, not committed",
  "commit.done": "a group is committed; nobody has been answered",
  "commit.answered": "a group is committed and answered",
  "prepare.begun": "a document is about to be read",
  "prepare.done": "a document has been read and validated",
  "decide.grouped": "files that are decided together are taken from the line",
  "decide.begun": "the decision about a file has begun",
  "decide.namesakes": "earlier files of the same name are looked up",
  "stop.lookedUp": "a stop is looked up",
  "stop.saved": "a stop is saved, not committed",
  "stop.cancelled": "a stop is cancelled, not committed",
  "event.recorded": "an event is recorded, not committed",
  "completion.inserted": "a stop is kept for a completion file, without deliveries, not committed",
  "delivery.inserted": "a delivery is put in the queue, not committed",
  "decide.verdict": "the verdict is known; changes of the stop are written, not committed",
  "decide.recorded": "the decision is in the ledger, not committed",
  "decide.receiptMade": "the content of the receipt is made, nothing is committed",
  "decide.committed": "the decisions of a group are committed",
  "decide.handingOver": "a decided file is about to be queued to be filed",
  "filing.sent": "decided files are about to be filed away",
  "file.begun": "the filing of one file has begun",
  "file.folderMade": "a day's folder is made, not synced",
  "file.folderReady": "the day's folder is there",
  "move.copied": "a file is copied to another file system, not synced",
  "move.copySynced": "the copy is durable under its temporary name",
  "move.copyLinked": "the copy has its final name and the temporary one",
  "move.copyUnlinked": "the copy has its final name alone; the source is there",
  "move.sourceRemoved": "the source of a copied file is removed",
  "file.secondLinkRemoved": "the second link to a file that lies in its place is removed",
  "file.moved": "the file lies in archive/ or error/; no receipt is written",
  "receipt.opened": "a receipt's temporary file is made or emptied",
  "receipt.written": "a receipt's temporary file is written",
  "receipt.renamed": "a receipt has its name",
  "receipt.allWritten": "all receipts of a file are written, stale ones removed",
  "file.folderSynced": "a folder that filing has touched is synced",
  "file.groupDone": "a group of files is filed; the ledger does not know",
  "filing.done": "the main thread knows that a group is filed; the ledger does not",
  "filed.located": "another place of a filed file is noted, not committed",
  "filed.marked": "files are marked as filed, not committed",
  "filing.noted": "files are marked as filed",
  "retry.requested": "an administrator's wish to try a file again is noted, not committed",
  "retry.accepted": "a file to be tried again is waiting, not committed",
  "retry.inLine": "a file to be tried again is in line",
  "delivery.looked": "the queue has looked for what is due",
  "delivery.taken": "a delivery is about to be rendered",
  "delivery.rendered": "the files of a delivery are rendered, nothing is sent",
  "delivery.writing": "a file for a folder is there under a temporary name, not synced",
  "delivery.written": "a file for a folder is durable under a temporary name",
  "delivery.linked": "a file for a folder has its final name and the temporary one",
  "delivery.unlinked": "a file for a folder has its final name alone; the folder is not synced",
  "delivery.placed":
    "the files of a group are durable in a company's own folder; their outcomes are not told",
  "delivery.sent": "an attempt is over; its outcome is not recorded",
  "delivery.recorded": "the outcome of an attempt is recorded, not committed",
  "delivery.promoted": "the delivery behind one that is done is waiting, not committed",
  "delivery.done": "the outcomes of attempts are committed",
  "delivery.retried": "a dead delivery that was asked for again is in line, not committed",
  "delivery.pruned": "old deliveries are removed, not committed",
  "stop.pipeline": "the pipeline is told to stop",
  "stop.lanes": "nothing is decided any more",
  "stop.filing": "what was decided is filed",
  "stop.store": "all units of work are committed; the database is about to be closed",
} as const;

export type KillPoint = keyof typeof killPoints;

interface ArmedPoint {
  readonly name: string;
  readonly nth: number;
}

function armedBy(value: string | undefined): ArmedPoint | undefined {
  if (value === undefined || value === "") return undefined;
  const [name = "", nth = "1"] = value.split(":");
  if (!Object.hasOwn(killPoints, name) || !/^[1-9]\d{0,8}$/.test(nth)) {
    throw new Error(
      `DROPGATE_KILL_POINT=${value}: expected <name>[:<nth pass>] with a name of kill-point.ts`,
    );
  }
  return { name, nth: Number(nth) };
}

/** Read once, at the start of the process or thread: what is not armed then costs nothing later. */
const armed = armedBy(process.env["DROPGATE_KILL_POINT"]);
let passes = 0;

/** Ends the process when this is the armed pass of the armed point. */
export function killPoint(name: KillPoint): void {
  if (armed === undefined || armed.name !== name) return;
  passes += 1;
  if (passes === armed.nth) process.kill(process.pid, "SIGKILL");
}
