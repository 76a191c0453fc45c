/** What this daemon is to the other nodes of its database: alone on SQLite, else one of those that have leases. */
import { statfs } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isLocalMount, readMountOf, treeMountFindings } from "../watch/tree-mount.ts";
import { changeIncarnation, readBootId } from "./incarnation.ts";
import { treeTokenName } from "./tree-token.ts";
import { nodePlaceOf } from "../../config/node-place.ts";
import type { Config } from "../../config/schema.ts";
import { sharedSettingsHash } from "../../config/shared-settings.ts";
import { LeaseKeeper, type LeaseKeeperDeps } from "../../cluster/lease-keeper.ts";
import { type ChangeClock, readChangeClock } from "../../lib/files/change-clock.ts";
import { setShortCallsMayWait } from "../../lib/files/short-calls.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../lib/files/durable-file.ts";
import { secondMs } from "../../lib/durations.ts";
import { newGuid } from "../../lib/ids.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { readVersion } from "../../lib/program-version.ts";
import type { NodeReport } from "../../store/cluster/lease-table.ts";
import { type Ownership, soleOwnership } from "../../store/cluster/ownership.ts";
import type { Store } from "../../store/database/database.ts";
import { currentSchema } from "../../store/database/schema-plan.ts";

export interface Cluster {
  readonly ownership: Ownership;
  /** Undefined on SQLite. */
  readonly keeper: LeaseKeeper | undefined;
  /** Of this process as a node; undefined on SQLite. */
  readonly incarnation: string | undefined;
  /** The clock of the tree; undefined on SQLite, where no other node leaves files in it. */
  readonly changeClock: (() => Promise<ChangeClock | undefined>) | undefined;
}

export interface ClusterDeps {
  readonly store: Store;
  /** The one in force. */
  readonly currentConfig: () => Config;
  readonly log: Logger;
  readonly companyCodeOf: (companyId: number) => Promise<string>;
  /** Puts files that other nodes have entered in line, and gives those that are. */
  readonly readArrived: LeaseKeeperDeps["readArrived"];
  /** The ports that this node listens on, by protocol, as soon as it does. */
  readonly ports: ReadonlyMap<string, number>;
}

/** A balancer that asks each few seconds, twice or three times, leads nobody here any more after this. */
const balancersMs = 10 * secondMs;

/** Of a configuration that was hashed last, it is not hashed again: a node reports some times a second. */
function rememberedHash(): (config: Config) => string {
  let last: { readonly of: Config; readonly hash: string } | undefined;
  return (config) => {
    if (last?.of !== config) last = { of: config, hash: sharedSettingsHash(config) };
    return last.hash;
  };
}

/** Decides where short calls are made. A node that is alone may have its tree anywhere; whoever adds one is told. */
async function lookAtMount(stateDir: string, log: Logger): Promise<void> {
  const mount = await readMountOf(stateDir);
  setShortCallsMayWait(!isLocalMount(mount));
  for (const { status, what, remedy } of treeMountFindings(stateDir, mount, []))
    if (status !== "ok") log.warn({ remedy }, what);
}

/** Made before the parts of the background work, and started after them. */
export async function createCluster(deps: ClusterDeps): Promise<Cluster> {
  const { store, currentConfig, log, companyCodeOf, readArrived, ports } = deps;
  const config = currentConfig();
  if (store.leases === undefined || store.arrivals === undefined)
    return { ownership: soleOwnership, keeper: undefined, incarnation: undefined, changeClock: undefined };
  const { node: name, nodeDir, shownDir } = nodePlaceOf(config);
  await makeDirectoryDurably(shownDir);
  const incarnation = newGuid();
  const formerIncarnation = await changeIncarnation(nodeDir, incarnation, await readBootId());
  const token = join(shownDir, treeTokenName);
  await writeFileDurably(token, `${incarnation}\n`);
  await lookAtMount(config.stateDir, log);
  const fixed = { name, incarnation, version: readVersion(), schema: currentSchema };
  const addressOf = ([protocol, port]: [string, number]) => [protocol, `${hostname()}:${port}`] as const;
  const settingsHash = rememberedHash();
  const report = (): NodeReport => ({
    ...fixed,
    settings: settingsHash(currentConfig()),
    address: Object.fromEntries([...ports].map(addressOf)),
  });
  let isReplaced = false;
  const keeper = new LeaseKeeper({
    ...{
      table: store.leases,
      arrivals: store.arrivals,
      report,
      formerIncarnation,
      leaseMs: config.cluster.leaseMs,
    },
    ...{ companyCodeOf, readArrived, log, balancersMs },
    refuseWrites: store.refuseWrites,
    // Its own token, which is in no other tree; what a file is like may be known without asking the server, how much room
    // there is never. In the pool with all other calls: a node whose calls all wait can do no work of its companies either.
    async askTree() {
      await statfs(token);
    },
    replaced() {
      // Each round finds it again, and a second signal would end the process at once.
      if (isReplaced) return;
      isReplaced = true;
      log.fatal({ node: name }, "another process has the name of this node: this one stops");
      process.kill(process.pid, "SIGTERM");
    },
  });
  return { ownership: keeper, keeper, incarnation, changeClock: () => readChangeClock(token) };
}
