/** By which of its attributes a receipt says which ledger entry it answers: at its begin, before anything a host has sent. */
import type { DiskCalls } from "../../lib/files/durable-file.ts";
import { openRegularFile, type PinnedFolder } from "../../lib/files/open-regular-file.ts";

/** Bytes at the begin of a receipt in which its reference stands. */
export const receiptHeadBytes = 512;

/** The reference in the first bytes of a receipt; undefined when they are those of no receipt, or of one without it. */
export function referenceIn(head: Uint8Array): string | undefined {
  return /<StopResponse [^<>]*\bLedger="([^"<>]+)"/.exec(Buffer.from(head).toString("latin1"))?.[1];
}

/** Reads the first bytes of an open file, or all of a shorter one. */
export async function readHead(disk: DiskCalls, fd: number): Promise<Uint8Array> {
  const head = Buffer.alloc(receiptHeadBytes);
  return head.subarray(0, await disk.read(fd, head, 0));
}

/** The reference in the file of that name; undefined when there is no such receipt. */
export async function referenceOfReceipt(
  disk: DiskCalls,
  folder: PinnedFolder,
  name: string,
): Promise<string | undefined> {
  const file = await openRegularFile(folder.child(name), undefined, disk);
  if (file === undefined) return undefined;
  try {
    return referenceIn(await readHead(disk, file.fd));
  } finally {
    await disk.close(file.fd);
  }
}
