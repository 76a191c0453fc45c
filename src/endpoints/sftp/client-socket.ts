/** The socket of one SSH client, under the SSH library: what it writes leaves together, and what it reads is bounded. */
import type { Socket } from "node:net";

/** Reads no more from a client while more bytes of unread replies than this wait in its socket. */
const maxBacklogBytes = 16 * 1024 * 1024;

export interface ClientSocketEvents {
  /** A chunk, just before the SSH library sees it. */
  data(chunk: Buffer): void;
  /** The socket has sent what waited in it. */
  drained(): void;
  failed(error: Error): void;
  closed(): void;
}

export class ClientSocket {
  readonly #socket: Socket;
  readonly #events: ClientSocketEvents;
  #isPaused = false;

  constructor(socket: Socket, events: ClientSocketEvents) {
    this.#socket = socket;
    this.#events = events;
    socket.on("error", (error) => events.failed(error));
    socket.on("close", () => events.closed());
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    socket.on("drain", () => this.#drained());
  }

  pause(): void {
    this.#socket.pause();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    // All that the library writes in answer to this chunk leaves together.
    this.#socket.cork();
    process.nextTick(() => this.#socket.uncork());
    if (this.#socket.writableLength > maxBacklogBytes) {
      this.#isPaused = true;
      this.#socket.pause();
    }
    this.#events.data(chunk);
  }

  #drained(): void {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#socket.resume();
    }
    this.#events.drained();
  }
}
