import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../test/support/temporary-folder.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createLogger } from "../../lib/logs/log.ts";
import { openStore } from "../../store/database/database.ts";
import { generationFileName } from "../../store/database/generation.ts";
import { startRestoredWatch } from "./restored-watch.ts";

test("the count goes up within half a minute, so that a copy of before is known to be older", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const stateDir = temporaryFolder();
  const store = await openStore(stateDir);
  const count = () => Number(readFileSync(join(stateDir, generationFileName), "utf8"));
  const watch = await startRestoredWatch({ store, stateDir, log: createLogger({ level: "silent" }) });
  onTestFinished(async () => {
    await watch.stop();
    await store.close();
  });
  const copied = count();
  vi.advanceTimersByTime(30_000);
  await waitFor("the count to go up", () => count() > copied);
  expect(count()).toBe(copied + 1);
});
