import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { storeSettingsOf } from "../../../../test/support/store-url.ts";
import { temporaryFolder } from "../../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../../test/support/wait-for.ts";
import type { ShownFinding } from "../../../endpoints/http/console/pages/health/health-view.ts";
import { insertCompany } from "../../../store/accounts/companies.ts";
import { openStore } from "../../../store/database/database.ts";
import { startGrowthRounds } from "./growth-rounds.ts";
import { HealthJob } from "./health-job.ts";

test("growth is measured without anybody asking, by the program itself, and again and again", async () => {
  const folder = temporaryFolder();
  const stateDir = join(folder, "state");
  mkdirSync(stateDir);
  const store = await openStore(stateDir);
  const at = Date.now();
  await store.write("site", async (tx) => {
    const { company } = await insertCompany(tx, { code: "ACME", createdAt: at });
    const order = { order_nbr: "O1", body: "{}", is_cancelled: 0, cancellation: "{}" };
    const row = { ...order, company_id: company.id, created_at: at, updated_at: at };
    await tx.insertInto("orders").values(row).execute();
  });
  const configFile = join(folder, "dropgate.yaml");
  writeFileSync(configFile, JSON.stringify({ stateDir, ...storeSettingsOf(stateDir, folder) }));
  const job = new HealthJob<readonly ShownFinding[]>({
    kind: "growth",
    configFile,
    clock: { now: Date.now },
  });
  let begun = 0;
  const begin = () => {
    begun += 1;
    job.begin();
  };
  const rounds = startGrowthRounds({ begin }, { firstAfterMs: 1, everyMs: 50 });
  try {
    await waitFor("a measurement", () => job.state.last !== undefined || job.state.failure !== undefined);
    expect(job.state.failure).toBeUndefined();
    const [found] = job.state.last?.result ?? [];
    expect(found).toMatchObject({ status: "ok", isGrowth: true });
    expect(found?.what).toContain("can be told after 3 days");
    await waitFor("the next round", () => begun > 1);
  } finally {
    await rounds.stop();
    await job.stop();
    await store.close();
  }
});
