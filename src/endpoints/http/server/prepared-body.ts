/** Bodies that were compressed beforehand, and which form of one a client gets (RFC 9110, section 12.5.3). */
import type { IncomingHttpHeaders } from "node:http";
import type { PreparedBody } from "./answer.ts";
import { isKnownToClient } from "./byte-range.ts";

/** How a body may be coded. */
export type Encoding = keyof PreparedBody["forms"];

/** The smallest first. */
const preferred: readonly Encoding[] = ["br", "gzip", "identity"];

/** The weight of each coding that the client names; 0 refuses it. */
function weightsOf(header: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  for (const part of header.split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    const weight = parameters.find((text) => text.startsWith("q="));
    weights.set(name, weight === undefined ? 1 : Number(weight.slice(2)));
  }
  return weights;
}

/** The smallest form that the client takes; the untouched one when it names none that we have. */
export function encodingFor(header: string | string[] | undefined): Encoding {
  if (header === undefined) return "identity";
  const weights = weightsOf(String(header));
  const other = weights.get("*") ?? 0;
  return preferred.find((name) => (weights.get(name) ?? other) > 0) ?? "identity";
}

export interface PreparedAnswer {
  readonly status: 200 | 304;
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when the client has it. */
  readonly data: Uint8Array;
}

/** What is sent of a prepared body to a client with these headers. Each form has an ETag of its own, as it must. */
export function selectForm(headers: IncomingHttpHeaders, { etag, forms }: PreparedBody): PreparedAnswer {
  const encoding = encodingFor(headers["accept-encoding"]);
  const ownTag = `"${etag}-${encoding}"`;
  const always = { etag: ownTag, vary: "Accept-Encoding" };
  if (isKnownToClient(headers["if-none-match"], ownTag))
    return { status: 304, headers: always, data: new Uint8Array() };
  const encoded = encoding === "identity" ? {} : { "content-encoding": encoding };
  return { status: 200, headers: { ...always, ...encoded }, data: forms[encoding] };
}
