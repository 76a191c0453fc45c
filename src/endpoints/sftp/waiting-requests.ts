/** Requests of one SFTP session that were received and wait for their turn. */
import type { SftpRequest, WriteRequest } from "./request.ts";

const maxQueuedBytes = 4 * 1024 * 1024;
const maxQueuedRequests = 1024;
/** WRITEs that run in a row are answered together, so a row must not be long. */
const maxRunBytes = 1024 * 1024;

/** WRITEs to one file that go to the exchange as one. */
export interface WriteRun {
  readonly writes: readonly WriteRequest[];
  readonly bytes: number;
}

export class WaitingRequests {
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

  /** A WRITE that was the first, and those to the same handle behind it. */
  takeRun(first: WriteRequest): WriteRun {
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
