/**
 * Sends text that is made while it goes out, part by part, as fast as the client takes it.
 *
 *   first part made -> head sent -> streamed -> ended
 *         \_> refused
 *
 * A failure before the head is answered like any other. One behind it destroys the connection: the last chunk is missing
 * then, so the client sees that the answer is not whole.
 */
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { systemCodeOf } from "../../../../lib/errors.ts";
import type { PartsBody } from "../answer.ts";
import { leavingCodes, type Streamed } from "./file-answer.ts";

export interface PartsToSend extends PartsBody {
  /** Sends the head; called when the first part is there. */
  readonly begin: () => void;
  /** Answers with the failure instead, when the head has not been sent. */
  readonly refuse: (failure: unknown) => Streamed;
}

type Parts = AsyncIterator<string, unknown>;

async function* from(first: IteratorResult<string, unknown>, rest: Parts, count: (bytes: number) => void) {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) {
      const bytes = Buffer.from(next.value);
      count(bytes.length);
      yield bytes;
    }
  } finally {
    await rest.return?.();
  }
}

/** Never rejects. */
export async function sendParts(
  response: ServerResponse,
  { parts, begin, refuse }: PartsToSend,
): Promise<Streamed> {
  const rest: Parts = parts[Symbol.asyncIterator]();
  let first: IteratorResult<string, unknown>;
  try {
    first = await rest.next();
  } catch (failure) {
    return refuse(failure);
  }
  let bytes = 0;
  const count = (more: number) => {
    bytes += more;
  };
  try {
    begin();
    await pipeline(from(first, rest, count), response);
    return { status: response.statusCode, bytes };
  } catch (failure) {
    response.destroy();
    const isGone = leavingCodes.has(systemCodeOf(failure) ?? "");
    return { status: response.statusCode, bytes, ...(isGone ? {} : { failure }) };
  }
}
