/** What becomes of the settled files of one look. */
import { basename } from "node:path";
import type { Arrival } from "../../inbound/places/inbox.ts";
import { againFolderName, nameOfAgainFile } from "../../inbound/places/place-arrival.ts";
import { isMissing } from "../../lib/errors.ts";
import type { SettledFile } from "./candidates.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import type { StayingFiles } from "./staying-files.ts";

export interface TakenFiles {
  readonly arrivals: readonly Arrival[];
  /** Names of the sources that are gone. */
  readonly removed: readonly string[];
  /** To be looked at again from the beginning. */
  readonly changed: readonly string[];
  /** To be looked at again when they have settled once more: they wait for an earlier file of their stop. */
  readonly behind: readonly SettledFile[];
}

export interface OutcomesDeps extends Pick<FolderDeps, "clock" | "settings"> {
  readonly staying: StayingFiles;
}

/** Whether it lies in `.again`, and so in its place. */
export function isOfAgain({ name }: SettledFile): boolean {
  return name.startsWith(`${againFolderName}/`);
}

/** Collects what becomes of each file, and notes those that stay. */
export class Outcomes implements TakenFiles {
  readonly arrivals: Arrival[] = [];
  readonly removed: string[] = [];
  readonly changed: string[] = [];
  readonly behind: SettledFile[] = [];
  readonly #deps: OutcomesDeps;
  readonly #folder: WatchedFolder;

  constructor(deps: OutcomesDeps, folder: WatchedFolder) {
    this.#deps = deps;
    this.#folder = folder;
  }

  /** The file has its place in `inbound/`. */
  arrived(file: SettledFile, path: string): void {
    const { name, look, isRecovered } = file;
    const receivedAt = isRecovered ? look.ctimeMs : this.#deps.staying.incompleteSince(name, look);
    this.arrivals.push({
      companyId: this.#folder.companyId,
      name: isOfAgain(file) ? nameOfAgainFile(basename(name)) : name,
      path,
      channel: isRecovered ? "recovered" : "folder",
      size: look.size,
      ...(receivedAt === undefined ? {} : { receivedAt }),
    });
  }

  /** It stays, because of a fault of the system, unless it is gone. */
  failed({ name }: SettledFile, error: unknown): void {
    const { staying, settings } = this.#deps;
    if (isMissing(error)) staying.drop(name);
    else staying.failed(name, error, { ...this.#moment(), scanMs: settings().scanMs });
  }

  /** It stays, because its writer is to be waited for. */
  incomplete({ name, look }: SettledFile): void {
    const { settleMs, incompleteGraceMs: graceMs } = this.#deps.settings();
    this.#deps.staying.incomplete(name, look, { ...this.#moment(), settleMs, graceMs });
  }

  #moment(): { readonly now: number; readonly nowMs: number } {
    return { now: this.#deps.clock.now(), nowMs: performance.now() };
  }
}
