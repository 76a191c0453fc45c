/** Hashes the file at a path, in bounded memory and without blocking the event loop. */
import { createHash, hash } from "node:crypto";
import { systemDisk } from "../../lib/files/durable-file.ts";
import { isMissing, systemCodeOf } from "../../lib/errors.ts";
import { openRegularFile } from "../../lib/files/open-regular-file.ts";

export type BytesAt =
  | { readonly kind: "file"; readonly sha256: string; readonly size: number; readonly inode: string }
  | { readonly kind: "absent" }
  /** A link, folder, FIFO or device. */
  | { readonly kind: "special" }
  | { readonly kind: "unreadable"; readonly systemCode: string };

async function hashOpen(fd: number, size: number, buffer: Buffer, signal?: AbortSignal): Promise<string> {
  const first = await systemDisk.read(fd, buffer, 0);
  if (first >= size && first < buffer.length) return hash("sha256", buffer.subarray(0, first), "hex");
  const digest = createHash("sha256").update(buffer.subarray(0, first));
  for (let at = first, count = first; count > 0; at += count) {
    signal?.throwIfAborted();
    count = await systemDisk.read(fd, buffer, at);
    digest.update(buffer.subarray(0, count));
  }
  return digest.digest("hex");
}

/** What lies at the path. `buffer` is used for reading and must not be shared between calls that run at once. */
export async function hashBytesAt(path: string, buffer: Buffer, signal?: AbortSignal): Promise<BytesAt> {
  try {
    const file = await openRegularFile(path);
    if (file === undefined) return { kind: "special" };
    try {
      const { size, dev, ino } = file.stats;
      const sha256 = await hashOpen(file.fd, size, buffer, signal);
      return { kind: "file", sha256, size, inode: `${dev}:${ino}` };
    } finally {
      await systemDisk.close(file.fd);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (isMissing(error)) return { kind: "absent" };
    const systemCode = systemCodeOf(error);
    if (systemCode === undefined) throw error;
    return { kind: "unreadable", systemCode };
  }
}
