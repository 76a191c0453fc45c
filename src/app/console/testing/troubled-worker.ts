/** A thread for tests of the `QueryHost`: its queries wait, hang, hoard, fail and crash. */
import { setTimeout as wait } from "node:timers/promises";
import { DropgateError } from "../../../lib/errors.ts";
import { serveQueries } from "../serve-queries.ts";

await serveQueries({
  async context({ stateDir, config, ledgerNumbers, timeLeftMs }, scope, asked) {
    return { stateDir, config, sealed: ledgerNumbers.seal(1), timeLeftMs: timeLeftMs(), scope, asked };
  },
  async companies({ read }) {
    return await read.selectFrom("companies").select("code").execute();
  },
  async write({ read }) {
    await read.deleteFrom("companies").execute();
  },
  async rest(_context, _scope, ms: number) {
    await wait(ms);
    return "rested";
  },
  /** Statement by statement, as a search does. */
  async search({ read }, _scope, statements: number) {
    for (let count = 0; count < statements; count += 1)
      await read.selectFrom("companies").select("code").execute();
  },
  /** In SQLite, where nothing can end it before it has counted so far. */
  async count({ read }, _scope, rows: number) {
    const { sql } = await import("kysely");
    const counted = sql<{
      n: number;
    }>`with recursive c (n) as (select 1 union all select n + 1 from c where n < ${rows})
      select count(*) as n from c`;
    return (await counted.execute(read)).rows[0]?.n;
  },
  async spin() {
    for (;;);
  },
  async hoard() {
    const hoard: number[][] = [];
    for (;;) hoard.push(new Array(100_000).fill(1.5));
  },
  async refuse() {
    throw new DropgateError("missing", "what: give it");
  },
  async fail() {
    throw new Error("it broke");
  },
  async crash() {
    setImmediate(() => {
      throw new Error("it crashed");
    });
    await wait(60_000);
  },
});
