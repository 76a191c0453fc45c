/**
 * The thread that places files of deliveries in the companies' own folders: one for all of them, because they lie on one
 * disk, which is ours. Folders anywhere else are none of its business: a share whose server is gone would keep it for ever.
 */
import { JsonThread } from "../../lib/threads/json-thread.ts";
import type { GroupOutcome } from "./place-group.ts";
import type { FileToPlace } from "./place-files.ts";

export interface GroupRequest {
  readonly folder: string;
  /** Their bytes come beside it, one after the other. */
  readonly files: readonly (Omit<FileToPlace, "bytes"> & { readonly size: number })[];
}

export interface FolderThread {
  /** Outcomes in the order of the files. Rejects when the thread dies. */
  place(folder: string, files: readonly FileToPlace[]): Promise<readonly GroupOutcome[]>;
  close(): Promise<void>;
}

/** Where nothing is delivered, nobody needs it. */
const idleMs = 30_000;

/** The thread is there from the first group on. */
export function createFolderThread(): FolderThread {
  const thread = new JsonThread<GroupRequest, readonly GroupOutcome[]>({
    ...{ module: "./folder-worker", base: import.meta.url, name: "delivering", idleMs },
  });
  return {
    place(folder, files) {
      const named = files.map(({ name, temporaryName, bytes }) => ({
        ...{ name, temporaryName, size: bytes.byteLength },
      }));
      return thread.run({ folder, files: named }, joined(files));
    },
    close: () => thread.close(),
  };
}

/** Copies, in memory of their own, which can be given away. */
function joined(files: readonly FileToPlace[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(files.reduce((size, { bytes }) => size + bytes.byteLength, 0));
  let at = 0;
  for (const { bytes } of files) {
    all.set(bytes, at);
    at += bytes.byteLength;
  }
  return all;
}
