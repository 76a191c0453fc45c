import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { waitFor } from "../../test/support/wait-for.ts";
import { createLimitedLog } from "../lib/limited-log.ts";
import { createLogger } from "../lib/log.ts";
import { readHeldReport, startHeldReports } from "./held-report.ts";

describe("the report of the daemon", () => {
  const failing = createLimitedLog(createLogger({ level: "silent" }));
  const held = { company: "ACME", files: [], keptBack: [] };

  test("is there while there is something to tell, for those who ask about the process that wrote it", async () => {
    const stateDir = temporaryFolder();
    const stop = startHeldReports({
      stateDir,
      current: () => ({ companies: [held], troubles: ["x"] }),
      failing,
    });
    await waitFor("the report", async () => (await readHeldReport(stateDir, process.pid)) !== undefined);
    expect(await readHeldReport(stateDir, process.pid)).toEqual({
      ...{ pid: process.pid, companies: [held], troubles: ["x"] },
    });
    expect(await readHeldReport(stateDir, process.pid + 1)).toBeUndefined();
    expect(await readHeldReport(stateDir, undefined)).toBeUndefined();
    await stop();
    expect(readdirSync(stateDir)).toEqual([]);
  });

  test("of another run is removed when there is nothing to tell", async () => {
    const stateDir = temporaryFolder();
    writeFileSync(join(stateDir, "dropgate.held.json"), "{}");
    const stop = startHeldReports({ stateDir, current: () => ({ companies: [], troubles: [] }), failing });
    await waitFor("it to be gone", () => readdirSync(stateDir).length === 0);
    await stop();
  });
});
