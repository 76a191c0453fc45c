/** A database on a server that was put back to an earlier moment, beside the state directory that its nodes share. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startDeliveryHoldWatch } from "../../src/app/watch/delivery-hold-watch.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import {
  advanceGeneration,
  beginGeneration,
  findRestored,
  generationFileName,
  lookForRestored,
} from "../../src/store/database/generation.ts";
import { writeMeta } from "../../src/store/database/meta.ts";
import { endDeliveryHold, findDeliveryHold } from "../../src/store/outbound/delivery-hold.ts";
import { databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(1);
const aliveAt = Date.UTC(2026, 10, 5);

/** As the server has it after it was put back to a moment at which nodes had counted so far. */
async function putBack({ store }: SharedDatabase, count: number): Promise<void> {
  await store.write("unowned", async (tx) => {
    await writeMeta(tx, "generation", String(count));
    await writeMeta(tx, "alive_at", String(aliveAt));
  });
}

/** A state directory beside which nodes have counted to 3. */
async function countedFolder({ store }: SharedDatabase): Promise<string> {
  const stateDir = temporaryFolder();
  await beginGeneration(store, stateDir);
  for (let count = 1; count < 3; count += 1) await advanceGeneration(store, stateDir);
  return stateDir;
}

describe.runIf(hasPostgres)("a database on a server that was put back to a moment", () => {
  it.each(["start", "node that works on"])("is noticed by a %s, which holds deliveries", async (who) => {
    const { store } = database();
    const stateDir = await countedFolder(database());
    await putBack(database(), 2);
    if (who === "start") await beginGeneration(store, stateDir);
    else expect(await advanceGeneration(store, stateDir)).toEqual({ upTo: aliveAt });
    expect(await findRestored(store.read)).toEqual({ upTo: aliveAt });
    expect(await findDeliveryHold(store.read)).toMatchObject({
      sendAgainFrom: aliveAt,
      lastReceivedAt: null,
    });
  });

  it("is noticed by the first start after the file was removed, and by `check` before, although counts are the same", async () => {
    const { store } = database();
    const stateDir = await countedFolder(database());
    await putBack(database(), 3);
    expect(await lookForRestored(store, stateDir)).toBeUndefined();
    rmSync(join(stateDir, generationFileName));
    expect(await lookForRestored(store, stateDir)).toEqual({ upTo: aliveAt });
    await beginGeneration(store, stateDir);
    expect(await findDeliveryHold(store.read)).toMatchObject({ sendAgainFrom: aliveAt });
  });

  it("is noticed once: released deliveries are not held again, and nobody but a start misses the file", async () => {
    const { store } = database();
    const stateDir = await countedFolder(database());
    rmSync(join(stateDir, generationFileName));
    await beginGeneration(store, stateDir);
    await store.write("unowned", (tx) => endDeliveryHold(tx));
    await beginGeneration(store, stateDir);
    rmSync(join(stateDir, generationFileName));
    expect(await advanceGeneration(store, stateDir)).toBeUndefined();
    expect(await findDeliveryHold(store.read)).toBeUndefined();
  });

  it("is not what nodes see that start at once for the first time", async () => {
    const { store } = database();
    const stateDir = temporaryFolder();
    await Promise.all(Array.from({ length: 20 }, () => beginGeneration(store, stateDir)));
    expect(await findRestored(store.read)).toBeUndefined();
    expect(await findDeliveryHold(store.read)).toBeUndefined();
  });

  it("is told by the other nodes too, from when one has noticed it until deliveries are released", async () => {
    const { store } = database();
    const stateDir = await countedFolder(database());
    const watch = await startDeliveryHoldWatch({ store, log: createLogger({ level: "silent" }) });
    expect(watch.current()).toBeUndefined();
    await putBack(database(), 1);
    await advanceGeneration(store, stateDir);
    await waitFor("the hold to be told", () => watch.current() !== undefined);
    await store.write("unowned", (tx) => endDeliveryHold(tx));
    await waitFor("the release to be told", () => watch.current() === undefined);
    await watch.stop();
  });
});
