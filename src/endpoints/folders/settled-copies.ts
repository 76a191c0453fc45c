/**
 * Makes durable copies of settled files in `.taking`. A file whose copy is not whole stays, and so does one that an earlier
 * file of its stop keeps back; their copies are removed.
 */
import { constants } from "node:fs";
import { join } from "node:path";
import { newMark } from "../../inbound/places/place-arrival.ts";
import { messageOf, unlessMissing } from "../../lib/errors.ts";
import { mapConcurrently } from "../../lib/concurrency.ts";
import type { PinnedFolder } from "../../lib/files/open-regular-file.ts";
import type { SettledFile } from "./candidates.ts";
import type { CopyOutcome } from "./copy-files.ts";
import type { FolderDeps } from "./folder-deps.ts";
import { copyName, takingFolderName } from "./sweep-copies.ts";
import { copyIn, errorOf, portionsOf, type TakeThread } from "./take-thread.ts";
import type { Outcomes, OutcomesDeps, Settled } from "./taken-files.ts";

export interface SettledCopiesDeps
  extends OutcomesDeps,
    Pick<FolderDeps, "disk" | "log" | "runId" | "isIncomplete" | "syncCopies"> {
  readonly thread: TakeThread;
}

/** A file that may be placed. */
export interface Copied {
  readonly file: SettledFile;
  /** Absolute path of the copy, or of the source itself when it needs none. */
  readonly from: string;
  /** Part of the name of the copy, and of the source while it is set aside. */
  readonly mark: string;
}

/** A copy that was asked for. */
interface Copy {
  readonly path: string;
  readonly mark: string;
  readonly outcome: CopyOutcome | undefined;
}

/** More than these share one sync of their whole file system: 100,000 single ones take half a minute. */
const fewFiles = 64;
const syncsAtOnce = 8;

export class SettledCopies {
  readonly #deps: SettledCopiesDeps;
  readonly #settled: Settled;
  readonly #outcomes: Outcomes;

  constructor(deps: SettledCopiesDeps, settled: Settled, outcomes: Outcomes) {
    this.#deps = deps;
    this.#settled = settled;
    this.#outcomes = outcomes;
  }

  /** The files that may be placed now; their copies are durable. */
  async make(inbound: PinnedFolder): Promise<readonly Copied[]> {
    const { files } = this.#settled;
    const taking = inbound.child(takingFolderName);
    const isSynced = files.length <= fewFiles;
    const ready: Copied[] = [];
    for (const portion of portionsOf(files)) {
      if (this.#settled.isStopped()) break;
      ready.push(...(await this.#makePortion(portion, { taking, isSynced })));
    }
    if (!isSynced) await this.#sync(inbound, ready);
    return ready;
  }

  async #sync(inbound: PinnedFolder, copied: readonly Copied[]): Promise<void> {
    const { disk, log, syncCopies } = this.#deps;
    try {
      return await syncCopies(inbound.path);
    } catch (error) {
      log.debug({ reason: messageOf(error) }, "sync -f failed; files are synced one by one");
    }
    await mapConcurrently(copied, syncsAtOnce, async ({ from }) => {
      const fd = await disk.open(from, constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        await disk.fsync(fd);
      } finally {
        await disk.close(fd);
      }
    });
  }

  async #makePortion(
    portion: readonly SettledFile[],
    to: { readonly taking: string; readonly isSynced: boolean },
  ): Promise<readonly Copied[]> {
    const { staying } = this.#deps;
    const known = portion.filter((file) => this.#isKnownIncomplete(file));
    for (const file of known) this.#outcomes.incomplete(file);
    const toTake = portion.filter((file) => !known.includes(file));
    const copies = await this.#copy(toTake, to);
    const ready: Copied[] = [];
    for (const file of toTake) {
      const copy = copies.get(file.name);
      const from = copy?.path ?? join(this.#settled.at, file.name);
      if (copy !== undefined && !(await this.#mayGoOn(file, copy))) continue;
      if (staying.keptBackBy(file.name) === undefined)
        ready.push({ file, from, mark: copy?.mark ?? newMark() });
      else {
        this.#outcomes.behind.push(file);
        if (copy !== undefined) await this.#throwAway(copy);
      }
    }
    return ready;
  }

  /** By name. A file over the limit is not copied, because it is refused by its size. */
  async #copy(
    files: readonly SettledFile[],
    to: { readonly taking: string; readonly isSynced: boolean },
  ): Promise<ReadonlyMap<string, Copy>> {
    const { settings, runId, thread } = this.#deps;
    const { maxFileBytes } = settings();
    const toCopy = files
      .filter(({ state }) => state.size <= maxFileBytes)
      .map(({ name, state }) => ({ name, state, mark: newMark() }))
      .map((file) => ({ ...file, copy: copyName(runId, file.mark) }));
    if (toCopy.length === 0) return new Map();
    const outcomes = await copyIn(thread, { directory: this.#settled.at, ...to, files: toCopy });
    return new Map(
      toCopy.map(({ name, mark, copy }, index) => [
        name,
        { path: join(to.taking, copy), mark, outcome: outcomes[index] },
      ]),
    );
  }

  async #throwAway({ path }: Copy): Promise<void> {
    await this.#deps.disk.unlink(path).catch(unlessMissing);
  }

  /** False when the file stays where it is; the copy is gone then. */
  async #mayGoOn(file: SettledFile, copy: Copy): Promise<boolean> {
    const { outcome } = copy;
    if (outcome === undefined || outcome.kind === "changed") this.#outcomes.changed.push(file.name);
    else if (outcome.kind === "failed") this.#outcomes.failed(file, errorOf(outcome.fault));
    else if (outcome.hasEnd || !(await this.#isIncomplete(file, copy.path))) return true;
    else {
      this.#outcomes.incomplete(file);
      await this.#throwAway(copy);
    }
    return false;
  }

  /** Whether a copy has shown that it is incomplete as it is: no other is made before its grace is over. */
  #isKnownIncomplete(file: SettledFile): boolean {
    return this.#deps.staying.isUntouched(file.name, file.state) && !this.#isGraceOver(file);
  }

  #isGraceOver({ name, state }: SettledFile): boolean {
    const { staying, clock, settings } = this.#deps;
    const sinceAt = staying.incompleteSince(name, state);
    return sinceAt !== undefined && clock.now() - sinceAt >= settings().incompleteGraceMs;
  }

  /** Whether to wait for its writer. A file whose name is refused anyway is not worth that. */
  async #isIncomplete(file: SettledFile, path: string): Promise<boolean> {
    if (!/\.xml$/i.test(file.name) || this.#isGraceOver(file)) return false;
    const { companyCode } = this.#settled.folder;
    return await this.#deps.isIncomplete(path, { companyCode, size: file.state.size });
  }
}
