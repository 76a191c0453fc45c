/**
 * Takes what has settled in one look: all of it together, so that the order of the pipeline holds over it.
 *
 *   settled ──copied to `.taking`──> whole? ──durable──> placed in `inbound/` or its `.again` ──> source removed
 *                                      └── no: the copy is thrown away, and the file stays with its writer
 *
 * Also what lies in the company's own `inbound/` is replaced by its copy: whoever left it there can write to it. What lies in
 * `.again` is a copy already, or an upload. A file over the limit is not copied, because it is refused by its size.
 */
import { constants } from "node:fs";
import { basename, join } from "node:path";
import type { Arrival } from "../../inbound/places/inbox.ts";
import {
  againFolderName,
  asideFolderName,
  nameOfAgainFile,
  newAgainName,
  newMark,
} from "../../inbound/places/place-arrival.ts";
import { mkdir } from "../../lib/files/changes.ts";
import { mapAtOnce } from "../../lib/files/at-once.ts";
import { isMissing, messageOf, unlessMissing } from "../../lib/errors.ts";
import { type PinnedFolder, pinChild, pinFolder } from "../../lib/files/open-regular-file.ts";
import type { SettledFile } from "./candidates.ts";
import type { CopyOutcome } from "./copy-files.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import type { FileToPlace, PlaceOutcome } from "./place-files.ts";
import { placeInLine, type StayingFiles } from "./staying-files.ts";
import { copyName, takingFolderName } from "./sweep-copies.ts";
import { copyIn, errorOf, placeIn, type TakeThread } from "./take-thread.ts";

export interface TakerDeps
  extends Pick<
    FolderDeps,
    "inbox" | "disk" | "log" | "runId" | "clock" | "settings" | "isIncomplete" | "syncCopies"
  > {
  readonly thread: TakeThread;
  readonly staying: StayingFiles;
}

export interface Settled {
  readonly folder: WatchedFolder;
  /** The real path of the folder. */
  readonly at: string;
  /** Those of one stop in their order. */
  readonly files: readonly SettledFile[];
  readonly isStopped: () => boolean;
}

export interface TakenFiles {
  readonly arrivals: readonly Arrival[];
  /** Names of the sources that are gone. */
  readonly removed: readonly string[];
  /** To be looked at again from the beginning. */
  readonly changed: readonly string[];
  /** To be looked at again when they have settled once more: they wait for an earlier file of their stop. */
  readonly behind: readonly SettledFile[];
}

interface Copied {
  readonly file: SettledFile;
  /** Absolute path of the copy; the source itself when it is not to be copied. */
  readonly from: string;
  /** The copy is called so, and the source while it is set aside. */
  readonly mark: string;
}

/** Files of one message to the thread: other folders have their turn in between. */
const filesAtOnce = 128;
/** More than these are made durable by one sync of their whole file system: 100,000 single ones take half a minute. */
const fewFiles = 64;
const syncsAtOnce = 8;

interface Outcome {
  readonly arrivals: Arrival[];
  readonly removed: string[];
  readonly changed: string[];
  readonly behind: SettledFile[];
}

function portionsOf<Item>(items: readonly Item[]): Item[][] {
  const portions: Item[][] = [];
  for (let from = 0; from < items.length; from += filesAtOnce)
    portions.push(items.slice(from, from + filesAtOnce));
  return portions;
}

const isOfAgain = ({ name }: SettledFile) => name.startsWith(`${againFolderName}/`);

/** Takes settled files. Rejects when nothing can be said of a single one. */
export async function takeSettled(deps: TakerDeps, settled: Settled): Promise<TakenFiles> {
  return await new Taking(deps, settled).run();
}

class Taking {
  readonly #deps: TakerDeps;
  readonly #settled: Settled;
  readonly #outcome: Outcome = { arrivals: [], removed: [], changed: [], behind: [] };

  constructor(deps: TakerDeps, settled: Settled) {
    this.#deps = deps;
    this.#settled = settled;
  }

