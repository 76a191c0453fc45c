import { describe, expect, it } from "vitest";
import type { PreparedBody } from "./answer.ts";
import { selectForm } from "./prepared-body.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const body: PreparedBody = {
  etag: "abc",
  forms: { identity: bytes("plain"), gzip: bytes("zipped"), br: bytes("small") },
};
const sent = (accepted: string | undefined, known?: string) => {
  const headers = {
    ...(accepted === undefined ? {} : { "accept-encoding": accepted }),
    ...(known === undefined ? {} : { "if-none-match": known }),
  };
  const { status, headers: head, data } = selectForm(headers, body);
  return {
    status,
    encoding: head["content-encoding"],
    etag: head["etag"],
    text: new TextDecoder().decode(data),
  };
};

describe("a body that was compressed beforehand", () => {
  it.each([
    [undefined, "plain"],
    ["", "plain"],
    ["gzip, deflate, br, zstd", "small"],
    ["gzip;q=0.8", "zipped"],
    ["br;q=0, gzip", "zipped"],
    ["*", "small"],
    ["br;q=0, *;q=0.5", "zipped"],
    ["GZIP", "zipped"],
    ["deflate", "plain"],
    ["gzip;q=nonsense", "plain"],
  ])("goes out for Accept-Encoding %s as the smallest form that is taken", (accepted, text) => {
    expect(sent(accepted).text).toBe(text);
  });

  it("has an ETag for each form, and is not sent again to who has that form", () => {
    expect(sent("br")).toEqual({ status: 200, encoding: "br", etag: '"abc-br"', text: "small" });
    expect(sent("br", 'W/"abc-br"')).toEqual({
      status: 304,
      encoding: undefined,
      etag: '"abc-br"',
      text: "",
    });
    expect(sent("gzip", '"abc-br"').text).toBe("zipped");
  });

  it("tells proxies on what its form depends", () => {
    expect(selectForm({}, body).headers["vary"]).toBe("Accept-Encoding");
  });
});
