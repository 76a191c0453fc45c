/**
 * `copy … from stdin`: rows as text, without an answer to each. The client of `pg` passes on what the server says to whatever
 * was submitted to it; the calls of its connection are those that streams of rows use.
 */
import { once } from "node:events";
import type { Duplex } from "node:stream";
import type pg from "pg";

interface CopyConnection {
  readonly stream: Duplex;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

function deferred<T>() {
  const made = Promise.withResolvers<T>();
  // Whoever waits for it gets the error, and nobody has to wait for both.
  made.promise.catch(() => undefined);
  return made;
}

/** One such statement, from its submission to the answer of the server. */
export class CopyIn {
  readonly #text: string;
  readonly #begun = deferred<CopyConnection>();
  readonly #done = deferred<void>();

  constructor(text: string) {
    this.#text = text;
  }

  submit(connection: pg.Connection): void {
    connection.query(this.#text);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    this.#begun.resolve(connection);
  }

  handleCommandComplete(): void {
    // The client is free only with `handleReadyForQuery`.
  }

  handleReadyForQuery(): void {
    this.#done.resolve();
  }

  handleError(error: unknown): void {
    this.#begun.reject(error);
    this.#done.reject(error);
  }

  /** Sends lines of rows; resolves when the server has taken all of them. */
  async take(chunks: AsyncIterable<string>): Promise<void> {
    const connection = await this.#begun.promise;
    try {
      for await (const chunk of chunks) await this.#send(connection, chunk);
    } catch (error) {
      connection.sendCopyFail("the rows cannot be read");
      await this.#done.promise.catch(() => undefined);
      throw error;
    }
    connection.endCopyFrom();
    await this.#done.promise;
  }

  async #send(connection: CopyConnection, chunk: string): Promise<void> {
    connection.sendCopyFromChunk(Buffer.from(chunk));
    const { stream } = connection;
    // A server that has refused a row takes no more of them.
    if (stream.writableNeedDrain) await Promise.race([once(stream, "drain"), this.#done.promise]);
  }
}
