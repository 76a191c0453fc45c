/** A folder of an SFTP server in portions: the library's own listing would keep a million names in memory. */
import type { FileEntryWithStats, SFTPWrapper } from "ssh2";
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

function open(raw: SFTPWrapper, path: string): Promise<Buffer> {
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
  const handle = await open(raw, path);
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
