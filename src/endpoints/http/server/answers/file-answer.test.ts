import { createHash } from "node:crypto";
import { truncateSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type Ask,
  ask,
  basic,
  type HttpFixture,
  reasonsOf,
  scripted,
  sendRaw,
  startHttp,
} from "../../../../../test/support/http-fixture.ts";
import { findLegacyDocument } from "../../../../operations/legacy/legacy-document.ts";
import { openFiles } from "../../../../../test/support/open-files.ts";
import { temporaryFolder } from "../../../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../../../test/support/wait-for.ts";

const content = "0123456789";
const etag = `"${createHash("sha256").update(content).digest("hex")}"`;
const target = (name: string) => `/API/Document/${name}/acme`;
let http: HttpFixture;
let found: { path: string; size: number; name: string | null };

beforeEach(async () => {
  const document = scripted(findLegacyDocument, async () => ({
    ...{ ...found, guid: "guid", sha256: etag.slice(1, -1) },
  }));
  http = await startHttp({ basePath: "/rest" }, { scripts: [document] });
});
afterEach(() => http.close());

function file(bytes: string, name: string | null = "bol.pdf"): string {
  const path = join(temporaryFolder(), "content");
  writeFileSync(path, bytes);
  found = { path, size: bytes.length, name };
  return path;
}

const fetchFile = (headers: Record<string, string> = {}, more: Ask = {}) =>
  ask(http.port, "GET", target("guid"), { user: "host", headers, ...more });

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly status?: number;
  readonly bytesOut?: number;
}

/** What was logged of this many requests, in order, when all of it is there. */
function logged(requests: number): Promise<Line[]> {
  return waitFor("the lines of the requests", () => {
    const lines = http.log
      .map((line) => JSON.parse(line) as Line)
      .filter(({ msg }) => /^http (req|ans)/.test(msg));
    return lines.filter(({ msg }) => msg === "http request").length === requests ? lines : undefined;
  });
}

describe("a file as an answer", () => {
  it("is given whole, with its name, its length and what it is known by", async () => {
    file(content);
    const reply = await fetchFile();
    expect([reply.status, reply.body]).toEqual([200, content]);
    expect(reply.headers).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": "10",
      "content-disposition": 'attachment; filename="bol.pdf"',
      "accept-ranges": "bytes",
      "cache-control": "private, no-cache",
      "x-content-type-options": "nosniff",
      etag,
    });
    expect(await logged(1)).toMatchObject([{ status: 200, bytesOut: 10 }]);
  });

  it("answers below the base path too", async () => {
    file(content);
    const reply = await ask(http.port, "GET", "/rest/api/document/guid/ACME", { user: "host" });
    expect(reply.body).toBe(content);
  });

  it("is given in part", async () => {
    file(content);
    const reply = await fetchFile({ range: "bytes=2-4" });
    expect([reply.status, reply.body]).toEqual([206, "234"]);
    expect(reply.headers).toMatchObject({ "content-range": "bytes 2-4/10", "content-length": "3", etag });
    expect(await logged(1)).toMatchObject([{ status: 206, bytesOut: 3 }]);
    expect((await fetchFile({ range: "bytes=-4" })).body).toBe("6789");
    const several = await fetchFile({ range: "bytes=0-1,3-4" });
    expect([several.status, several.body]).toEqual([200, content]);
  });

  it("says that a part behind its end is not there", async () => {
    file(content);
    const reply = await fetchFile({ range: "bytes=10-" });
    expect([reply.status, reply.body]).toEqual([416, ""]);
    expect(reply.headers).toMatchObject({ "content-range": "bytes */10", "content-length": "0" });
  });

  it("goes on only with the same content", async () => {
    file(content);
    const same = await fetchFile({ range: "bytes=8-", "if-range": etag });
    const other = await fetchFile({ range: "bytes=8-", "if-range": '"other"' });
    expect([same.status, same.body, other.status, other.body]).toEqual([206, "89", 200, content]);
  });

  it("is not sent again to who has it", async () => {
    file(content);
    const reply = await fetchFile({ "if-none-match": etag });
    expect([reply.status, reply.body, reply.headers.etag]).toEqual([304, "", etag]);
    expect(reply.headers["content-length"]).toBeUndefined();
  });

  it("has a head of its own, for which nothing is opened", async () => {
    file(content);
    found = { ...found, path: "/nowhere" };
    const reply = await ask(http.port, "HEAD", target("guid"), { user: "host" });
    expect([reply.status, reply.body]).toEqual([200, ""]);
    expect(reply.headers).toMatchObject({ "content-length": "10", etag });
  });

  it("may be empty", async () => {
    file("");
    const reply = await fetchFile();
    expect([reply.status, reply.body, reply.headers["content-length"]]).toEqual([200, "", "0"]);
  });

  it("leaves the connection usable for the next request", async () => {
    file(content);
    const head = `GET ${target("guid")} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("host")}\r\n`;
    const requests = ["Range: bytes=0-1", "Range: bytes=99-", "Range: bytes=-1\r\nConnection: close"];
    const answers = await sendRaw(http.port, requests.map((more) => `${head}${more}\r\n\r\n`).join(""));
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 206", "HTTP/1.1 416", "HTTP/1.1 206"]);
    expect(answers).toMatch(/\r\n\r\n01HTTP[\s\S]*\r\n\r\n9$/);
  });

  it("is for the role and the company only", async () => {
    file(content);
    const statuses = [
      (await ask(http.port, "GET", target("guid"))).status,
      (await ask(http.port, "GET", target("guid"), { user: "viewer" })).status,
      (await ask(http.port, "GET", "/api/document/guid/OTHER", { user: "host" })).status,
    ];
    expect(statuses).toEqual([401, 403, 401]);
    const unknown = await fetchFile({}, { path: `${target("guid")}?x=1` });
    expect(reasonsOf(unknown)).toEqual([910]);
  });
});

