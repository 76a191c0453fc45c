/** The thread of `folder-thread.ts`. */
import { serveJson } from "../../lib/threads/hosted-worker.ts";
import { threadDisk } from "./folder-disk.ts";
import type { GroupRequest } from "./folder-thread.ts";
import { placeGroup } from "./place-group.ts";

serveJson(({ folder, files }: GroupRequest, bytes) => {
  let at = 0;
  const withBytes = files.map(({ name, temporaryName, size }) => {
    at += size;
    return { name, temporaryName, bytes: bytes.subarray(at - size, at) };
  });
  return placeGroup(threadDisk, folder, withBytes);
});
