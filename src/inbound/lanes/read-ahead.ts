/**
 * Reads the documents of the files at the front of a lane, ahead of their turn and in parallel, in bounded memory.
 *
 *   in line ──read──> kept for its turn ──dropped──> in line, or decided
 *                └──> not kept: it is stalled (`stalled-files.ts`)
 */
import type { DocumentPool } from "../../documents/pool/document-pool.ts";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { parseStopFileName } from "../../domain/files/stop-file-name.ts";
import type { Clock } from "../../lib/clock.ts";
import { messageOf } from "../../lib/errors.ts";
import { killPoint } from "../../lib/kill-point.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { sleep } from "../../lib/sleep.ts";
import type { Lane } from "./lane.ts";
import { canBeReadSoon } from "./put-aside.ts";
import { pathOf, type WaitingFile } from "./waiting-file.ts";

export interface ReadAheadDependencies {
  readonly documents: Pick<DocumentPool, "prepareFile">;
  readonly lane: Lane<WaitingFile>;
  readonly companyCode: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Larger files are refused by their size: nothing of them is ever held. */
  readonly maxFileBytes: () => number;
  /** Whether the document is kept for its turn; else the file has been put aside. */
  readonly takes: (file: WaitingFile, prepared: PreparedDocument) => boolean;
  /** Something was read. */
  readonly onRead: () => void;
}

/** Bytes of documents that are being prepared or wait prepared. One document may pass it alone. */
const maxHeldBytes = 6 * 1024 * 1024;
const maxPreparing = 48;
/** How far from the front documents are prepared. */
const maxAhead = 320;
/**
 * Pauses between the first attempts on a file that cannot be read: a lack of descriptors or of a share is mostly over before
 * anybody has to wait. Not all of its stops are known before it has been read once, so these come before it is parked.
 */
const soonMs = [10, 40, 100] as const;

function keyOf(file: WaitingFile, prepared: PreparedDocument): NonNullable<WaitingFile["key"]> {
  const name = parseStopFileName(file.name);
  const named = name.kind === "named" ? name.stopNbr : file.name;
  if (prepared.kind !== "read") return { stopFunction: "", stopNbr: named };
  return { stopFunction: prepared.instructions[0]?.function ?? "", stopNbr: named };
}

export class ReadAhead {
  readonly #deps: ReadAheadDependencies;
  readonly #stopping = new AbortController();
  #heldBytes = 0;
  #preparing = 0;
  #ready = 0;

  constructor(deps: ReadAheadDependencies) {
    this.#deps = deps;
  }

  /** Documents that are being read. */
  get preparing(): number {
    return this.#preparing;
  }

  /** Documents that wait for their turn. */
  get ready(): number {
    return this.#ready;
  }

  stop(): void {
    this.#stopping.abort();
  }

  /** Begins to read what is near the front and not read yet. */
  begin(): void {
    let seen = 0;
    for (const { entry, isFront, isOrderKnown } of this.#deps.lane.ahead()) {
      seen += 1;
      if (this.#preparing >= maxPreparing || seen > maxAhead) return;
      const isFull = this.#heldBytes >= maxHeldBytes;
      if (isFull && !isFront) return;
      if (entry.isPreparing || entry.prepared !== undefined) continue;
      // It has been read already, and is read again when its turn is known.
      if (entry.key !== undefined && !isOrderKnown) continue;
      if (isFull && this.#preparing > 0) return;
      void this.prepare(entry);
    }
  }

  /** Reads one file, in line or put aside. */
  async prepare(file: WaitingFile): Promise<void> {
    file.isPreparing = true;
    this.#preparing += 1;
    this.#hold(file, file.size > this.#deps.maxFileBytes() ? 0 : file.size);
    killPoint("prepare.begun");
    const prepared = await this.#read(file);
    this.#preparing -= 1;
    file.isPreparing = false;
    this.#hold(file, prepared?.kind === "read" ? prepared.size : 0);
    if (prepared === undefined || !this.#deps.takes(file, prepared)) {
      this.#hold(file, 0);
    } else {
      file.key ??= keyOf(file, prepared);
      file.prepared = prepared;
      file.parsedAt = prepared.kind === "unreadable" ? undefined : this.#deps.clock.now();
      killPoint("prepare.done");
      this.#ready += 1;
      this.#forgetIfTooMuch(file);
    }
    this.#deps.onRead();
  }

  /** The document is not needed any more, or is read again later. */
  drop(file: WaitingFile): void {
    if (file.prepared === undefined) return;
    file.prepared = undefined;
    this.#ready -= 1;
    this.#hold(file, 0);
  }

  #hold(file: WaitingFile, bytes: number): void {
    this.#heldBytes += bytes - (file.heldBytes ?? 0);
    file.heldBytes = bytes;
  }

  async #read(file: WaitingFile): Promise<PreparedDocument | undefined> {
    const pauses = file.stall === undefined ? [...soonMs] : [];
    for (;;) {
      const prepared = await this.#readOnce(file);
      const pauseMs = prepared !== undefined && canBeReadSoon(prepared) ? pauses.shift() : undefined;
      if (pauseMs === undefined) return prepared;
      await sleep(pauseMs, this.#stopping.signal);
    }
  }

  /** Undefined at the end of the process only: the file stays waiting. */
  async #readOnce(file: WaitingFile): Promise<PreparedDocument | undefined> {
    try {
      const origin = { companyCode: this.#deps.companyCode, size: file.size };
      return await this.#deps.documents.prepareFile(pathOf(file), origin);
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined;
      this.#deps.log.error({ err: error, file: file.name, fileId: file.id }, "reading a file failed");
      return { kind: "unreadable", systemCode: "internal", message: messageOf(error) };
    }
  }

  /** In a second with more files than memory should hold, only their order is kept of those at the back. */
  #forgetIfTooMuch(file: WaitingFile): void {
    if (this.#heldBytes <= maxHeldBytes) return;
    const front = this.#deps.lane.ahead().next();
    if (front.done === true || front.value.entry === file || front.value.isOrderKnown) return;
    this.drop(file);
  }
}
