import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ask, type HttpFixture, startHttp } from "../../../../test/support/http-fixture.ts";

/** Reported faults of the cleaner of texts were mended up to here. */
const leastCleaner = [3, 4];

const installed = dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
let http: HttpFixture;

beforeAll(async () => {
  http = await startHttp({ basePath: "/rest" });
});
afterAll(() => http.close());

describe("the API page", () => {
  it.each(["/docs", "/docs/", "/rest/docs"])("is at %s, without a sign-in", async (path) => {
    const reply = await ask(http.port, "GET", path);
    expect(reply.status).toBe(200);
    expect(reply.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(reply.body).toContain('data-document="/rest/openapi.json"');
  });

  it("allows nothing but what comes from this server", async () => {
    const { headers, body } = await ask(http.port, "GET", "/docs");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("connect-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(body).not.toMatch(/https?:|\/\/|<script>|style=| on\w+=/);
    const start = await ask(http.port, "GET", "/docs/start.js");
    expect(start.body).toContain("validatorUrl: null");
    expect(start.body).not.toMatch(/https?:/);
  });

  it("finds every file that it refers to, with its type", async () => {
    const { body } = await ask(http.port, "GET", "/docs");
    const paths = [...body.matchAll(/(?:src|href)="([^"#]+)"/g)]
      .map(([, path = ""]) => path)
      .filter((path) => path !== "/rest/console");
    const types: (string | undefined)[] = [];
    for (const path of paths) {
      const { status, headers } = await ask(http.port, "GET", path);
      expect(status, path).toBe(200);
      types.push(headers["content-type"]);
    }
    const script = "text/javascript; charset=utf-8";
    const style = "text/css; charset=utf-8";
    expect(types).toEqual(["image/png", style, style, script, script, script, script]);
  });

  it("serves the files as they were installed, and not again to who has them", async () => {
    const reply = await ask(http.port, "GET", "/rest/docs/swagger-ui-bundle.js");
    expect(reply.body).toBe(readFileSync(join(installed, "swagger-ui-bundle.js"), "utf8"));
    const { etag = "" } = reply.headers;
    const again = await ask(http.port, "GET", "/docs/swagger-ui-bundle.js", {
      headers: { "if-none-match": etag },
    });
    expect([again.status, again.body]).toEqual([304, ""]);
    const other = await ask(http.port, "GET", "/docs/swagger-ui.css", { headers: { "if-none-match": etag } });
    expect(other.status).toBe(200);
  });

  it.each([
    "/docs/package.json",
    "/docs/swagger-ui-bundle.js.map",
    "/docs/../docs/package.json",
    "/docs/..%2fpackage.json",
    "/docs/%2e%2e/package.json",
    "/docs/swagger-ui.css/x",
  ])("has no file %s", async (path) => {
    const { status, body } = await ask(http.port, "GET", path);
    expect([400, 404]).toContain(status);
    expect(body).toContain('"Reasons"');
  });
});

describe("the API document", () => {
  it("is the same at the root and below the base path, without a sign-in", async () => {
    const [root, below] = [
      await ask(http.port, "GET", "/openapi.json"),
      await ask(http.port, "GET", "/rest/openapi.json"),
    ];
    expect(root.headers["content-type"]).toBe("application/json");
    expect(root.headers["etag"]).toMatch(/^"[0-9a-f]{64}"$/);
    expect(below.body).toBe(root.body);
    const document = JSON.parse(root.body) as { openapi: string; servers: unknown; paths: object };
    expect(document).toMatchObject({ openapi: "3.1.0", servers: [{ url: "/rest" }] });
    expect(Object.keys(document.paths)).toContain("/v5/stop/info/{stopNbr}/{companyCode}");
    expect(Object.keys(document.paths)).not.toContain("/docs/start.js");
  });

  it("is that of its own server when another has another base path", async () => {
    const other = await startHttp();
    try {
      expect(JSON.parse((await ask(other.port, "GET", "/openapi.json")).body)).toMatchObject({
        servers: [{ url: "/" }],
      });
    } finally {
      await other.close();
    }
  });
});

it("the page is of a release whose cleaner of texts has no fault that was reported", () => {
  const bundle = readFileSync(join(installed, "swagger-ui-bundle.js"), "utf8");
  const [, major, minor] = /DOMPurify\.version="(\d+)\.(\d+)\./.exec(bundle) ?? [];
  expect([Number(major), Number(minor)]).toEqual([leastCleaner[0], expect.any(Number)]);
  expect(Number(minor)).toBeGreaterThanOrEqual(leastCleaner[1] ?? 0);
});

it("install scripts of packages, its telemetry among them, never run", () => {
  const settings = readFileSync(join(import.meta.dirname, "../../../../.npmrc"), "utf8");
  expect(settings.split("\n")).toContain("ignore-scripts=true");
});
