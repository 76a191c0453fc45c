/** The part of a representation that a GET wants, if it wants one at all (RFC 9110, sections 13 and 14). */
import type { IncomingHttpHeaders } from "node:http";
import type { FileBody } from "./answer.ts";

export type Selection =
  | { readonly kind: "whole" }
  /** `length` bytes from `start`, at least one. */
  | { readonly kind: "part"; readonly start: number; readonly length: number }
  | { readonly kind: "unsatisfiable" }
  | { readonly kind: "notModified" };

const rangeForm = /^bytes\s*=\s*(?:(\d+)-(\d*)|-(\d+))\s*$/i;

/** If-None-Match compares weakly. */
export function isKnownToClient(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes("*") || tags.includes(etag);
}

function partOf(start: number, end: number, size: number): Selection {
  if (start >= size) return { kind: "unsatisfiable" };
  return { kind: "part", start, length: Math.min(end, size - 1) - start + 1 };
}

/** Several ranges, other units and invalid ranges are ignored, as the standard allows: the answer is the whole. */
function rangeOf(header: string, size: number): Selection {
  const [, first, last, suffix] = rangeForm.exec(header) ?? [];
  if (suffix !== undefined) {
    if (Number(suffix) === 0) return { kind: "unsatisfiable" };
    return partOf(Math.max(0, size - Number(suffix)), size - 1, size);
  }
  if (first === undefined) return { kind: "whole" };
  const end = last === undefined || last === "" ? Number.POSITIVE_INFINITY : Number(last);
  if (end < Number(first)) return { kind: "whole" };
  return partOf(Number(first), end, size);
}

/** The part of the representation that answers a GET or HEAD with these headers. HEAD has no ranges. */
export function selectPart(
  method: string | undefined,
  headers: IncomingHttpHeaders,
  { size, etag }: Pick<FileBody, "size" | "etag">,
): Selection {
  if (isKnownToClient(headers["if-none-match"], etag)) return { kind: "notModified" };
  const { range } = headers;
  const condition = headers["if-range"];
  // A date in If-Range never fits: there is no Last-Modified to compare it with.
  const isWanted = typeof condition !== "string" || condition.trim() === etag;
  if (method !== "GET" || range === undefined || !isWanted) return { kind: "whole" };
  return rangeOf(range, size);
}
