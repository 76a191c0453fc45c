import { expect, onTestFinished, test } from "vitest";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import type { PreparedDocument } from "../../documents/pool/prepared-document.ts";
import { createHealth } from "./health.ts";

const read: PreparedDocument = { kind: "read", sha256: "", size: 0, instructions: [] };

/** Of a store whose writes get no answer. */
async function wantsRestart(isOnServer: boolean): Promise<boolean> {
  const store = await openFreshStore(temporaryFolder());
  onTestFinished(() => store.close());
  const health = createHealth({
    store: { read: store.read, write: () => new Promise(() => undefined), isOnServer },
    documents: { prepareBytes: async () => read },
    ...{ clock: { now: () => 1 }, timeoutMs: () => 200, troubles: () => [] },
  });
  expect(await health.refresh()).toContain("store: no answer within 200 ms");
  expect(health.current().isReady).toBe(false);
  return health.wantsRestart();
}

test("writes without an answer ask for a restart of the daemon, but for those of a server", async () => {
  expect(await wantsRestart(false)).toBe(true);
  expect(await wantsRestart(true)).toBe(false);
});
