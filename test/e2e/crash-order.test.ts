/**
 * The order of one stop over a crash: a file whose close was answered, and which no ledger knows yet, comes before whatever
 * the host sends after the restart, although it has to settle first.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { CrashCheck, untilQuiet } from "./crash-check.ts";
import { CrashHost } from "./crash-host.ts";
import { deletedAtOnceChain, nameReusedChain } from "./crash-orders.ts";
import { CrashPlace, die } from "./crash-round.ts";

/** As it is unless somebody sets it: long for a host that is back at once. */
const settleMs = 2_000;
let place: CrashPlace;

beforeAll(async () => {
  place = await CrashPlace.make();
  await place.reconfigure({ inbound: { settleMs, incompleteGraceMs: 2 * settleMs } });
});
afterAll(() => place.end());

test.each([
  ["a stop that was created before the crash is deleted after it", deletedAtOnceChain("order-1")],
  ["a name that was used before the crash is not used again after it", nameReusedChain("order-2")],
])("%s", async (_title, chain) => {
  const host = new CrashHost(place.site, place.folders);
  const sending = host.send([chain]);
  // Waited for below; a failure before that is told then.
  sending.catch(() => undefined);
  await die(place, { kind: "step", step: "unit@entering-files.enterTogether" }, { host, sending });
  const run = await place.start({});
  if (run !== undefined) await host.connect(run);
  await sending;
  await untilQuiet(place.site, place.folders);
  expect(CrashCheck.run(place.site, host.sent.values(), chain.stops)).toEqual([]);
  await host.close();
  await place.site.kill();
});
