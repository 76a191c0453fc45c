/** Retention after a clock that was behind: what it wrote looks old, and is not (docs/retention.md#the-clock). */
import { expect, test } from "vitest";
import { ledgerOfEachTest } from "../../src/inbound/testing/ledger-fixture.ts";
import { confirmClock } from "../../src/app/retention/clock-guard.ts";
import { createRetention } from "../../src/app/retention/retention.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { a, b, configOf, filed, fixture, isThere, seal, start } from "../support/aging-files.ts";
import { dayMs } from "../../src/lib/durations.ts";

ledgerOfEachTest(fixture);

const ages = { archive: 30, error: 30, receipts: 30, ledger: 30 };
/** Days after the start, which is in 2026: a clock without a battery begins in the year 2000. */
const year2000 = -9_800;

async function aged() {
  const config = await configOf(ages);
  let now = start;
  const clock = { now: () => now };
  const told: string[] = [];
  const { store, locations } = fixture;
  const retention = createRetention({
    ...{ store, clock, locations, ledgerNumbers: { seal }, config: () => config },
    log: createLogger({ level: "warn", destination: { write: (line) => void told.push(line) } }),
  });
  /** A pass on that day; false when the clock is not to be trusted. */
  const pass = async (day: number) => {
    now = start + day * dayMs;
    const right = await retention.look();
    if (right !== undefined) await retention.prune(right, new AbortController().signal);
    return right !== undefined;
  };
  return {
    ...{ told, pass },
    confirm: () => confirmClock({ store, clock }),
    async daily(from: number, to: number) {
      for (let day = from; day <= to; day += 1) expect(await pass(day)).toBe(true);
    },
  };
}

async function entries(): Promise<number> {
  return (await fixture.store.read.selectFrom("files").select("id").execute()).length;
}

test("what a clock wrote that was behind stays until its age has passed since the clock was right again", async () => {
  const { pass, daily, told } = await aged();
  const before = await filed(a);
  await daily(0, 31);
  expect([isThere(before.location), await entries()]).toEqual([false, 0]);
  await pass(year2000);
  const wrong = await filed(b, { day: year2000 });
  await pass(year2000 + 1);
  await daily(32, 61);
  expect([isThere(wrong.location), await entries()]).toEqual([true, 1]);
  expect(told.filter((line) => line.includes("the clock was behind until"))).toHaveLength(1);
  await daily(62, 63);
  expect([isThere(wrong.location), await entries()]).toEqual([false, 0]);
});

test("a state that a clock without a battery began keeps what it wrote when somebody says that the clock is right", async () => {
  const { pass, daily, confirm } = await aged();
  await pass(year2000);
  const wrong = await filed(a, { day: year2000 });
  expect(await pass(0)).toBe(false);
  await confirm();
  expect(await pass(0)).toBe(true);
  expect([isThere(wrong.location), await entries()]).toEqual([true, 1]);
  await daily(1, 31);
  expect([isThere(wrong.location), await entries()]).toEqual([false, 0]);
});
