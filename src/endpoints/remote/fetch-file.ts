/**
 * Fetches one file from a server:
 *
 *   download piece by piece, never more than was listed ──> sync ──> check: the server still shows the size and times from
 *   before the download
 *
 * A crash leaves a file under a name that no other run uses; the next start removes it.
 */
import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { isSameRemoteVersion } from "../../domain/files/remote-version.ts";
import { append, open, syncFile, unlink } from "../../lib/files/changes.ts";
import { messageOf, unlessMissing } from "../../lib/errors.ts";
import type { RemoteEntry, RemoteSession } from "../../remote/remote-session.ts";
import type { CallOutcome, FetchedFile, RemoteFile } from "./fetch-messages.ts";

class LongerError extends Error {}
class OwnFault extends Error {}

/** Whether it is still the file that was listed, as far as the server shows. */
function isStill(entry: RemoteEntry | undefined, file: RemoteFile): boolean {
  if (entry === undefined || !entry.isFile) return false;
  const { size = file.size, modified = file.modified } = entry;
  return isSameRemoteVersion({ size, modified }, file);
}

/** Whether it is the very file that was fetched; `changedAt` is for servers that show no time otherwise. */
export async function isUntouched(session: RemoteSession, file: FetchedFile): Promise<boolean> {
  if (!isStill(await session.look(file.name), file)) return false;
  return (await session.changedAt(file.name)) === file.changedAt;
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, "wx", 0o640);
  } catch (error) {
    throw new OwnFault(messageOf(error));
  }
}

interface Received {
  size: number;
  readonly hash: ReturnType<typeof createHash>;
  /** The fault of our own that ended the download: the session wraps it in an error of its own. */
  fault: Error | undefined;
}

function writerOf(handle: FileHandle, file: RemoteFile, received: Received) {
  return async (piece: Uint8Array): Promise<void> => {
    try {
      received.size += piece.byteLength;
      if (received.size > file.size) throw new LongerError();
      received.hash.update(piece);
      await append(handle, piece);
    } catch (error) {
      received.fault = error instanceof LongerError ? error : new OwnFault(messageOf(error));
      throw received.fault;
    }
  };
}

async function download(session: RemoteSession, file: RemoteFile, handle: FileHandle): Promise<Received> {
  const received: Received = { size: 0, hash: createHash("sha256"), fault: undefined };
  try {
    await session.download(file.name, writerOf(handle, file, received));
  } catch (error) {
    throw received.fault ?? error;
  }
  try {
    await syncFile(handle);
  } catch (error) {
    throw new OwnFault(messageOf(error));
  }
  return received;
}

async function fetchInto(session: RemoteSession, file: RemoteFile, handle: FileHandle): Promise<CallOutcome> {
  const changedAt = await session.changedAt(file.name);
  const { size, hash } = await download(session, file, handle);
  if (size !== file.size) return { kind: "changed", why: `${size} bytes came, and ${file.size} were listed` };
  if (!(await isUntouched(session, { ...file, changedAt })))
    return { kind: "changed", why: "it was changed meanwhile" };
  return { kind: "fetched", sha256: hash.digest("hex"), changedAt };
}

/** Fetches a file to `path`; leaves nothing there unless it succeeds. Rejects with a fault of the session. */
export async function fetchFile(
  session: RemoteSession,
  file: RemoteFile,
  path: string,
): Promise<CallOutcome> {
  let outcome: CallOutcome | undefined;
  try {
    const handle = await openNew(path);
    try {
      outcome = await fetchInto(session, file, handle);
    } finally {
      await handle.close();
    }
    return outcome;
  } catch (error) {
    if (error instanceof LongerError)
      return { kind: "changed", why: `more than the ${file.size} bytes came that were listed` };
    if (error instanceof OwnFault) return { kind: "ownFault", message: error.message };
    throw error;
  } finally {
    if (outcome?.kind !== "fetched") await unlink(path).catch(unlessMissing);
  }
}
