/** Requests of one SFTP session under way, or done and waiting for the replies before them: they are answered in order. */
import type { Reply } from "./reply.ts";
import type { SftpRequest } from "./request.ts";
import { maxReadBytes } from "./wire.ts";

const maxConcurrentReads = 8;

interface Slot {
  readonly isRead: boolean;
  readonly reservedBytes: number;
  reply: Reply | undefined;
}

export class RunningRequests {
  readonly #slots: Slot[] = [];
  /** What the READs under way may answer with. */
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

  /** Waits for the work, and then hands over all replies whose turn it is. */
  add(request: SftpRequest, work: Promise<Reply>, ready: (replies: readonly Reply[]) => void): void {
    const isRead = request.kind === "read";
    const slot: Slot = {
      ...{ isRead, reply: undefined },
      reservedBytes: isRead ? Math.min(request.length, maxReadBytes) : 0,
    };
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
