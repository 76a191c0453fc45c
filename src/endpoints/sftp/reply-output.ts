/**
 * The replies of one SFTP session on their way to the client: those that become ready in one turn of the event loop leave
 * as one channel write.
 */
import type { Socket } from "node:net";
import type { ServerChannel } from "ssh2";
import type { Reply } from "./reply.ts";

/** What the client learns at the end of the session. */
export interface Farewell {
  readonly exitStatus: number;
  readonly text: string | undefined;
}

export class ReplyOutput {
  readonly #channel: ServerChannel;
  readonly #socket: Socket;
  #batch: Uint8Array[] = [];
  #batchBytes = 0;
  #isFlushScheduled = false;
  #isHeldByKeyExchange = false;
  #isOver = false;

  constructor(channel: ServerChannel, socket: Socket) {
    this.#channel = channel;
    this.#socket = socket;
  }

  /** Whether a key exchange holds back what is written. */
  get isHeld(): boolean {
    return this.#isHeldByKeyExchange;
  }

  /** What waits in the batch, the channel and the socket, in bytes. */
  get unsentBytes(): number {
    return this.#isOver ? 0 : this.#batchBytes + this.#channel.writableLength + this.#socket.writableLength;
  }

  /** A key exchange is over, and sends what it held back. */
  keysExchanged(): void {
    this.#isHeldByKeyExchange = false;
  }

  /** No reply can be sent any more. */
  drop(): void {
    this.#isOver = true;
    this.#isHeldByKeyExchange = false;
    this.#batch = [];
    this.#batchBytes = 0;
  }

  send(reply: Reply): void {
    if (this.#isOver) return;
    for (const piece of reply) {
      this.#batch.push(piece);
      this.#batchBytes += piece.length;
    }
    if (this.#isFlushScheduled) return;
    this.#isFlushScheduled = true;
    process.nextTick(() => this.#flush());
  }

  /** OpenSSH's client hangs at its end unless EOF is answered with an exit status and CLOSE. */
  end({ exitStatus, text }: Farewell): void {
    if (this.#isOver) return;
    this.#flush();
    this.#isOver = true;
    if (text !== undefined) this.#channel.stderr.write(text);
    this.#channel.exit(exitStatus);
    this.#channel.end();
  }

  #flush(): void {
    this.#isFlushScheduled = false;
    if (this.#batchBytes === 0 || this.#isOver) return;
    const [first] = this.#batch;
    const isSingle = this.#batch.length === 1 && first !== undefined;
    const bytes = isSingle ? first : Buffer.concat(this.#batch, this.#batchBytes);
    this.#batch = [];
    this.#batchBytes = 0;
    const waitingBefore = this.#socket.writableLength;
    // Corked, because the library writes each encrypted packet in three pieces.
    this.#socket.cork();
    try {
      this.#channel.write(bytes);
      const isBlockedByWindow = this.#channel.writableLength > 0;
      this.#isHeldByKeyExchange ||= !isBlockedByWindow && this.#socket.writableLength === waitingBefore;
    } finally {
      this.#socket.uncork();
    }
  }
}
