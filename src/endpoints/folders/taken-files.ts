/** The files of one folder that have settled together, and what becomes of them. */
import { basename } from "node:path";
import type { Arrival } from "../../inbound/places/inbox.ts";
import { againFolderName, nameOfAgainFile } from "../../inbound/places/place-arrival.ts";
import { isMissing } from "../../lib/errors.ts";
import type { SettledFile } from "./candidates.ts";
import type { FolderDeps, WatchedFolder } from "./folder-deps.ts";
import type { StayingFiles } from "./staying-files.ts";

export interface Settled {
  readonly folder: WatchedFolder;
  /** The real path of the folder. */
  readonly at: string;
  /** Those of one stop in their order. */
  readonly files: readonly SettledFile[];
  readonly isStopped: () => boolean;
}

export type TakenFiles = Pick<Outcomes, "arrivals" | "removed" | "changed" | "behind">;

/** With what the next scan has to look for. */
export type Taken = TakenFiles & Pick<Outcomes, "isLeftInAgain" | "isLeftAside">;

export interface OutcomesDeps extends Pick<FolderDeps, "clock" | "settings"> {
  readonly staying: StayingFiles;
}

/** Whether the file lies in `.again`, and so in its place. */
export function isOfAgain({ name }: SettledFile): boolean {
  return name.startsWith(`${againFolderName}/`);
}

/** Collects what becomes of each file, and notes those that stay. */
export class Outcomes {
  readonly arrivals: Arrival[] = [];
  readonly removed: string[] = [];
  /** Names of files that have changed since they settled: they have to settle again. */
  readonly changed: string[] = [];
  /** Files that wait for an earlier one of their stop; they are tried again when they have settled once more. */
  readonly behind: SettledFile[] = [];
  /** Whether one lies in `.again` that is not handed over. */
  isLeftInAgain = false;
  /** Whether one lies aside, with its copy. */
  isLeftAside = false;
  readonly #deps: OutcomesDeps;
  readonly #folder: WatchedFolder;

  constructor(deps: OutcomesDeps, folder: WatchedFolder) {
    this.#deps = deps;
    this.#folder = folder;
  }

  /** The file has its place in `inbound/`. */
  arrived(file: SettledFile, path: string): void {
    const { name, state, isRecovered } = file;
    const receivedAt = isRecovered ? state.cameAtMs : this.#deps.staying.incompleteSince(name, state);
    this.arrivals.push({
      companyId: this.#folder.companyId,
      name: isOfAgain(file) ? nameOfAgainFile(basename(name)) : name,
      path,
      channel: isRecovered ? "recovered" : "folder",
      size: state.size,
      ...(receivedAt === undefined ? {} : { receivedAt }),
    });
  }

  /** The file could not have its name back. */
  leftInAgain({ name }: SettledFile): void {
    this.changed.push(name);
    this.isLeftInAgain = true;
  }

  /** The file is not under its name any more, nor handed over: there was no more time, or a fault. */
  leftAside(file: SettledFile, error?: Error): void {
    if (error === undefined) this.changed.push(file.name);
    else this.failed(file, error);
    this.isLeftAside = true;
  }

  /** The file stays because of a fault of the system, unless it is gone. */
  failed({ name }: SettledFile, error: unknown): void {
    const { staying, settings } = this.#deps;
    if (isMissing(error)) staying.drop(name);
    else staying.failed(name, error, { ...this.#moment(), scanMs: settings().scanMs });
  }

  /** The file stays until its writer has finished it. */
  incomplete({ name, state }: SettledFile): void {
    const { settleMs, incompleteGraceMs: graceMs } = this.#deps.settings();
    this.#deps.staying.incomplete(name, state, { ...this.#moment(), settleMs, graceMs });
  }

  #moment(): { readonly now: number; readonly nowMs: number } {
    return { now: this.#deps.clock.now(), nowMs: performance.now() };
  }
}