describe("a file that cannot be sent to its end", () => {
  it("is given up without a word when the client leaves, and closed", async () => {
    const path = file("");
    truncateSync(path, 200_000_000);
    found = { ...found, size: 200_000_000 };
    await new Promise<void>((resolve) => {
      const headers = { authorization: basic("host") };
      const options = {
        host: "127.0.0.1",
        port: http.port,
        path: target("guid"),
        headers,
        agent: false,
      } as const;
      const outgoing = get(options, (answer) => answer.once("data", () => outgoing.destroy()));
      outgoing.on("error", () => undefined).on("close", () => resolve());
    });
    const lines = await logged(1);
    expect(lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(lines.at(-1)).toMatchObject({ msg: "http request", status: 200 });
    // What the sockets hold, and no more: the file waits for the client.
    expect(lines.at(-1)?.bytesOut).toBeLessThan(50_000_000);
    await waitFor("the file to be closed", () => !openFiles().includes(path));
  });

  it("breaks the connection when it is shorter than was announced", async () => {
    found = { ...found, path: file(content), size: 20 };
    await expect(fetchFile()).rejects.toThrow("aborted");
    expect(await logged(1)).toMatchObject([{ level: "error" }, { status: 200, bytesOut: 10 }]);
  });

  it("breaks the connection when it cannot be read on, behind what has gone out", async () => {
    const path = file("x".repeat(100_000));
    found = { ...found, path, size: 100_001 };
    await expect(fetchFile()).rejects.toThrow("aborted");
    expect(await logged(1)).toMatchObject([{ level: "error" }, { status: 200, bytesOut: 100_000 }]);
  });
});

describe("a file of which nothing can be sent", () => {
  it("is answered with an internal error when it has vanished", async () => {
    found = { path: join(temporaryFolder(), "none"), size: 20, name: null };
    const reply = await fetchFile();
    expect([reply.status, reasonsOf(reply)]).toEqual([500, [998]]);
    expect(reply.headers).not.toHaveProperty("etag");
    expect(await logged(1)).toMatchObject([{ level: "error", msg: "http request failed" }, { status: 500 }]);
  });

  it("is answered with 503 when the disk is at fault, and the next request is answered", async () => {
    // At its begin this file can be opened and not be read: EIO, as of a disk that fails.
    found = { path: "/proc/self/mem", size: 20, name: null };
    const head = `GET ${target("guid")} HTTP/1.1\r\nHost: x\r\nAuthorization: ${basic("host")}\r\n`;
    const answers = await sendRaw(http.port, `${head}\r\n${head}Connection: close\r\n\r\n`);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 503", "HTTP/1.1 503"]);
    expect(answers).toMatch(/retry-after: 5/i);
    expect(answers.match(/"reasonCode":999/g)).toHaveLength(2);
    expect((await logged(2)).map(({ level }) => level)).not.toContain("error");
  });
});
