import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { createLocations } from "../../inbound/places/locations.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { openStore } from "../../store/database/database.ts";
import { findLastVerification } from "../../store/database/last-verification.ts";
import { startLedgerWatch } from "./ledger-watch.ts";

test("the ledger is verified by the node that has what concerns no company, and by no other one", async () => {
  const stateDir = temporaryFolder();
  const store = await openStore(stateDir);
  onTestFinished(() => store.close());
  let isOurs = false;
  const watch = startLedgerWatch({
    ...{
      store,
      locations: createLocations(stateDir),
      clock: { now: () => 1_000 },
      arrivalGraceMs: 0,
      pauseMs: 1,
    },
    log: createLogger({ level: "silent" }),
    isOurs: () => isOurs,
  });
  onTestFinished(() => watch.stop());
  await watch.run();
  expect(await findLastVerification(store.read)).toBeUndefined();
  isOurs = true;
  await watch.run();
  expect(await findLastVerification(store.read)).toEqual({ at: 1_000, discrepancies: 0 });
});
