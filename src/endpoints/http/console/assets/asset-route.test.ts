import { get } from "node:http";
import { createBrotliDecompress } from "node:zlib";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type HttpFixture, startHttp } from "../../../../../test/support/http-fixture.ts";
import { assetPath, type AssetName, findAsset } from "./assets.ts";

const names: readonly AssetName[] = [
  ...["console.css", "theme.js", "console.js", "icon.svg", "htmx.min.js", "docs.css", "docs.js"],
  ...["idiomorph-ext.min.js", "uPlot.iife.min.js", "uPlot.min.css"],
] as const;

let http: HttpFixture;

beforeAll(async () => {
  http = await startHttp({ basePath: "/rest" });
});
afterAll(() => http.close());

function unpacked(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { "accept-encoding": "br", connection: "close" };
    get({ host: "127.0.0.1", port, path, headers }, (answer) => {
      buffer(answer.pipe(createBrotliDecompress())).then((bytes) => resolve(String(bytes)), reject);
    }).on("error", reject);
  });
}

describe("what pages load", () => {
  it.each(names)("%s comes as it lies there, for good, without a sign-in", async (name) => {
    const path = assetPath("/rest", name);
    const reply = await ask(http.port, "GET", path);
    expect(reply.status).toBe(200);
    expect(reply.body).toBe(String(findAsset(name)?.content));
    expect(reply.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(reply.headers["content-type"]).toBe(findAsset(name)?.type);
    expect(reply.headers["x-content-type-options"]).toBe("nosniff");
  });

  it("comes compressed to who takes that, and not again to who has it", async () => {
    const path = assetPath("", "htmx.min.js");
    expect(await unpacked(http.port, path)).toBe(String(findAsset("htmx.min.js")?.content));
    const headers = { "accept-encoding": "gzip, br" };
    const first = await ask(http.port, "GET", path, { headers });
    expect(first.headers["content-encoding"]).toBe("br");
    expect(Number(first.headers["content-length"])).toBeLessThan(18_000);
    const known = { ...headers, "if-none-match": first.headers.etag ?? "" };
    const again = await ask(http.port, "GET", path, { headers: known });
    expect([again.status, again.body, again.headers["content-type"]]).toEqual([304, "", undefined]);
  });

  it("of a page from before an update comes as it is now, and is not kept", async () => {
    const reply = await ask(http.port, "GET", "/console/assets/0123456789abcdef/console.css");
    expect([reply.status, reply.headers["cache-control"]]).toEqual([200, "no-cache"]);
  });

  it.each(["package.json", "htmx.js", "..%2f..%2fpackage.json", "__proto__", "constructor"])(
    "has no %s",
    async (name) => {
      const { status, body } = await ask(http.port, "GET", `/console/assets/1/${name}`);
      expect([status, body]).not.toContain(200);
      expect([400, 404]).toContain(status);
    },
  );

  it("loads nothing from elsewhere", () => {
    for (const name of names.slice(0, 3))
      expect(String(findAsset(name)?.content)).not.toMatch(/https?:|@import|url\(/);
  });
});
