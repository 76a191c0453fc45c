/**
 * Listings and uploads by the requests of the protocol itself. The library's own listing would keep a million names in
 * memory; its write stream asks for mode 0666 and sets it again with FSETSTAT, past the umask of the server: every delivered
 * file would be writable for everybody.
 */
import ssh2, { type FileEntryWithStats, type SFTPWrapper } from "ssh2";
import type { ListedEntry, TakeEntries } from "./remote-session.ts";
import { codeOf, sftpStatus } from "./sftp-faults.ts";

const kindBits = 0o170000;
const kindsByMode: ReadonlyMap<number, ListedEntry["kind"]> = new Map([
  [0o100000, "file"],
  [0o040000, "folder"],
  [0o120000, "link"],
]);

/** Servers need not send the mode; then the first letter of the line for people says it. */
function kindOf({ attrs, longname }: FileEntryWithStats): ListedEntry["kind"] {
  const mode: number | undefined = attrs.mode;
  if (mode !== undefined && (mode & kindBits) !== 0) return kindsByMode.get(mode & kindBits) ?? "other";
  if (longname.startsWith("d")) return "folder";
  return longname.startsWith("l") ? "link" : "file";
}

function entryOf(entry: FileEntryWithStats): ListedEntry {
  const { size, mtime }: { size?: number; mtime?: number } = entry.attrs;
  return { name: entry.filename, kind: kindOf(entry), size: size ?? -1, modified: String(mtime ?? "") };
}

function openFolder(raw: SFTPWrapper, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    raw.opendir(path, (error, handle) => (error ? reject(error) : resolve(handle)));
  });
}

/** Undefined at the end. */
function readPortion(raw: SFTPWrapper, handle: Buffer): Promise<FileEntryWithStats[] | undefined> {
  return new Promise((resolve, reject) => {
    raw.readdir(handle, (error, list) => {
      if (error && codeOf(error) !== sftpStatus.endOfFile) reject(error);
      else resolve(error || !Array.isArray(list) ? undefined : list);
    });
  });
}

/** True when all entries were taken. Rejects with what the library gives. */
export async function listSftpFolder(raw: SFTPWrapper, path: string, take: TakeEntries): Promise<boolean> {
  const handle = await openFolder(raw, path);
  try {
    for (;;) {
      const portion = await readPortion(raw, handle);
      if (portion === undefined) return true;
      const entries = portion.map(entryOf).filter(({ name }) => name !== "." && name !== "..");
      if (!(await take(entries))) return false;
    }
  } finally {
    raw.close(handle, () => undefined); // nothing depends on it: the server closes it with the connection
  }
}

/** What every server takes in one request. */
const pieceSize = 32 * 1024;
/** Requests under way: enough to fill a slow line, and little to hold for one that stands still. */
const piecesAtOnce = 16;

const { OPEN_MODE } = ssh2.utils.sftp;
const createFlags = OPEN_MODE.WRITE | OPEN_MODE.CREAT | OPEN_MODE.TRUNC;

/** Without attributes: the server gives the file the mode that its own umask leaves of a new file. */
function openFile(raw: SFTPWrapper, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    raw.open(path, createFlags, (error, handle) => (error ? reject(error) : resolve(handle)));
  });
}

function close(raw: SFTPWrapper, handle: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    raw.close(handle, (error) => (error ? reject(error) : resolve()));
  });
}

function writePiece(raw: SFTPWrapper, handle: Buffer, bytes: Buffer, at: number): Promise<void> {
  const length = Math.min(pieceSize, bytes.byteLength - at);
  return new Promise((resolve, reject) => {
    raw.write(handle, bytes, at, length, at, (error) => (error ? reject(error) : resolve()));
  });
}

async function writeAll(raw: SFTPWrapper, handle: Buffer, bytes: Buffer): Promise<void> {
  let next = 0;
  let hasFailed = false;
  const writeInTurn = async () => {
    try {
      while (next < bytes.byteLength && !hasFailed) {
        const at = next;
        next += pieceSize;
        await writePiece(raw, handle, bytes, at);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  };
  const endings = await Promise.allSettled(Array.from({ length: piecesAtOnce }, writeInTurn));
  const failed = endings.find((ending) => ending.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Writes or overwrites the file. Rejects with what the library gives; nothing is under way any more then. */
export async function uploadSftpFile(raw: SFTPWrapper, path: string, bytes: Buffer): Promise<void> {
  const handle = await openFile(raw, path);
  try {
    await writeAll(raw, handle, bytes);
  } catch (error) {
    await close(raw, handle).catch(() => undefined); // the fault of the write is what matters
    throw error;
  }
  await close(raw, handle);
}
