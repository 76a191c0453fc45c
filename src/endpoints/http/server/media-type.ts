import type { IncomingHttpHeaders } from "node:http";
import { HttpRefusal } from "./http-refusal.ts";

interface MediaType {
  readonly type: string;
  readonly charset: string | undefined;
}

/** As lenient as real hosts need it: any case, spaces, quotes, a trailing semicolon (`application/xml;`). */
function parseMediaType(header: string): MediaType {
  const [type = "", ...parameters] = header.split(";");
  let charset: string | undefined;
  for (const parameter of parameters) {
    const [name = "", value = ""] = parameter.split("=");
    if (name.trim().toLowerCase() === "charset") charset = value.trim().replaceAll(/["']/g, "").toLowerCase();
  }
  return { type: type.trim().toLowerCase(), charset };
}

export const xmlMedia: readonly string[] = ["application/xml", "text/xml"];

/** For XML its reader checks the encoding, and answers others with reason 957. */
const jsonCharsets: ReadonlySet<string> = new Set(["utf-8", "utf8", "us-ascii", ""]);

export function isXmlBody(headers: IncomingHttpHeaders): boolean {
  return xmlMedia.includes(parseMediaType(headers["content-type"] ?? "").type);
}

/**
 * Throws 942 (415) unless the body has one of the media types and a charset that the gateway reads, and is not compressed.
 *
 * @returns the charset that the header names, in lower case
 */
export function checkMediaType(
  headers: IncomingHttpHeaders,
  accepted: readonly string[],
  kind: "json" | "xml" | "form",
): string | undefined {
  const { type, charset } = parseMediaType(headers["content-type"] ?? "");
  if (!accepted.includes(type)) {
    const found = type === "" ? "there is no Content-Type" : `the Content-Type is ${type.slice(0, 100)}`;
    throw new HttpRefusal("mediaType", `${found}. Send Content-Type: ${accepted.join(" or ")}.`);
  }
  if (kind !== "xml" && charset !== undefined && !jsonCharsets.has(charset))
    throw new HttpRefusal("mediaType", `the charset ${charset.slice(0, 40)} is not supported. Send UTF-8.`);
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  if (encoding !== "identity" && encoding !== "") {
    throw new HttpRefusal(
      "mediaType",
      "a compressed body is not supported. Send it without Content-Encoding.",
    );
  }
  return charset;
}
