/**
 * Ten thousand random histories of files under faults: the order of each stop holds in all of them.
 *
 *   node test/nightly/order-histories.ts [histories=10000] [seed=1]
 *
 * A failing seed is run again alone with `node test/nightly/order-histories.ts 1 SEED`. Ends with 1 when one fails.
 */
import { runHistories } from "../support/order-histories.ts";

const [count = 10_000, seed = 1] = process.argv.slice(2).map(Number);
const begun = performance.now();
let told = 0;
const outcome = await runHistories({ count, seed }, ({ histories, files, parkedOrRefused, faults }) => {
  for (const fault of faults.slice(told)) console.log(fault);
  told = faults.length;
  if (histories % 500 === 0 || histories === count)
    console.log(
      `${histories} histories, ${files} files, ${parkedOrRefused} of them put aside or refused, ${told} faults`,
    );
});
console.log(`${Math.round((performance.now() - begun) / 1000)} s from seed ${seed}`);
process.exitCode = outcome.faults.length === 0 ? 0 : 1;
