/** Files from the front of a line that are decided about in one commit. */
import type { ReadyFile } from "./decide-group.ts";
import type { Lane } from "./lane.ts";
import type { ReadAhead } from "./read-ahead.ts";
import type { StalledFiles } from "./stalled-files.ts";
import { stopKeysOf } from "./stop-keys.ts";
import type { WaitingFile } from "./waiting-file.ts";

export interface GroupSource {
  readonly lane: Lane<WaitingFile>;
  readonly stalled: StalledFiles;
  readonly reading: ReadAhead;
}

export interface TakenGroup {
  readonly files: readonly ReadyFile[];
  /** Files left the line because their stop waits for an earlier one: others come near the front in their place. */
  readonly hasMoved: boolean;
}

/**
 * Takes files from the front that can be decided in one commit: no two of the same stop, so that a failure keeps order.
 * Those whose stop waits for an earlier file leave the line.
 */
export function takeGroup({ lane, stalled, reading }: GroupSource, groupSize: number): TakenGroup {
  const files: ReadyFile[] = [];
  const stops = new Set<string>();
  let hasMoved = false;
  while (files.length < groupSize) {
    const file = lane.takeReady((one) => fits(one, files, stops));
    if (file?.prepared === undefined || file.id === undefined) break;
    const stopKeys = stopKeysOf(file.name, file.prepared);
    // What is refused anyway changes no stop.
    if (file.prepared.kind === "read" && stalled.keepsBack(file, stopKeys)) {
      reading.drop(file);
      hasMoved = true;
      continue;
    }
    for (const key of stopKeys) stops.add(key);
    files.push(file as ReadyFile);
    if (file.isToBeAlone === true) break;
  }
  return { files, hasMoved };
}

function fits(file: WaitingFile, group: readonly ReadyFile[], stops: ReadonlySet<string>): boolean {
  if (file.isToBeAlone === true && group.length > 0) return false;
  return stopKeysOf(file.name, file.prepared).every((key) => !stops.has(key));
}
