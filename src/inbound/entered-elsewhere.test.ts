import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { receiptName } from "../../test/support/stop-files.ts";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { systemClock } from "../lib/clock.ts";
import { createLogger } from "../lib/logs/log.ts";
import { createLimitedLog } from "../lib/logs/limited-log.ts";
import { StoreError } from "../lib/store-error.ts";
import type { EnteredAs } from "../store/cluster/arrivals.ts";
import { EnteredElsewhere } from "./entered-elsewhere.ts";
import { toWaitingFile } from "./lanes/waiting-file.ts";
import { FilingThread } from "./places/filing-thread.ts";
import { createLocations } from "./places/locations.ts";
import { receiptsOfOthers } from "./places/receipt-files.ts";

/** How long a network file system tells of a file what it has known (`actimeo=1`). */
const rememberedMs = 1_000;

test("an entry that was not answered, and may have been made, is tried again when no file is remembered that has gone since", async () => {
  const locations = createLocations(temporaryFolder());
  const inbound = locations.inboundDirectory("ACME");
  mkdirSync(inbound, { recursive: true });
  const name = "4711_20261105_080000.xml";
  const path = join(inbound, name);
  writeFileSync(path, "<Stop/>");
  // What lies in the place of its receipt cannot be read, and refuses nothing.
  mkdirSync(join(locations.receiptsDirectory("ACME"), receiptName(name)), { recursive: true });
  const askedAt: number[] = [];
  const thread = new FilingThread();
  onTestFinished(() => thread.close());
  const elsewhere = new EnteredElsewhere({
    receipts: receiptsOfOthers(thread),
    arrivals: {
      async enter(files): Promise<readonly EnteredAs[]> {
        askedAt.push(performance.now());
        if (askedAt.length === 1) throw new StoreError("unavailable", "the connection was reset", undefined);
        return files.map(() => "entered");
      },
    },
    ...{ locations, clock: systemClock, companyCodeOf: async () => "ACME" },
    failing: createLimitedLog(createLogger({ level: "silent" }), { maxLines: 1, windowMs: 1_000 }),
  });
  const arrival = { companyId: 1, name, path, channel: "sftp", userName: "host", size: 7 } as const;
  await elsewhere.enter([toWaitingFile({ ...arrival, receivedAt: 1, sequence: 0 })]);
  const [first = 0, second = 0] = askedAt;
  expect(askedAt).toHaveLength(2);
  expect(second - first).toBeGreaterThan(rememberedMs);
});
