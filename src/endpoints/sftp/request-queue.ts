/**
 * Starts the requests of one SFTP session in their order, and answers them in that order. Three things are faster than one
 * by one, and no client sees a difference: consecutive READs run side by side (their replies wait for each other),
 * consecutive WRITEs to one file that wait at the same time are answered together, and replies that become ready in one
 * turn of the event loop leave as one channel write.
 *
 * No request starts while more than `maxUnsentBytes` wait in the batch, the channel or the socket, or while a key exchange
 * holds back the output. A READ counts with its length from its start.
 */
import { type OperationContext, runRequest, runWrites } from "./operations.ts";
import type { Reply } from "./reply.ts";
import type { ReplyOutput } from "./reply-output.ts";
import type { RequestOf, SftpRequest } from "./request.ts";
import type { RequestInput } from "./request-input.ts";
import { maxReadBytes } from "./wire.ts";

const maxUnsentBytes = 4 * 1024 * 1024;

/** Requests that change nothing; without a link nobody waits for their answers. */
const readingKinds: ReadonlySet<SftpRequest["kind"]> = new Set([
  "read",
  "readdir",
  "stat",
  "fstat",
  "realpath",
  "statvfs",
  "fstatvfs",
  "limits",
  "opendir",
  "refused",
]);

const maxQueuedBytes = 4 * 1024 * 1024;
const maxQueuedRequests = 1024;
/** WRITEs of one run are answered together, so a run must not be long. */
const maxRunBytes = 1024 * 1024;

interface WriteRun {
  readonly writes: readonly RequestOf<"write">[];
  readonly bytes: number;
}

/** Requests that were received and wait for their turn. */
class WaitingRequests {
  readonly #queue: SftpRequest[] = [];
  /** Of writes that wait or are under way. */
  #writeBytes = 0;

  get first(): SftpRequest | undefined {
    return this.#queue[0];
  }

  get isEmpty(): boolean {
    return this.#queue.length === 0;
  }

  /** Whether the client has to wait before it sends more. */
  get isFull(): boolean {
    return this.#writeBytes > maxQueuedBytes || this.#queue.length > maxQueuedRequests;
  }

  add(request: SftpRequest): void {
    if (request.kind === "write") this.#writeBytes += request.bytes.length;
    this.#queue.push(request);
  }

  removeFirst(): void {
    this.#queue.shift();
  }

  /** A WRITE that was the first in the queue, and those to the same handle behind it. */
  takeRun(first: RequestOf<"write">): WriteRun {
    const writes = [first];
    let bytes = first.bytes.length;
    for (let next = this.#queue[0]; next?.kind === "write"; next = this.#queue[0]) {
      if (next.handle !== first.handle || bytes + next.bytes.length > maxRunBytes) break;
      this.#queue.shift();
      writes.push(next);
      bytes += next.bytes.length;
    }
    return { writes, bytes };
  }

  /** The run is done: its bytes wait no more. */
  finished(run: WriteRun): void {
    this.#writeBytes -= run.bytes;
  }
}

const maxConcurrentReads = 8;

interface Slot {
  readonly isRead: boolean;
  readonly reservedBytes: number;
  reply: Reply | undefined;
}

/** Requests under way, or done and waiting for the replies before them: they are answered in order. */
class RunningRequests {
  readonly #slots: Slot[] = [];
  /** Of the replies to the READs under way, at most. */
  #reservedBytes = 0;

  get isEmpty(): boolean {
    return this.#slots.length === 0;
  }

  get reservedBytes(): number {
    return this.#reservedBytes;
  }

  /** Whether the request may run beside those that do: alone, or as one more READ among READs. */
  mayJoin(request: SftpRequest): boolean {
    if (this.isEmpty) return true;
    return (
      request.kind === "read" &&
      this.#slots.length < maxConcurrentReads &&
      this.#slots.every((slot) => slot.isRead)
    );
  }

  /** Waits for the work, then hands over all replies whose turn it is. */
  add(request: SftpRequest, work: Promise<Reply>, ready: (replies: readonly Reply[]) => void): void {
    const isRead = request.kind === "read";
    const reservedBytes = isRead ? Math.min(request.length, maxReadBytes) : 0;
    const slot: Slot = { isRead, reservedBytes, reply: undefined };
    this.#slots.push(slot);
    this.#reservedBytes += slot.reservedBytes;
    void work.then((reply) => {
      slot.reply = reply;
      ready(this.#takeReady());
    });
  }

  #takeReady(): readonly Reply[] {
    const replies: Reply[] = [];
    for (let slot = this.#slots[0]; slot?.reply !== undefined; slot = this.#slots[0]) {
      this.#slots.shift();
      this.#reservedBytes -= slot.reservedBytes;
      replies.push(slot.reply);
    }
    return replies;
  }
}

export interface RequestQueueDeps {
  readonly context: OperationContext;
  readonly output: ReplyOutput;
  readonly input: Pick<RequestInput, "giveBack" | "dropSpare">;
  /** Requests have been answered: others may start. */
  readonly answered: () => void;
}

export class RequestQueue {
  /** When the last request started, or the session began to drain. */
  lastRequestAtMs = Date.now();
  readonly #deps: RequestQueueDeps;
  readonly #waiting = new WaitingRequests();
  readonly #running = new RunningRequests();
  #isStarting = false;
  #isLinkLost = false;

  constructor(deps: RequestQueueDeps) {
    this.#deps = deps;
  }

  get isBusy(): boolean {
    return !this.#running.isEmpty || !this.#waiting.isEmpty;
  }

  /** Whether the client has to wait before it sends more. */
  get isFull(): boolean {
    return this.#waiting.isFull;
  }

  /** No answer can be sent any more. */
  get isLinkLost(): boolean {
    return this.#isLinkLost;
  }

  add(request: SftpRequest): void {
    this.#waiting.add(request);
  }

  /** From now on requests that change nothing are dropped; the others still take effect. */
  linkLost(): void {
    this.#isLinkLost = true;
  }

  /** Starts every request whose turn it is. False when that is under way. */
  startDue(): boolean {
    if (this.#isStarting) return false;
    this.#isStarting = true;
    for (
      let next = this.#waiting.first;
      next !== undefined && this.#mayStart(next);
      next = this.#waiting.first
    ) {
      this.#waiting.removeFirst();
      if (!(this.#isLinkLost && readingKinds.has(next.kind))) this.#start(next);
    }
    this.#isStarting = false;
    return true;
  }

  #mayStart(request: SftpRequest): boolean {
    const { output } = this.#deps;
    const unsentBytes = output.unsentBytes + (this.#isLinkLost ? 0 : this.#running.reservedBytes);
    return !output.isHeld && unsentBytes <= maxUnsentBytes && this.#running.mayJoin(request);
  }

  #start(request: SftpRequest): void {
    this.lastRequestAtMs = Date.now();
    if (request.kind === "close") this.#deps.input.dropSpare();
    this.#running.add(request, this.#run(request), (replies) => this.#answer(replies));
  }

  /** WRITEs run together; their memory is used again for the next packets. */
  async #run(request: SftpRequest): Promise<Reply> {
    const { context, input } = this.#deps;
    if (request.kind !== "write") return await runRequest(context, request);
    const run = this.#waiting.takeRun(request);
    try {
      return await runWrites(context, run.writes);
    } finally {
      this.#waiting.finished(run);
      for (const { bytes } of run.writes) input.giveBack(bytes);
    }
  }

  #answer(replies: readonly Reply[]): void {
    for (const reply of replies) this.#deps.output.send(reply);
    this.#deps.answered();
  }
}
