/**
 * The files of the deliveries to one own folder: those that come while others are being placed are the next group.
 *
 *   waiting ──group──> placed here, when they are few ──────> each its own outcome
 *                 └──> in the thread, when they are many ──┘
 *
 * A group has one sync of the folder, and no file of it waits for one of the pool's threads. For a few files the way to the
 * thread and back is as long, and a thread would be kept for them.
 *
 * Nothing of it survives a crash: a file of the group has its name or a hidden one, or both. The next attempt finds the same
 * bytes under the name and has delivered.
 */
import { setImmediate } from "node:timers/promises";
import { messageOf } from "../../lib/errors.ts";
import type { DeliveryOutcome } from "../../outbound/target.ts";
import { TransferFault } from "../../remote/transfer-fault.ts";
import type { FolderDisk } from "./folder-disk.ts";
import type { FolderThread } from "./folder-thread.ts";
import type { FileToPlace } from "./place-files.ts";
import { type GroupOutcome, placeGroup } from "./place-group.ts";

/** With as many again that are being rendered meanwhile the thread and the main thread both have work. */
export const groupSize = 64;
/** As many files and more go to the thread. */
const fewestForThread = 4;

export interface FileGroupsOptions {
  readonly folder: string;
  readonly disk: FolderDisk;
  readonly thread: Pick<FolderThread, "place">;
  /** Unless it is the usual number. */
  readonly fewestForThread?: number | undefined;
}

interface Waiting extends PromiseWithResolvers<DeliveryOutcome> {
  readonly file: FileToPlace;
  readonly signal: AbortSignal;
}

export class FileGroups {
  readonly #options: FileGroupsOptions;
  #waiting: Waiting[] = [];
  #isRunning = false;

  constructor(options: FileGroupsOptions) {
    this.#options = options;
  }

  /** Resolves when it is known what became of the file, durably. One that is aborted before its group begins is not placed. */
  place(file: FileToPlace, signal: AbortSignal): Promise<DeliveryOutcome> {
    const waiting = { ...Promise.withResolvers<DeliveryOutcome>(), file, signal };
    this.#waiting.push(waiting);
    if (!this.#isRunning) void this.#run();
    return waiting.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      // Those of the same turn of the event loop are placed together.
      if (this.#waiting.length < groupSize) await setImmediate();
      const group = this.#waiting.slice(0, groupSize);
      this.#waiting = this.#waiting.slice(groupSize);
      await this.#placeAll(group);
    }
    this.#isRunning = false;
  }

  async #placeAll(taken: readonly Waiting[]): Promise<void> {
    const group = taken.filter(({ signal, reject }) => {
      if (signal.aborted) reject(signal.reason);
      return !signal.aborted;
    });
    if (group.length === 0) return;
    try {
      const outcomes = await this.#outcomes(group.map(({ file }) => file));
      for (const [at, waiting] of group.entries()) settle(waiting, outcomes[at]);
    } catch (error) {
      // The thread, or what it needs of the system: it says nothing of any single file.
      const message = `${this.#options.folder}: ${messageOf(error)}`;
      const fault = new TransferFault("protocol", message, { scope: "target", cause: error });
      for (const { reject } of group) reject(fault);
    }
  }

  #outcomes(files: readonly FileToPlace[]): Promise<readonly GroupOutcome[]> {
    const { folder, disk, thread, fewestForThread: fewest = fewestForThread } = this.#options;
    return files.length < fewest ? placeGroup(disk, folder, files) : thread.place(folder, files);
  }
}

function settle({ resolve, reject, file }: Waiting, outcome: GroupOutcome | undefined): void {
  if (outcome !== undefined && outcome.kind !== "broken") resolve(outcome);
  else reject(new Error(`${file.name} could not be placed: ${outcome?.message ?? "no outcome came back"}`));
}
