import { basename, dirname, join } from "node:path";
import { parseStopFileName, type StopFileName } from "../../domain/files/stop-file-name.ts";
import type { Channel } from "../places/inbox.ts";
import type { LaneEntry } from "./lane.ts";

/**
 * Why a file is parked: its bytes cannot be read; it is cut off at its end; this machine lacks descriptors or memory; the
 * store cannot be read or written; deciding about it fails for a reason of our own.
 */
export type StallReason = "unreadable" | "incomplete" | "machine" | "store" | "internal";

export interface Stall {
  readonly reason: StallReason;
  readonly message: string;
  /** When it began, on the clock of `performance.now()`. */
  readonly since: number;
}

/** Those for which this installation is at fault, and not the file: such files are held as long as it takes. */
export function isOwnFault(reason: StallReason): boolean {
  return reason === "store" || reason === "machine";
}

/**
 * A file that waits to be decided about. 100,000 of them may wait: what can be had from something else is not kept, and
 * texts that many have in common are one text.
 */
export interface WaitingFile extends LaneEntry {
  readonly companyId: number;
  readonly name: string;
  readonly directory: string;
  /** Its name in the directory; another than `name` when that was taken. */
  readonly fileName: string;
  readonly channel: Channel;
  readonly userName: string | null;
  readonly receivedAt: number;
  /** When its last retry was requested; it waits since then. */
  readonly retriedAt?: number;
  /** When its upload began, as far as it is known; until the ledger has it. */
  beganAt?: number | undefined;
  /** When its document was read, while it is kept for its turn. */
  parsedAt?: number | undefined;
  id: number | undefined;
  /** Bytes that its document takes in memory. */
  heldBytes?: number;
  /** How often it was put aside to be read again. */
  looks?: number;
  /** Stops of its document, once it has been read and when they are several. */
  stopKeys?: readonly string[];
  /** Why it cannot go on. */
  stall?: Stall | undefined;
  /** How often deciding about it failed. */
  failures?: number;
  /** Its group could not be committed: it is decided by itself. */
  isToBeAlone?: boolean;
}

export interface WaitingFileSource {
  readonly id?: number;
  readonly companyId: number;
  readonly name: string;
  readonly path: string;
  readonly channel: Channel;
  readonly userName: string | null;
  readonly receivedAt: number;
  readonly retriedAt?: number | undefined;
  readonly beganAt?: number | undefined;
  readonly size: number;
  readonly sequence: number;
}

/** Since when it waits for its decision, milliseconds UTC. */
export function waitingSince({
  retriedAt,
  receivedAt,
}: Pick<WaitingFile, "retriedAt" | "receivedAt">): number {
  return retriedAt ?? receivedAt;
}

/** A name without a time takes its place by the time of its arrival (UTC), as CCYYMMDDHHMMSS. */
export function arrivalTime(receivedAt: number): number {
  return Number(new Date(receivedAt).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14));
}

/** One text for many equal ones, most of which come one after the other. */
function shared<Text extends string>(last: { text: Text }, text: Text): Text {
  if (text !== last.text) last.text = text;
  return last.text;
}

const lastDirectory = { text: "" };
const lastChannel: { text: Channel } = { text: "sftp" };
const lastUserName = { text: "" };

/** Makes the entry of a file that has just come or that the ledger says is waiting. */
export function toWaitingFile(source: WaitingFileSource): WaitingFile {
  const fileName = basename(source.path);
  return {
    companyId: source.companyId,
    name: source.name,
    directory: shared(lastDirectory, dirname(source.path)),
    fileName: fileName === source.name ? source.name : fileName,
    channel: shared(lastChannel, source.channel),
    userName: source.userName === null ? null : shared(lastUserName, source.userName),
    receivedAt: source.receivedAt,
    size: source.size,
    sequence: source.sequence,
    nameTime: ledgerTimeOf(parseStopFileName(source.name)) ?? arrivalTime(source.receivedAt),
    id: source.id,
    ...(source.retriedAt === undefined ? {} : { retriedAt: source.retriedAt }),
    ...(source.beganAt === undefined ? {} : { beganAt: source.beganAt }),
  };
}

/** Where the bytes lie. */
export function pathOf(file: Pick<WaitingFile, "directory" | "fileName">): string {
  return join(file.directory, file.fileName);
}

/** The time that the ledger keeps: that of the name, null when it has none. */
export function ledgerTimeOf(name: StopFileName): number | null {
  return name.kind === "named" ? name.nameTime : null;
}
