/**
 * The order of each stop holds, whatever fails: random histories through the real pipeline. `DROPGATE_ORDER_SEED` draws
 * others, `DROPGATE_ORDER_HISTORIES` more; a failing history is named with its seed, and runs again alone with these two.
 */
import { expect, test } from "vitest";
import { runHistories } from "../support/order-histories.ts";
import { amount } from "../support/sampled.ts";

const seed = Number(process.env["DROPGATE_ORDER_SEED"] ?? 1);
const count = Number(process.env["DROPGATE_ORDER_HISTORIES"] ?? amount(40, 200));

test(`of each stop files are applied in their order or wait, in ${count} histories from seed ${seed}`, async () => {
  const outcome = await runHistories({ seed, count });
  expect(outcome.faults).toEqual([]);
  expect(outcome.histories).toBe(count);
  // Histories in which nothing happens would show nothing.
  if (count >= 40) expect(outcome.parkedOrRefused).toBeGreaterThan(count / 2);
});
