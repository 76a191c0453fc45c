/** The parts of a daemon of one of several nodes, whose leases are started, and nothing else. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { buildParts, type Parts } from "../../src/app/daemon/daemon-parts.ts";
import { ReleaseStack } from "../../src/app/daemon/service-group.ts";
import { startDeliveryHoldWatch } from "../../src/app/watch/delivery-hold-watch.ts";
import { Integrations } from "../../src/integrations/integrations.ts";
import { systemClock } from "../../src/lib/clock.ts";
import type { Logger } from "../../src/lib/logs/log.ts";
import { RecentTroubles } from "../../src/lib/logs/recent-troubles.ts";
import { openStore } from "../../src/store/database/database.ts";
import { ledgerNumbers } from "./ledger-numbers.ts";
import { configOfNode, type SharedDatabase } from "./lease-nodes.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const signal = new AbortController().signal;

export interface NodeToBuild {
  readonly name: string;
  readonly stateDir: string;
  readonly log: Logger;
  /** Besides those of a node. */
  readonly settings?: object;
  /** Has the parts built. */
  readonly building?: (build: () => Promise<Parts>) => Promise<Parts>;
}

/** Builds it over the database; it ends with the test. */
export async function buildNode(shared: SharedDatabase, node: NodeToBuild): Promise<Parts> {
  const { name, stateDir, log, settings = {}, building = (build) => build() } = node;
  const nodeDir = temporaryFolder();
  const urlFile = join(nodeDir, "postgres-url");
  writeFileSync(urlFile, shared.url);
  const { leaseMs } = shared;
  const own = { stateDir, store: `file:${urlFile}`, cluster: { node: name, nodeDir, leaseMs } };
  const config = await configOfNode({ ...settings, ...own });
  const stack = new ReleaseStack(log);
  onTestFinished(async () => void (await stack.releaseAll(AbortSignal.timeout(10_000))));
  const store = await openStore(stateDir, { url: shared.url, node: { name, leaseMs } });
  stack.push({ name: "store", release: () => store.close() });
  const holdWatch = await startDeliveryHoldWatch({ store, log });
  stack.push({ name: "hold of deliveries", release: () => holdWatch.stop() });
  const parts = await building(() =>
    buildParts(config, store, {
      ...{ log, stack, signal, ledgerNumbers, holdWatch, clock: systemClock, configFile: "" },
      ...{ integrations: new Integrations({ integrations: new Map(), log }), troubles: new RecentTroubles() },
    }),
  );
  const { keeper } = parts.cluster;
  if (keeper === undefined) throw new Error("this database has no leases");
  await keeper.start(AbortSignal.timeout(60_000));
  stack.push({ name: "leases", release: (deadline) => keeper.stop(deadline) });
  return parts;
}