  async run(): Promise<TakenFiles> {
    const { files, folder } = this.#settled;
    const staysInPlace = (file: SettledFile) =>
      isOfAgain(file) || (folder.isInbox && file.look.size > this.#deps.settings().maxFileBytes);
    for (const file of files.filter(staysInPlace)) this.#takeInPlace(file);
    const others = files.filter((file) => !staysInPlace(file));
    if (others.length > 0) await this.#takeOthers(others, folder);
    const { arrivals } = this.#outcome;
    // A folder is listed in no order; what an earlier run has answered is to be taken in that of the answers.
    arrivals.sort((one, other) => (one.receivedAt ?? 0) - (other.receivedAt ?? 0));
    return this.#outcome;
  }

  #takeInPlace(file: SettledFile): void {
    const path = join(this.#settled.at, file.name);
    if (!this.#deps.inbox.isKnown(path)) this.#arrived(file, path);
  }

  async #takeOthers(files: readonly SettledFile[], folder: WatchedFolder): Promise<void> {
    const { disk } = this.#deps;
    const inbound = await pinFolder(await disk.realpath(folder.inboundDirectory), [], disk);
    try {
      const copied = await this.#copyAll(files, inbound);
      await mkdir(inbound.child(againFolderName), { recursive: true, mode: 0o750 });
      const again = await pinChild(inbound, againFolderName, disk);
      try {
        for (const portion of portionsOf(copied)) await this.#place(portion, { inbound, again });
      } finally {
        await again.close();
      }
    } finally {
      await inbound.close();
    }
  }

  /** The files that may be placed now; their copies are durable. */
  async #copyAll(files: readonly SettledFile[], inbound: PinnedFolder): Promise<readonly Copied[]> {
    const taking = inbound.child(takingFolderName);
    const isSynced = files.length <= fewFiles;
    const ready: Copied[] = [];
    for (const portion of portionsOf(files)) {
      if (this.#settled.isStopped()) break;
      ready.push(...(await this.#copyPortion(portion, { taking, isSynced })));
    }
    if (!isSynced) await this.#syncCopies(inbound, ready);
    return ready;
  }

  async #syncCopies(inbound: PinnedFolder, copied: readonly Copied[]): Promise<void> {
    const { disk, log, syncCopies } = this.#deps;
    try {
      return await syncCopies(inbound.path);
    } catch (error) {
      log.debug({ reason: messageOf(error) }, "sync -f failed; files are synced one by one");
    }
    await mapAtOnce(copied, syncsAtOnce, async ({ from }) => {
      const fd = await disk.open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        await disk.fsync(fd);
      } finally {
        await disk.close(fd);
      }
    });
  }

  async #copyPortion(
    portion: readonly SettledFile[],
    to: { readonly taking: string; readonly isSynced: boolean },
  ): Promise<readonly Copied[]> {
    const { maxFileBytes } = this.#deps.settings();
    const { at: directory } = this.#settled;
    const known = portion.filter((file) => this.#isKnownIncomplete(file));
    for (const file of known) this.#incomplete(file);
    const toTake = portion.filter((file) => !known.includes(file));
    const toCopy = toTake
      .filter(({ look }) => look.size <= maxFileBytes)
      .map(({ name, look }) => ({ name, look, mark: newMark() }))
      .map((file) => ({ ...file, copy: copyName(this.#deps.runId, file.mark) }));
    const outcomes =
      toCopy.length === 0 ? [] : await copyIn(this.#deps.thread, { directory, ...to, files: toCopy });
    const copies = new Map(
      toCopy.map((file, index) => [
        file.name,
        { path: join(to.taking, file.copy), mark: file.mark, outcome: outcomes[index] },
      ]),
    );
    const ready: Copied[] = [];
    for (const file of toTake) {
      const copy = copies.get(file.name);
      const from = copy?.path ?? join(directory, file.name);
      if (copy !== undefined && !(await this.#mayGoOn(file, copy.path, copy.outcome))) continue;
      if (this.#deps.staying.keptBackBy(file.name) === undefined)
        ready.push({ file, from, mark: copy?.mark ?? newMark() });
      else {
        this.#outcome.behind.push(file);
        if (copy !== undefined) await this.#throwAway(copy.path);
      }
    }
    return ready;
  }

  async #throwAway(path: string): Promise<void> {
    await this.#deps.disk.unlink(path).catch(unlessMissing);
  }

  /** False when it stays where it is; the copy is gone then. */
  async #mayGoOn(file: SettledFile, path: string, outcome: CopyOutcome | undefined): Promise<boolean> {
    if (outcome === undefined || outcome.kind === "changed") this.#outcome.changed.push(file.name);
    else if (outcome.kind === "failed") this.#failed(file, errorOf(outcome.fault));
    else if (outcome.hasEnd || !(await this.#isIncomplete(file, path))) return true;
    else {
      this.#incomplete(file);
      await this.#throwAway(path);
    }
    return false;
  }

  /** Whether it was found incomplete as it still is: it need not be read again before its grace is over. */
  #isKnownIncomplete({ name, look }: SettledFile): boolean {
    const { staying } = this.#deps;
    return staying.isUntouched(name, look) && !this.#isGraceOver(staying.incompleteSince(name, look));
  }

  #isGraceOver(sinceAt: number | undefined): boolean {
    if (sinceAt === undefined) return false;
    return this.#deps.clock.now() - sinceAt >= this.#deps.settings().incompleteGraceMs;
  }

  /** Whether its writer is to be waited for. A name that is refused anyway is not worth waiting for. */
  async #isIncomplete(file: SettledFile, path: string): Promise<boolean> {
    if (!/\.xml$/i.test(file.name)) return false;
    if (this.#isGraceOver(this.#deps.staying.incompleteSince(file.name, file.look))) return false;
    const { companyCode } = this.#settled.folder;
    return await this.#deps.isIncomplete(path, { companyCode, size: file.look.size });
  }

  #moment(): { readonly now: number; readonly nowMs: number } {
    return { now: this.#deps.clock.now(), nowMs: performance.now() };
  }

  #failed(file: SettledFile, error: unknown): void {
    const { staying, settings } = this.#deps;
    if (isMissing(error)) staying.drop(file.name);
    else staying.failed(file.name, error, { ...this.#moment(), scanMs: settings().scanMs });
  }

  #incomplete(file: SettledFile): void {
    const { settleMs, incompleteGraceMs: graceMs } = this.#deps.settings();
    this.#deps.staying.incomplete(file.name, file.look, { ...this.#moment(), settleMs, graceMs });
  }

  /** Gives the files their places and removes their sources. */
  async #place(
    portion: readonly Copied[],
    to: { readonly inbound: PinnedFolder; readonly again: PinnedFolder },
  ): Promise<void> {
    const files = portion.map((copied) => this.#toPlace(copied));
    const paths = files.map(({ name, againName }) => ({
      final: join(to.inbound.path, name),
      again: join(to.again.path, againName),
    }));
    const { companyId } = this.#settled.folder;
    const reserved = new Set<string>();
    for (const [index, { final, again }] of paths.entries()) {
      for (const path of [final, again]) {
        this.#deps.inbox.reserve(path, { companyId, name: files[index]?.name ?? "" });
        reserved.add(path);
      }
    }
    try {
      const { at: directory } = this.#settled;
      const [inbound, again] = [to.inbound.child("."), to.again.child(".")];
      const aside = this.#settled.folder.isInbox ? to.inbound.child(asideFolderName) : undefined;
      const outcomes = await placeIn(this.#deps.thread, { directory, inbound, again, aside, files });
      for (const [index, { file }] of portion.entries()) {
        const path = this.#placed(file, outcomes[index], paths[index]);
        if (path !== undefined) reserved.delete(path);
      }
    } finally {
      for (const path of reserved) this.#deps.inbox.release(path);
    }
  }

  #toPlace({ file, from, mark }: Copied): FileToPlace {
    const { name, look } = file;
    return { name, look, from, againName: newAgainName(name, mark), stop: placeInLine(name)?.stop };
  }

  /** The path that the file has got. */
  #placed(
    file: SettledFile,
    outcome: PlaceOutcome | undefined,
    paths: { readonly final: string; readonly again: string } | undefined,
  ): string | undefined {
    if (outcome === undefined || paths === undefined || outcome.kind === "changed")
      this.#outcome.changed.push(file.name);
    else if (outcome.kind === "behind") this.#outcome.behind.push(file);
    else if (outcome.kind === "failed") this.#failed(file, errorOf(outcome.fault));
    else {
      const isAgain = outcome.kind === "displaced" || outcome.isAgain;
      const path = isAgain ? paths.again : paths.final;
      this.#arrived(file, path);
      (outcome.kind === "displaced" ? this.#outcome.changed : this.#outcome.removed).push(file.name);
      return path;
    }
    return undefined;
  }

  #arrived(file: SettledFile, path: string): void {
    const { folder } = this.#settled;
    const { name, look, isRecovered } = file;
    const receivedAt = isRecovered ? look.ctimeMs : this.#deps.staying.incompleteSince(name, look);
    this.#outcome.arrivals.push({
      companyId: folder.companyId,
      name: isOfAgain(file) ? nameOfAgainFile(basename(name)) : name,
      path,
      channel: isRecovered ? "recovered" : "folder",
      size: look.size,
      ...(receivedAt === undefined ? {} : { receivedAt }),
    });
  }
}
