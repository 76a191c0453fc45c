import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Answer, htmlType } from "../answer.ts";
import { packedPage } from "./packed-page.ts";

const text = "<tr><td>ü</td></tr>".repeat(500);
const page: Answer = { status: 200, headers: { "x-a": "b" }, contentType: htmlType, body: text };

const bytesOf = ({ body }: Answer) => {
  if (!(body instanceof Uint8Array)) throw new Error("the page is not compressed");
  return body;
};

describe("a page", () => {
  test.each([
    ["gzip, deflate", "gzip", gunzipSync],
    ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
  ] as const)("is compressed for who takes %s", async (accepted, encoding, unpack) => {
    const packed = await packedPage(page, { "accept-encoding": accepted });
    const headers = { "x-a": "b", vary: "Accept-Encoding", "content-encoding": encoding };
    expect(packed).toMatchObject({ status: 200, contentType: htmlType, headers });
    expect(String(unpack(bytesOf(packed)))).toBe(text);
    expect(bytesOf(packed).length).toBeLessThan(text.length / 10);
  });

  test.each([{}, { "accept-encoding": "identity" }, { "accept-encoding": "gzip;q=0" }])(
    "is as it is for who takes nothing else (%j)",
    async (headers) => {
      const { body, headers: sent } = await packedPage(page, headers);
      expect([body, sent]).toEqual([text, { "x-a": "b", vary: "Accept-Encoding" }]);
    },
  );

  test.each(["short", new Uint8Array(10_000)])("that is short, or no text, is as it is", async (body) => {
    const given = { ...page, body };
    expect(await packedPage(given, { "accept-encoding": "gzip" })).toBe(given);
  });
});
