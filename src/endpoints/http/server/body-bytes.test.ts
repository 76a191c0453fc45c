import { once } from "node:events";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { bodyAtHand } from "./body-bytes.ts";

const limits = { maxBodyBytes: 1_000, requestTimeoutMs: 1_000 };

/** A request of which the head and this part of the body have come, and not yet the word that it is complete. */
function requestWith(headers: Readonly<Record<string, string>>, part: string): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  if (part !== "") request.push(Buffer.from(part));
  return request;
}

it("a body that has come with its head is at hand before Node.js tells that the request is complete", () => {
  const request = requestWith({ "content-length": "4" }, "body");
  expect(request.complete).toBe(false);
  expect(bodyAtHand(request, limits)?.toString()).toBe("body");
});

it("the end of a body that was at hand is noticed, so that nothing keeps the request", async () => {
  const request = requestWith({ "content-length": "4" }, "body");
  bodyAtHand(request, limits);
  const ended = once(request, "end");
  request.push(null);
  await ended;
});

it.each([
  ["of which a part has come", { "content-length": "5" }, "body"],
  ["of which nothing has come", { "content-length": "5" }, ""],
  ["without an announced length", { "transfer-encoding": "chunked" }, "body"],
  ["that is sent only when it is asked for", { "content-length": "4", expect: "100-continue" }, "body"],
  ["that is too large", { "content-length": "1001" }, "x".repeat(1_001)],
])("a body %s is waited for", (_, headers, part) => {
  expect(bodyAtHand(requestWith(headers, part), limits)).toBeUndefined();
});
