/**
 * Files on a server by the one rule that all protocols share:
 *
 *   check    the name is free, or has our bytes already (delivered), or others (taken)
 *   upload   under the temporary name, which is the same at every attempt, so that a part of an earlier one is overwritten
 *   check    the size is right, the name still free
 *   rename   delivered
 *
 * A link that breaks leaves a temporary file at most; the next attempt overwrites it, or the next job removes it.
 */
import { TransferFault } from "../../remote/transfer-fault.ts";
import type { RemoteEntry, RemoteSession } from "../../remote/remote-session.ts";
import type { UploadFile, UploadStep } from "./upload-messages.ts";

/** Files up to this size are read back to compare them; of larger ones the size has to do. */
const maxReadBackBytes = 1024 * 1024;

type Placed = "placed" | "taken";

async function hasBytes(session: RemoteSession, name: string, entry: RemoteEntry, bytes: Uint8Array) {
  if (!entry.isFile) return false;
  if (entry.size !== undefined && entry.size !== bytes.byteLength) return false;
  if (entry.size !== undefined && bytes.byteLength > maxReadBackBytes) return true;
  const there = await session.read(name, bytes.byteLength);
  // A box that may only be written to: the name holds the stop and the second, so the size has to do.
  if (there === undefined) return entry.size !== undefined;
  return Buffer.compare(there, bytes) === 0;
}

async function lookFor(session: RemoteSession, name: string, bytes: Uint8Array): Promise<Placed | undefined> {
  const entry = await session.look(name);
  if (entry === undefined) return undefined;
  return (await hasBytes(session, name, entry, bytes)) ? "placed" : "taken";
}

async function uploadAndRename(
  session: RemoteSession,
  { name, temporaryName }: UploadFile,
  { bytes, step }: { bytes: Uint8Array; step: (step: UploadStep) => void },
): Promise<Placed> {
  step("uploading");
  await session.upload(temporaryName, bytes);
  const size = (await session.look(temporaryName))?.size;
  if (size !== undefined && size !== bytes.byteLength) {
    // Libraries have been seen to resolve although a write was refused.
    if (await session.isFull()) throw new TransferFault("noSpace", "The server's disk has no space left.");
    const words = `${temporaryName} has ${size} bytes there, and ${bytes.byteLength} were sent`;
    throw new TransferFault("protocol", `${words}; the server may be out of space, or changes what is sent.`);
  }
  step("renaming");
  const found = await lookFor(session, name, bytes);
  if (found !== undefined) {
    await session.remove(temporaryName);
    return found;
  }
  await session.rename(temporaryName, name);
  return "placed";
}

/** Places one file. Rejects with a `TransferFault`, and leaves no temporary file behind while the connection lives. */
export async function uploadFile(
  session: RemoteSession,
  file: UploadFile,
  context: { bytes: Uint8Array; step: (step: UploadStep) => void },
): Promise<Placed> {
  const { bytes } = context;
  const found = await lookFor(session, file.name, bytes);
  if (found !== undefined) return found;
  try {
    return await uploadAndRename(session, file, context);
  } catch (error) {
    if (!session.isOpen) throw error;
    // The fault is what matters; where the temporary file cannot be removed, the next attempt overwrites it.
    await session.remove(file.temporaryName).catch(() => undefined);
    // Another file has taken the name between the check and the rename, or an answer was lost.
    const now = await lookFor(session, file.name, bytes).catch(() => undefined);
    if (now !== undefined) return now;
    throw error;
  }
}
