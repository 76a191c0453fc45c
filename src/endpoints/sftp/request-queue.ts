/**
 * Starts the requests of one SFTP session in their order, and answers them in that order. Three things run faster than one
 * by one without being seen: consecutive READs run side by side (their answers wait for each other), consecutive WRITEs
 * to adjoining places of one file that wait at the same time go to the exchange as one, and replies that become ready in
 * one turn of the event loop leave as one channel write.
 *
 * No request is started while more than `maxUnsentBytes` wait in the batch, the channel or the socket, or while a key
 * exchange holds the output back. A READ counts with its length from its start.
 */
import { type OperationContext, runRequest, runWrites } from "./operations.ts";
import type { Reply } from "./reply.ts";
import type { ReplyOutput } from "./reply-output.ts";
import type { SftpRequest } from "./request.ts";
import type { RequestInput } from "./request-input.ts";
import { RunningRequests } from "./running-requests.ts";
import { WaitingRequests } from "./waiting-requests.ts";

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

export interface RequestQueueDeps {
  readonly context: OperationContext;
  readonly output: ReplyOutput;
  readonly input: Pick<RequestInput, "giveBack" | "dropSpare">;
  /** Requests have been answered: others may start. */
  readonly answered: () => void;
}

export class RequestQueue {
  /** When the last request was started, or the session was told to end. */
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
