/**
 * Writes a file to an SFTP server through the protocol's own requests. The library's write stream asks for mode 0666 and
 * sets it again with FSETSTAT, past the umask of the server: every delivered file would be writable for everybody.
 */
import ssh2, { type SFTPWrapper } from "ssh2";

/** What every server takes in one request. */
const pieceSize = 32 * 1024;
/** Requests under way: enough to fill a slow line, and little to hold for one that stands still. */
const piecesAtOnce = 16;

const { OPEN_MODE } = ssh2.utils.sftp;
const createFlags = OPEN_MODE.WRITE | OPEN_MODE.CREAT | OPEN_MODE.TRUNC;

/** Without attributes: the server gives the file the mode that its own umask leaves of a new file. */
function open(raw: SFTPWrapper, path: string): Promise<Buffer> {
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
  const handle = await open(raw, path);
  try {
    await writeAll(raw, handle, bytes);
  } catch (error) {
    await close(raw, handle).catch(() => undefined); // the fault of the write is what matters
    throw error;
  }
  await close(raw, handle);
}
