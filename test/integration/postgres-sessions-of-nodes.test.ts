/** What a server of PostgreSQL sees of the sessions of a node. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openStore } from "../../src/store/database/database.ts";
import { idleInTransactionMsOf } from "../../src/store/database/postgres/session-connection.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let server: PostgresServer;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});

it.each([
  [2_000, 1_000],
  [3_000, 1_500],
  [10_000, 8_000],
  [600_000, 8_000],
])("a node with a lease of %i ms may idle in a transaction for %i ms", (leaseMs, idleMs) => {
  expect(idleInTransactionMsOf({ leaseMs })).toBe(idleMs);
});

describe.runIf(hasPostgres)("a node that stands still within a transaction", () => {
  it("is known to the server by its name, and loses its locks before its lease is over", async () => {
    const [url, leaseMs] = [await server.makeDatabase("frozen"), 2_000];
    const store = await openStore(temporaryFolder(), { url, node: { name: "gate-1", leaseMs } });
    onTestFinished(() => store.close());
    const frozen = store.write("site", async (tx) => {
      await tx.updateTable("lanes").set({ epoch: 9 }).where("company_id", "=", 0).execute();
      await new Promise((resolve) => setTimeout(resolve, 2 * leaseMs));
    });
    const failed = expect(frozen).rejects.toThrow(/PostgreSQL/);
    const inHand =
      "select 1 from pg_stat_activity where application_name = 'dropgate gate-1' and xact_start is not null";
    await expect.poll(() => askPostgres(url, inHand)).not.toEqual([]);
    const asked = performance.now();
    await askPostgres(url, "update lanes set epoch = epoch where company_id = 0");
    expect(performance.now() - asked).toBeLessThan(leaseMs);
    await failed;
    expect(await askPostgres(url, "select epoch from lanes where company_id = 0")).toEqual([["0"]]);
  });
});
