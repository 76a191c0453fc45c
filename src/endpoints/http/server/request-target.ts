/**
 * Reads the target of a request (RFC 9112, origin form and absolute form) into decoded path segments and query parameters.
 *
 * Decodes everything exactly once. Refuses what two programs on the way could read differently (encoded slashes, dot
 * segments, NUL) instead of normalising it.
 */
import { HttpRefusal } from "./http-refusal.ts";

export interface RequestTarget {
  readonly segments: readonly string[];
  /** Raw query without the question mark; empty when there is none. */
  readonly query: string;
}

export interface QueryParameter {
  readonly name: string;
  readonly value: string;
}

const maxQueryParameters = 200;
const visible = /^[\x21-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: this pattern finds control characters.
const forbiddenInSegment = /[\u0000-\u001f\u007f/\\]/;

function badTarget(message: string): HttpRefusal {
  return new HttpRefusal("wrongType", message);
}

function decodeOnce(text: string, what: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw badTarget(
      `${what} has a percent escape that is not UTF-8. Encode it once, as %XX of its UTF-8 bytes.`,
    );
  }
}

function decodeSegment(raw: string): string {
  const segment = decodeOnce(raw, "the path");
  if (forbiddenInSegment.test(segment)) {
    throw badTarget(
      "a part of the path contains a slash, a backslash or a control character. Send plain names.",
    );
  }
  if (segment === "." || segment === "..")
    throw badTarget("the path contains . or .. as a part. Send the plain path.");
  return segment;
}

const absoluteForm = /^https?:\/\/[A-Za-z0-9._~%:[\]-]+(?=[/?]|$)/i;

/**
 * The path and query of a target. Clients that take this server for a proxy send the absolute form, which every server has to
 * accept (RFC 9112, 3.2.2); its authority is ignored, like the Host header.
 */
export function originFormOf(url: string): string {
  if (url.startsWith("/")) return url;
  const rest = url.replace(absoluteForm, "");
  if (rest === url) return url;
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** Reads the target. One trailing slash is tolerated. Throws 902 (400) for a target that is not plainly a path. */
export function readRequestTarget(target: string): RequestTarget {
  const url = originFormOf(target);
  if (!url.startsWith("/")) throw badTarget("the request target must be a path that starts with a slash.");
  if (!visible.test(url) || url.includes("#"))
    throw badTarget("the request target contains characters that must be percent-encoded.");
  const mark = url.indexOf("?");
  const path = mark === -1 ? url : url.slice(0, mark);
  const end = path.length > 1 && path.endsWith("/") ? path.length - 1 : path.length;
  const segments = path.slice(1, end).split("/");
  for (let index = 0; index < segments.length; index += 1) {
    const raw = segments[index] ?? "";
    segments[index] = decodeSegment(raw);
  }
  return { segments, query: mark === -1 ? "" : url.slice(mark + 1) };
}

/** The parameters in order, with repeated names. Throws 902 for broken escapes, 909 for more than 200 parameters. */
export function readQuery(query: string): readonly QueryParameter[] {
  if (query === "") return [];
  const parts = query.split("&").filter((part) => part !== "");
  if (parts.length > maxQueryParameters) {
    throw new HttpRefusal(
      "tooLarge",
      `the query has more than ${maxQueryParameters} parameters. Send fewer.`,
    );
  }
  return parts.map((part) => {
    const equals = part.indexOf("=");
    const name = equals === -1 ? part : part.slice(0, equals);
    const value = equals === -1 ? "" : part.slice(equals + 1);
    return {
      name: decodeOnce(name.replaceAll("+", " "), "the query"),
      value: decodeOnce(value.replaceAll("+", " "), "the query"),
    };
  });
}
