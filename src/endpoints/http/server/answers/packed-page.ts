/** Pages as they go over a slow line: compressed when they are asked for, as far as the client takes that. */
import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Answer } from "../answer.ts";
import { type Encoding, encodingFor } from "../prepared-body.ts";

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** What is shorter goes out in one packet as it is. */
const leastBytes = 1_400;

/** The higher ones take several times as long for a few bytes of a hundred. */
const brotliParams = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const gzipLevel = { level: 4 };

/** In the threads of the runtime: a page of 100 kB takes a millisecond. */
function packed(body: Uint8Array, encoding: Exclude<Encoding, "identity">): Promise<Uint8Array> {
  return encoding === "br" ? compressBrotli(body, brotliParams) : compressGzip(body, gzipLevel);
}

/**
 * The page in the smallest form that the client takes; as it is when it is short, or no text. A page must hold no secret
 * that is the same each time beside a text that others choose: the length of the compressed page would tell it, letter by
 * letter.
 */
export async function packedPage(answer: Answer, headers: IncomingHttpHeaders): Promise<Answer> {
  const { body } = answer;
  if (typeof body !== "string" || body.length < leastBytes) return answer;
  const vary = { vary: "Accept-Encoding" };
  const encoding = encodingFor(headers["accept-encoding"]);
  if (encoding === "identity") return { ...answer, headers: { ...answer.headers, ...vary } };
  const coded = { ...vary, "content-encoding": encoding };
  return {
    ...answer,
    headers: { ...answer.headers, ...coded },
    body: await packed(Buffer.from(body), encoding),
  };
}
