/** A host that sends over SFTP and drops into the folder: what was answered first is in line first, whichever way it came. */
import { renameSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Site } from "../support/daemon.ts";
import { put, receiptFor, stopFile } from "../support/stop-files.ts";

let site: Site;

beforeAll(async () => {
  // A file that is dropped is taken at once.
  site = await Site.make({ inbound: { settleMs: 0, scanMs: 500 } });
  await site.start();
});
afterAll(() => site.end());

test("the last uploads of a burst are applied before a file that is dropped when they are answered", async () => {
  const rounds = 5;
  for (let round = 0; round < rounds; round += 1) {
    const others = Array.from({ length: 60 }, (_, index) => stopFile(`B${round}${index}`));
    const [uploaded, dropped] = [
      stopFile(`W${round}`, { time: "080000" }),
      stopFile(`W${round}`, { time: "080001" }),
    ];
    await writeFile(site.path("inbound", `.${dropped.name}`), dropped.content);
    await put(site, ...others, uploaded);
    renameSync(site.path("inbound", `.${dropped.name}`), site.path("inbound", dropped.name));
    for (const { name } of [uploaded, dropped])
      expect(await receiptFor(site, name), name).toMatchObject({ status: 10 });
  }
});
