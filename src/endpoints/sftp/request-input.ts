/** The input of one SFTP session: packets become requests. Nothing but INIT is taken at first. */
import { BrokenStream, PacketReader } from "./packet-reader.ts";
import { readRequest, type SftpRequest } from "./request.ts";

export interface RequestInputEvents {
  /** INIT has come. */
  opened(): void;
  request(request: SftpRequest): void;
}

export class RequestInput {
  readonly #events: RequestInputEvents;
  readonly #reader = new PacketReader();
  #isOpened = false;

  constructor(events: RequestInputEvents) {
    this.#events = events;
  }

  /** Throws `BrokenStream` when the stream breaks the protocol. */
  push(chunk: Buffer): void {
    this.#reader.push(chunk, (packet) => this.#take(packet));
  }

  /** The request is done: the memory of its packet can be used again. */
  giveBack(bytes: Uint8Array): void {
    this.#reader.giveBack(bytes);
  }

  /** Keeps no memory for packets to come. */
  dropSpare(): void {
    this.#reader.dropSpare();
  }

  #take(packet: Buffer): void {
    const request = readRequest(packet);
    if (this.#isOpened && request.kind !== "init") {
      this.#events.request(request);
      return;
    }
    if (this.#isOpened || request.kind !== "init")
      throw new BrokenStream(this.#isOpened ? "INIT came twice" : "the first packet is not INIT");
    this.#isOpened = true;
    this.#events.opened();
  }
}
