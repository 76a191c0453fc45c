import { join } from "node:path";
import { expect, test } from "vitest";
import { DeliverySite, start } from "../../../test/support/delivery-site.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { loadConfig } from "../../config/load-config.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { confirmClock } from "./clock-guard.ts";
import { createRetention } from "./retention.ts";
import { writeFile } from "node:fs/promises";
import { dayMs } from "../../lib/durations.ts";

const stops = 160;

test("a clock that is ten years ahead removes nothing that was delivered, until somebody says that it is right", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "dropgate.yaml");
  await writeFile(path, "stateDir: .\n");
  const loaded = await loadConfig({ path, env: {}, cwd: folder });
  if (loaded.kind === "faulty") throw new Error("the configuration is faulty");
  const site = await DeliverySite.open();
  await site.complete(...Array.from({ length: stops }, (_, index) => `S${index}`));
  await site.startQueue();
  await site.pass(0);
  let now = start;
  const clock = { now: () => now };
  const told: string[] = [];
  const retention = createRetention({
    ...{ store: site.store, clock, locations: createLocations(folder), ledgerNumbers: { seal: String } },
    log: createLogger({ level: "info", destination: { write: (line) => void told.push(line) } }),
    config: () => loaded.config,
  });
  const pass = async () => {
    const right = await retention.look();
    if (right !== undefined) await retention.prune(right, new AbortController().signal);
    return [retention.figures.isPaused, (await site.rows()).length];
  };
  expect(await pass()).toEqual([false, stops]);
  now = start + 3_650 * dayMs;
  expect([await pass(), await pass()]).toEqual([
    [true, stops],
    [true, stops],
  ]);
  expect(told.filter((line) => line.includes("nothing is removed by its age"))).toHaveLength(1);
  now = start;
  expect(await pass()).toEqual([false, stops]);
  now = start + 3_650 * dayMs;
  expect(await pass()).toEqual([true, stops]);
  await confirmClock({ store: site.store, clock });
  expect(await pass()).toEqual([false, 0]);
  expect(retention.figures.pruned.get("outbound")).toBe(stops);
});
