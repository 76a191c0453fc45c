import { truncateSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { join } from "node:path";
import { expect, it } from "vitest";
import { basic, scripted, startHttp } from "../../../../test/support/http-fixture.ts";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { findLegacyDocument } from "../../../operations/legacy/legacy-document.ts";

it("a stop lets a file that is being sent come to its end", async () => {
  const path = join(temporaryFolder(), "content");
  const size = 50_000_000;
  writeFileSync(path, "");
  truncateSync(path, size);
  const found = { path, size, name: null, guid: "guid", sha256: "0" };
  const http = await startHttp({}, { scripts: [scripted(findLegacyDocument, async () => found)] });
  let received = 0;
  const stopped = Promise.withResolvers<void>();
  const done = new Promise<void>((resolve, reject) => {
    const options = {
      host: "127.0.0.1",
      port: http.port,
      path: "/api/document/guid/ACME",
      headers: { authorization: basic("host") },
      agent: false,
    } as const;
    const outgoing = get(options, (answer) => {
      answer.on("error", reject).on("end", () => resolve());
      answer.once("data", () => {
        answer.pause();
        stopped.resolve(http.endpoint.stop(AbortSignal.timeout(10_000)));
        setImmediate(() => answer.resume());
      });
      answer.on("data", (chunk: Buffer) => {
        received += chunk.length;
      });
    });
    outgoing.on("error", reject);
  });
  await done;
  await stopped.promise;
  expect(received).toBe(size);
});
