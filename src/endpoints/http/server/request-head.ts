/** Checks of a request's head that node:http does not make: for parts that two programs on the way could read differently. */
import type { IncomingMessage } from "node:http";
import { HttpRefusal } from "./http-refusal.ts";

/** Node keeps the first of these and silently drops the rest; a proxy before us may have taken the last. */
const onceOnly = new Set([
  "host",
  "authorization",
  "content-type",
  "content-length",
  "transfer-encoding",
  "expect",
]);

const hostForm = /^[A-Za-z0-9._~%:[\]-]*$/;

function badHead(message: string): HttpRefusal {
  return new HttpRefusal("wrongType", message, { headers: { connection: "close" } });
}

function checkRepeated(rawHeaders: readonly string[]): void {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? "").toLowerCase();
    if (!onceOnly.has(name)) continue;
    if (seen.has(name)) throw badHead(`the header ${name} stands twice. Send it once.`);
    seen.add(name);
  }
}

/** A request line without a version is HTTP/0.9, whose clients cannot read an answer with a head. */
function checkVersion({ httpVersion }: IncomingMessage): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0")
    throw badHead("the request line has no HTTP version that is taken. Send HTTP/1.1.");
}

function checkHost(request: IncomingMessage): void {
  const { host } = request.headers;
  if (host === undefined && request.httpVersion === "1.1") throw badHead("the Host header is missing.");
  if (host !== undefined && !hostForm.test(host))
    throw badHead("the Host header is not a host name with a port.");
}

function checkFraming(request: IncomingMessage): void {
  const { "transfer-encoding": encoding, "content-length": length, expect } = request.headers;
  if (encoding !== undefined && (length !== undefined || encoding.toLowerCase() !== "chunked"))
    throw badHead("the only Transfer-Encoding that is taken is chunked, without a Content-Length.");
  if (encoding !== undefined && request.httpVersion !== "1.1")
    throw badHead("HTTP/1.0 has no Transfer-Encoding. Send a Content-Length.");
  if (expect !== undefined && expect.toLowerCase() !== "100-continue")
    throw badHead("the only expectation that is met is 100-continue.");
}

/** Throws 902 (400), closing the connection, for a head that could mean two things. */
export function checkHead(request: IncomingMessage): void {
  checkVersion(request);
  checkRepeated(request.rawHeaders);
  checkHost(request);
  checkFraming(request);
}
