import { expect, test } from "vitest";
import { DeliverySite } from "../../test/support/delivery-site.ts";
import { createLogger } from "../lib/logs/log.ts";
import { type ExportPlan, runDueExports } from "./export-runs.ts";

test("an export that leaves the configuration is told once, and written once", async () => {
  const site = await DeliverySite.open({ targets: [{ name: "host", takesCompletions: false }] });
  const lines: string[] = [];
  let writes = 0;
  const deps = {
    store: {
      ...{ read: site.store.read },
      write: ((whose, work) => {
        writes += 1;
        return site.store.write(whose, work);
      }) as typeof site.store.write,
    },
    clock: { now: () => site.now },
    log: createLogger({ level: "info", destination: { write: (line) => void lines.push(line) } }),
  };
  const when = { schedule: "30 2 * * *", zone: "Europe/Berlin" };
  const plan: ExportPlan = {
    companyId: site.companyId,
    name: "nightly",
    when,
    form: "document",
    target: "host",
  };
  await runDueExports(deps, [plan]);
  expect([writes, lines.length]).toEqual([1, 0]);
  // A look at which nothing is due writes nothing.
  await runDueExports(deps, [plan]);
  expect(writes).toBe(1);
  for (const _ of ["first look without it", "second"]) await runDueExports(deps, []);
  expect(writes).toBe(2);
  expect(lines.join()).toContain("an export is no longer in the configuration");
  expect(lines).toHaveLength(1);
});
