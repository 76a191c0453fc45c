/**
 * Gives durable copies their places in `inbound/`, and removes the sources. Runs in the thread of the copies.
 *
 *   further folder   copy linked to its place ──> folder synced ──> source removed, when it is still what was copied
 *   `inbound/`       source set aside ──> copy linked to its name ──> folder synced ──> source removed ──> copy's old name
 *                   removed
 *
 * A copy whose name is taken gets one in `.again`; nothing is ever overwritten. When the source has changed, or cannot be
 * removed, the copy is removed again: a folder in which we may not delete would feed the same file for ever.
 *
 * What survives a crash. Of a further folder: before the place only a copy, which the next start removes; after it both
 * files: the next start recovers and applies the one in `inbound/`, takes the other again and answers it as a duplicate.
 * Of `inbound/`: a sweep gives the copy of a source that was set aside its place, unless it has one. It sees that by the
 * second name of the copy, which goes last (`sweep-copies.ts`). The next start sweeps, and the next scan after a fault.
 *
 * Where several nodes share the tree, a node may stand still amid a call while another one takes over its company. What it
 * does when it goes on: nothing more after `until`, but to put back what it had set aside. One call may still be made. A
 * link of a copy fails, because whoever takes over has renamed the copies first; no name is removed that has another file.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { isLinkForbidden, systemCodeOf } from "../../lib/errors.ts";
import { monotonicMs } from "../../lib/clock.ts";
import { isSameState, type FileState, fileStateOf } from "./candidates.ts";
import { makeFolderUnlessThere, type SystemFault, systemFaultOf, type TakeCalls } from "./take-calls.ts";

export interface FileToPlace {
  /** Relative to the folder. */
  readonly name: string;
  readonly state: FileState;
  /** Absolute path of the copy, or of the source itself when it needs none. */
  readonly from: string;
  /** The name in `.again` when its own is taken, and of the source while it is set aside; it begins with the copy's mark. */
  readonly againName: string;
  /** Files of one stop are in their order: when one of them gets no place, the later ones get none. */
  readonly stop: string | undefined;
}

export interface PlaceRequest {
  readonly directory: string;
  /** Paths of the folders for system calls. */
  readonly inbound: string;
  readonly again: string;
  /** Where sources of `inbound/` itself are set aside; undefined for a further folder. */
  readonly aside: string | undefined;
  /** When another node may take the files, by `monotonicMs`; undefined: never. */
  readonly until?: number | undefined;
  readonly files: readonly FileToPlace[];
}

export type PlaceOutcome =
  | { readonly kind: "placed"; readonly isAgain: boolean }
  /** The source has changed since it was copied: it has to settle again. */
  | { readonly kind: "changed" }
  /** It was replaced twice meanwhile: the file in between lies in `.again`. */
  | { readonly kind: "displaced" }
  /** It could not have its name back, and lies in `.again`, where it has to settle. */
  | { readonly kind: "again" }
  /** The time was over in between, or a call failed: source and copy lie where a sweep looks for them. */
  | { readonly kind: "late"; readonly fault?: SystemFault }
  /** An earlier file of its stop got no place. */
  | { readonly kind: "behind" }
  | { readonly kind: "failed"; readonly fault: SystemFault };

interface Placed {
  readonly file: FileToPlace;
  /** Where the copy is. */
  readonly path: string;
  readonly source: string;
  readonly isAgain: boolean;
  /** Of the copy; undefined where nobody else could put another file in its place. */
  readonly inode: number | undefined;
}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Whether the file is gone. Not `isMissing`: ENOTDIR says that `.again`, `.aside` or the folder itself is no folder, which
 * is a fault to report. Taken for a file that is gone, it would have the scan try again for ever without a word.
 */
function isGone(error: unknown): boolean {
  return systemCodeOf(error) === "ENOENT";
}

