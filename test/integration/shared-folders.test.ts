/** Folders of companies on nodes that share a tree: those of a company are scanned by the node that has it. */
import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { companyWorkOf } from "../../src/app/daemon/company-work.ts";
import { type FolderDisk, localFolderDisk } from "../../src/endpoints/folders/folder-deps.ts";
import { FolderEndpoint, type FolderEndpointDeps } from "../../src/endpoints/folders/folder-endpoint.ts";
import { dayMs, hourMs } from "../../src/lib/durations.ts";
import { databaseForEachTest, type SharedDatabase } from "../support/lease-nodes.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const database = databaseForEachTest(3);
const filesOfEach = 60;
const settings = {
  ...{ settleMs: 20, scanMs: 200, unfinishedReportAfterMs: dayMs, incompleteGraceMs: hourMs },
  ...{ maxFileBytes: 50 * 2 ** 20, giveUpAfterMs: hourMs },
};

/** What all nodes have taken, by name. */
type Taken = Map<string, string[]>;

/** Files that have arrived leave the folder at once, as if they had been decided and filed. */
function inboxInto(taken: Taken): FolderEndpointDeps["inbox"] {
  const known = new Set<string>();
  return {
    reserve: (path) => void known.add(path),
    release: (path) => void known.delete(path),
    isKnown: (path) => known.has(path),
    clearReceipt: async () => undefined,
    async arriveAll(arrivals) {
      for (const { name, path } of arrivals) {
        taken.set(name, [...(taken.get(name) ?? []), readFileSync(path, "utf8")]);
        unlinkSync(path);
        known.delete(path);
      }
    },
    keepBack: () => () => undefined,
    hold: async () => () => undefined,
  };
}

interface Tree {
  readonly folders: Awaited<ReturnType<FolderEndpointDeps["folders"]>>;
  readonly staging: string;
}

function treeOf({ companies }: SharedDatabase): Tree {
  const root = temporaryFolder();
  const folders = companies.flatMap((companyId) => {
    const inboundDirectory = join(root, String(companyId), "inbound");
    const share = join(root, String(companyId), "share");
    for (const folder of [inboundDirectory, share]) mkdirSync(folder, { recursive: true });
    const base = { companyId, companyCode: `C${companyId}`, inboundDirectory };
    return [
      { ...base, path: inboundDirectory, isInbox: true },
      { ...base, path: share, isInbox: false },
    ];
  });
  const staging = join(root, "staging");
  mkdirSync(staging);
  return { folders, staging };
}

async function startScanning(
  shared: SharedDatabase,
  name: string,
  { folders }: Tree,
  { taken, disk }: { readonly taken: Taken; readonly disk?: FolderDisk },
) {
  return await shared.startNode(name, async ({ keeper, log }) => {
    const endpoint = new FolderEndpoint({
      ...{ inbox: inboxInto(taken), folders: async () => folders, settings: () => settings, log },
      ...{
        clock: { now: () => Date.now() },
        isIncomplete: async () => false,
        whyNoRoom: async () => undefined,
      },
      ...{ isSole: keeper.isSole, ...(disk === undefined ? {} : { disk }) },
      mayTakeForMs(companyId) {
        const fence = keeper.fenceOf(companyId);
        return fence === undefined ? 0 : fence.goodForMs?.();
      },
    });
    await endpoint.start(new AbortController().signal);
    onTestFinished(() => endpoint.stop(AbortSignal.timeout(10_000)));
    return [companyWorkOf(endpoint)];
  });
}

function contentOf(name: string): string {
  return `<stop>${name}${"x".repeat(2_000)}</stop>`;
}

describe.runIf(hasPostgres)("folders of nodes that share a tree", () => {
  it("give each file once, and whole, while companies are given from node to node", async () => {
    const shared = database();
    const tree = treeOf(shared);
    const taken: Taken = new Map();
    const one = await startScanning(shared, "one", tree, { taken });
    const two = await startScanning(shared, "two", tree, { taken });
    const dropping = (async () => {
      for (let index = 0; index < filesOfEach; index += 1) {
        for (const { companyId, path, isInbox } of tree.folders) {
          const name = `${companyId}${isInbox ? 1 : 2}${index}_20261105_080000.xml`;
          writeFileSync(join(tree.staging, name), contentOf(name));
          renameSync(join(tree.staging, name), join(path, name));
        }
        await pause(50);
      }
    })();
    await shared.drainOnce(one);
    await shared.drainOnce(two);
    await dropping;
    await waitFor("all to be taken", () => taken.size === tree.folders.length * filesOfEach);
    // Time for one that would come twice.
    await pause(1_000);
    for (const [name, texts] of taken) expect([name, texts]).toEqual([name, [contentOf(name)]]);
    expect([...one.complaints, ...two.complaints]).toEqual([]);
  });

  it("that hang do not keep their companies from other nodes, nor from their own once it has lost them", async () => {
    const shared = database();
    shared.leaseMs = 2_000;
    const tree = treeOf(shared);
    const taken: Taken = new Map();
    const hangs = Promise.withResolvers<void>();
    onTestFinished(() => hangs.resolve());
    const shares = new Set(tree.folders.filter(({ isInbox }) => !isInbox).map(({ path }) => path));
    const disk: FolderDisk = {
      ...localFolderDisk,
      async entries(path) {
        if (shares.has(path)) await hangs.promise;
        return await localFolderDisk.entries(path);
      },
    };
    const one = await startScanning(shared, "one", tree, { taken, disk });
    const [first = 0] = shared.companies;
    await shared.rob(first, "nobody");
    await waitFor("the company to be lost, and taken again", () => {
      const { lost, lanes } = one.keeper.statistics();
      return lost > 0 && lanes.working === shared.companies.length + 1 && lanes.fenced === 0;
    });
    const two = await startScanning(shared, "two", tree, { taken });
    await two.store.leases?.order("one", true);
    await waitFor("the other node to have all", () => {
      return two.keeper.statistics().lanes.working === shared.companies.length + 1;
    });
    const gaveUp = one.complaints.filter((text) => text.startsWith("a folder does not answer"));
    expect(gaveUp.length).toBeGreaterThan(0);
  });
});
