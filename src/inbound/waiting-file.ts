import type { PreparedDocument } from "../documents/prepared-document.ts";
import { parseStopFileName, type StopFileName } from "../domain/stop-file-name.ts";
import type { Channel } from "./inbox.ts";
import type { LaneEntry, LaneKey } from "./lane.ts";

/** A file that waits to be decided about. */
export interface WaitingFile extends LaneEntry {
  readonly companyId: number;
  readonly name: string;
  readonly parsedName: StopFileName;
  readonly path: string;
  readonly channel: Channel;
  readonly userName: string | null;
  readonly receivedAt: number;
  id?: number;
  key?: LaneKey;
  isPreparing: boolean;
  prepared?: PreparedDocument;
  /** How often it could not be read or decided. */
  failures: number;
}

export interface WaitingFileSource {
  readonly id?: number;
  readonly companyId: number;
  readonly name: string;
  readonly path: string;
  readonly channel: Channel;
  readonly userName: string | null;
  readonly receivedAt: number;
  readonly size: number;
  readonly sequence: number;
}

/** A name without a time takes its place by the time of its arrival (UTC). */
function arrivalTime(receivedAt: number): number {
  return Number(new Date(receivedAt).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14));
}

/** Makes the entry of a file that has just come or that the ledger says is waiting. */
export function toWaitingFile(source: WaitingFileSource): WaitingFile {
  const parsedName = parseStopFileName(source.name);
  return {
    ...source,
    parsedName,
    nameTime: ledgerTimeOf(parsedName) ?? arrivalTime(source.receivedAt),
    isPreparing: false,
    failures: 0,
  };
}

/** The time that the ledger keeps: that of the name, null when it has none. */
export function ledgerTimeOf(name: StopFileName): number | null {
  return name.kind === "named" ? name.nameTime : null;
}