function unlinkIfThere(calls: TakeCalls, path: string): void {
  try {
    calls.unlink(path);
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** False when the name is taken. */
function linkUnlessThere(calls: TakeCalls, from: string, to: string): boolean {
  try {
    calls.link(from, to);
    return true;
  } catch (error) {
    if (systemCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** "refused" when no link is permitted. */
function linkBack(calls: TakeCalls, from: string, to: string): "back" | "displaced" | "refused" {
  try {
    return linkUnlessThere(calls, from, to) ? "back" : "displaced";
  } catch (error) {
    if (!isLinkForbidden(error)) throw error;
    return "refused";
  }
}

class Placing {
  readonly #calls: TakeCalls;
  readonly #request: PlaceRequest;

  constructor(calls: TakeCalls, request: PlaceRequest) {
    this.#calls = calls;
    this.#request = request;
  }

  run(): PlaceOutcome[] {
    if (this.#request.aside !== undefined) makeFolderUnlessThere(this.#calls, this.#request.aside);
    const attempts = this.#request.files.map((file) => this.#attemptInTime(file));
    this.#sync(attempts.filter((attempt): attempt is Placed => "file" in attempt));
    const notPlaced = new Set<string>();
    return attempts.map((attempt, index) => {
      const stop = this.#request.files[index]?.stop;
      const outcome = this.#end(attempt, stop !== undefined && notPlaced.has(stop));
      if (outcome.kind !== "placed" && stop !== undefined) notPlaced.add(stop);
      return outcome;
    });
  }

  /** Whether the files are another node's. */
  #isLate(): boolean {
    const { until } = this.#request;
    return until !== undefined && monotonicMs() >= until;
  }

  #attemptInTime(file: FileToPlace): Placed | PlaceOutcome {
    return this.#isLate() ? { kind: "changed" } : this.#attempt(file);
  }

  #attempt(file: FileToPlace): Placed | PlaceOutcome {
    const source = join(this.#request.directory, file.name);
    try {
      const { aside } = this.#request;
      return aside === undefined ? this.#place(file, source) : this.#exchange(file, source, aside);
    } catch (error) {
      if (file.from !== source) unlinkIfThere(this.#calls, file.from);
      return isGone(error) ? { kind: "changed" } : { kind: "failed", fault: systemFaultOf(error) };
    }
  }

  /** Gives the copy its name, or one in `.again`. Its old name goes, unless a start needs it to find the copy. */
  #place(file: FileToPlace, source: string): Placed {
    const { inbound, again } = this.#request;
    const [own, other] = [`${inbound}/${file.name}`, `${again}/${file.againName}`];
    const inode = this.#request.until === undefined ? undefined : this.#calls.lstat(file.from).ino;
    const isAgain = !linkUnlessThere(this.#calls, file.from, own);
    if (isAgain) this.#calls.link(file.from, other);
    const isCopy = file.from !== join(this.#request.directory, file.name);
    if (isCopy && this.#request.aside === undefined) this.#calls.unlink(file.from);
    return { file, path: isAgain ? other : own, source, isAgain, inode };
  }

  /** Nothing depends on this name any more: when the call fails, the next start removes the file. */
  #removeCopyName({ from }: FileToPlace): void {
    if (this.#request.aside === undefined) return;
    try {
      this.#calls.unlink(from);
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
    }
  }

  /** Sets the source aside by one rename, so that a file renamed onto its name meanwhile is not lost. */
  #exchange(file: FileToPlace, source: string, aside: string): Placed | PlaceOutcome {
    const path = `${aside}/${file.againName}`;
    this.#calls.rename(source, path);
    try {
      if (isSameState(fileStateOf(this.#calls.lstat(path)), file.state)) return this.#place(file, path);
    } catch (error) {
      const ended = this.#putBack({ file, path, source }, { kind: "changed" });
      if (ended.kind === "changed") throw error;
      return ended;
    }
    return this.#putBack({ file, path, source }, { kind: "changed" });
  }

  /** Gives what lies aside, at `path`, its name back, and gives `outcome` then; else it goes to `.again`. The copy is removed. */
  #putBack({ file, path, source }: Omit<Placed, "isAgain" | "inode">, outcome: PlaceOutcome): PlaceOutcome {
    try {
      const linked = linkBack(this.#calls, path, source);
      if (linked === "back") this.#calls.unlink(path);
      else this.#calls.rename(path, `${this.#request.again}/${file.againName}`);
      this.#removeCopyName(file);
      if (linked === "back") return outcome;
      // Handed over, one that is behind would come before the earlier file of its stop.
      return { kind: linked === "displaced" && outcome.kind !== "behind" ? "displaced" : "again" };
    } catch (error) {
      if (systemCodeOf(error) === undefined) throw error;
      return { kind: "late", fault: systemFaultOf(error) };
    }
  }

  #sync(placed: readonly Placed[]): void {
    try {
      if (placed.length > 0) this.#syncFolder(this.#request.inbound);
      if (placed.some(({ isAgain }) => isAgain)) this.#syncFolder(this.#request.again);
    } catch (error) {
      for (const one of placed) this.#takeBack(one, { kind: "changed" });
      throw error;
    }
  }

  #syncFolder(path: string): void {
    const fd = this.#calls.open(path, folderFlags);
    try {
      this.#calls.fsync(fd);
    } finally {
      this.#calls.close(fd);
    }
  }

  /** Gives `outcome`, or what became of a source that could not have its name back. */
  #takeBack({ file, path, source, inode }: Placed, outcome: PlaceOutcome): PlaceOutcome {
    if (this.#isLate()) return { kind: "late" };
    if (inode === undefined || this.#inodeAt(path) === inode) unlinkIfThere(this.#calls, path);
    if (this.#request.aside === undefined) return outcome;
    return this.#putBack({ file, path: source, source: join(this.#request.directory, file.name) }, outcome);
  }

  #inodeAt(path: string): number | undefined {
    try {
      return this.#calls.lstat(path).ino;
    } catch (error) {
      if (!isGone(error)) throw error;
      return undefined;
    }
  }

  #end(attempt: Placed | PlaceOutcome, isBehind: boolean): PlaceOutcome {
    if (!("file" in attempt)) return attempt;
    if (this.#isLate()) return { kind: "late" };
    if (!isBehind) return this.#removeSource(attempt);
    return this.#takeBack(attempt, { kind: "behind" });
  }

  #removeSource(placed: Placed): PlaceOutcome {
    const { source, file, isAgain } = placed;
    try {
      if (!isSameState(fileStateOf(this.#calls.lstat(source)), file.state))
        return this.#takeBack(placed, { kind: "changed" });
      this.#calls.unlink(source);
    } catch (error) {
      // The copy is durable: when somebody has removed the source since, the file has arrived.
      if (!isGone(error)) return this.#takeBack(placed, { kind: "failed", fault: systemFaultOf(error) });
    }
    this.#removeCopyName(file);
    return { kind: "placed", isAgain };
  }
}

/** Outcomes are in the order of the files. Throws when it cannot sync the folders; then no file has its place. */
export function placeFiles(calls: TakeCalls, request: PlaceRequest): PlaceOutcome[] {
  return new Placing(calls, request).run();
}
