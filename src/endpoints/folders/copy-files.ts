/**
 * Copies settled files to where nobody else can write: whoever left a file in a folder may still hold it open, or have
 * another link to it, and what the pipeline decides on must not change. Runs in a thread, one call after the other.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { documentEndBytes, endsWithRoot, lettersOf } from "../../domain/documents/document-end.ts";
import { copyMode } from "../../inbound/places/copy-mode.ts";
import { systemCodeOf } from "../../lib/errors.ts";
import { isSameState, type FileState, fileStateOf } from "./candidates.ts";
import { makeFolderUnlessThere, type SystemFault, systemFaultOf, type TakeCalls } from "./take-calls.ts";

export interface FileToCopy {
  /** Relative to the folder. */
  readonly name: string;
  readonly state: FileState;
  /** The name of the copy in `taking`. */
  readonly copy: string;
  /** When the file came, whole milliseconds UTC: the copy says so too. Undefined: now. */
  readonly cameAtMs: number | undefined;
}

export interface CopyRequest {
  readonly directory: string;
  /** The folder in which copies grow; made when it is missing. */
  readonly taking: string;
  /** Whether each copy is synced by itself. */
  readonly isSynced: boolean;
  readonly files: readonly FileToCopy[];
}

export type CopyOutcome =
  /** `hasEnd`: it ends with the end tag of its root. */
  | { readonly kind: "copied"; readonly hasEnd: boolean }
  /** The file has changed since it settled; there is no copy. */
  | { readonly kind: "changed" }
  | { readonly kind: "failed"; readonly fault: SystemFault };

const sourceFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const targetFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** Most files fit into it. */
const buffer = Buffer.allocUnsafeSlow(256 * 1024);

/** The first and the last bytes of a file, by which `endsWithRoot` sees whether it is whole. */
interface Ends {
  begin: string;
  end: string;
}

function writeAll(calls: TakeCalls, fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.byteLength; ) done += calls.write(fd, bytes.subarray(done));
}

/** Copies to the end of the source; gives the number of bytes. */
function copyBytes(calls: TakeCalls, from: number, to: number, ends: Ends): number {
  let last = Buffer.alloc(0);
  let size = 0;
  for (let count = calls.read(from, buffer); count > 0; count = calls.read(from, buffer)) {
    const bytes = buffer.subarray(0, count);
    writeAll(calls, to, bytes);
    if (size === 0) ends.begin = lettersOf(bytes.subarray(0, documentEndBytes));
    last = Buffer.concat([last, bytes.subarray(-documentEndBytes)]).subarray(-documentEndBytes);
    size += count;
  }
  ends.end = lettersOf(last);
  return size;
}

function copyOpen(calls: TakeCalls, source: number, file: FileToCopy, request: CopyRequest): CopyOutcome {
  const to = join(request.taking, file.copy);
  const ends: Ends = { begin: "", end: "" };
  let isSame = false;
  const target = calls.open(to, targetFlags, copyMode);
  try {
    const size = copyBytes(calls, source, target, ends);
    isSame = size === file.state.size && isSameState(fileStateOf(calls.fstat(source)), file.state);
    if (isSame && file.cameAtMs !== undefined) calls.futimes(target, file.cameAtMs);
    if (isSame && request.isSynced) calls.fsync(target);
  } finally {
    calls.close(target);
    if (!isSame) calls.unlink(to);
  }
  return isSame ? { kind: "copied", hasEnd: endsWithRoot(ends.begin, ends.end) } : { kind: "changed" };
}

function copyOne(calls: TakeCalls, file: FileToCopy, request: CopyRequest): CopyOutcome {
  let source: number | undefined;
  try {
    source = calls.open(join(request.directory, file.name), sourceFlags);
    const stats = calls.fstat(source);
    if (!stats.isFile() || !isSameState(fileStateOf(stats), file.state)) return { kind: "changed" };
    return copyOpen(calls, source, file, request);
  } catch (error) {
    // A link, a FIFO without a reader: it is another entry now.
    if (["ELOOP", "ENXIO", "ENODEV"].includes(systemCodeOf(error) ?? "")) return { kind: "changed" };
    return { kind: "failed", fault: systemFaultOf(error) };
  } finally {
    if (source !== undefined) calls.close(source);
  }
}

/** Copies the files; outcomes are in their order. Throws when it cannot make `taking`. */
export function copyFiles(calls: TakeCalls, request: CopyRequest): CopyOutcome[] {
  makeFolderUnlessThere(calls, request.taking);
  return request.files.map((file) => copyOne(calls, file, request));
}
