/** Whether the state directory is one that several nodes may share, and whether all of them have the same. */
import { closeSync, lstatSync, openSync } from "node:fs";
import { mkdtemp, readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { nodePlaceOf, nodesFolderName } from "../../config/node-place.ts";
import type { Config } from "../../config/schema.ts";
import { sharedSettingsHash } from "../../config/shared-settings.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import { messageOf, systemCodeOf, unlessMissing } from "../../lib/errors.ts";
import { fsyncSync, linkSync, renameSync, rm } from "../../lib/files/changes.ts";
import { makeDirectoryDurably, writeFileDurably } from "../../lib/files/durable-file.ts";
import { siblingModule } from "../../lib/threads/sibling-module.ts";
import { type LiveNode, listLiveNodes } from "../../store/cluster/live-nodes.ts";
import { openReader } from "../../store/database/open-reader.ts";
import { lockOrRefuse } from "../../store/database/process-lock.ts";
import { treeTokenName } from "../daemon/tree-token.ts";
import { type CheckFinding, fine, problem, warning } from "../watch/check-finding.ts";
import { askProcess } from "./folder-probe.ts";
import { readMountOf, treeMountFindings } from "../watch/tree-mount.ts";

async function codeOf(call: () => unknown): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return systemCodeOf(error) ?? messageOf(error);
  }
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** What the file system does otherwise than all moves of files rely on. */
async function faultsIn(folder: string): Promise<readonly string[]> {
  const [one, two, moved] = ["one", "two", "moved"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const faults: string[] = [];
  const expectCode = async (what: string, wanted: string | undefined, call: () => unknown) => {
    const code = await codeOf(call);
    if (code !== wanted) faults.push(`${what} gives ${code ?? "no error"} instead of ${wanted ?? "none"}`);
  };
  await expectCode("a file that is written, synced and renamed", undefined, () =>
    writeFileDurably(one, "probe"),
  );
  if (faults.length > 0) return faults;
  await expectCode("a file that is there, opened as a new one,", "EEXIST", () =>
    closeSync(openSync(one, "wx")),
  );
  await expectCode("a link", undefined, () => linkSync(one, two));
  if (faults.length === 0 && lstatSync(one).ino !== lstatSync(two).ino)
    faults.push("a link is another file than its first name");
  await expectCode("a link to a name that is taken", "EEXIST", () => linkSync(one, two));
  await expectCode("a rename", undefined, () => renameSync(two, moved));
  await expectCode("a name that was renamed", "ENOENT", () => lstatSync(two));
  await expectCode("the sync of a folder", undefined, () => syncFolder(folder));
  return faults;
}

const lockProbeMs = 10_000;
const secondLookMs = 2_000;

/** Whether a second process is refused a lock that this one has, and gets it afterwards. */
async function lockFaultsIn(folder: string): Promise<readonly string[]> {
  const path = join(folder, "lock");
  const file = fileURLToPath(siblingModule("./lock-probe-process", import.meta.url));
  const faults: string[] = [];
  const expectOutcome = async (what: string, wanted: string) => {
    const { kind, output, message } = await askProcess({ file, args: [path], timeoutMs: lockProbeMs });
    if (kind !== "answered" || output !== wanted)
      faults.push(`${what} is ${output || (message ?? kind)} instead of ${wanted}`);
  };
  const lock = lockOrRefuse(path, () => `${path} is locked`);
  try {
    await expectOutcome("a lock that another process has", "refused");
  } finally {
    lock.release();
  }
  await expectOutcome("a lock that is free", "taken");
  return faults;
}

async function probeTree(stateDir: string): Promise<CheckFinding> {
  const nodes = join(stateDir, nodesFolderName);
  const refused = (faults: readonly string[]) =>
    problem(`${stateDir} cannot be shared by nodes: ${faults.join("; ")}`, "use another file system");
  const code = await codeOf(() => makeDirectoryDurably(nodes));
  if (code !== undefined) return refused([`a folder that is made and synced gives ${code} instead of none`]);
  const folder = await mkdtemp(join(nodes, ".probe-"));
  try {
    const faults = [...(await faultsIn(folder)), ...(await lockFaultsIn(folder))];
    if (faults.length > 0) return refused(faults);
    return fine(`links, renames, syncs and locks in ${stateDir} do what nodes rely on`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each node writes a token into its folder: whoever does not see it has another tree. */
async function unseenOf(stateDir: string, nodes: ReadonlyMap<string, LiveNode>): Promise<readonly string[]> {
  const unseen: string[] = [];
  for (const [name, { incarnation }] of nodes) {
    const path = join(stateDir, nodesFolderName, name, treeTokenName);
    const token = await readFile(path, "utf8").catch(unlessMissing);
    if (token?.trim() !== incarnation) unseen.push(name);
  }
  return unseen;
}

function tokenFindings(
  stateDir: string,
  nodes: ReadonlyMap<string, LiveNode>,
  unseen: readonly string[],
): readonly CheckFinding[] {
  if (unseen.length > 0)
    return [
      problem(
        `what the nodes ${unseen.join(", ")} have written is not in ${stateDir}: they have another state directory`,
        "mount the same file system at stateDir on all nodes",
      ),
    ];
  return nodes.size === 0
    ? []
    : [fine(`all nodes (${[...nodes.keys()].join(", ")}) have this state directory`)];
}

/** The command compares its own configuration, which the daemon of this machine has read too. */
function checkSettings(config: Config, nodes: ReadonlyMap<string, LiveNode>): readonly CheckFinding[] {
  const own = sharedSettingsHash(config);
  const differing = [...nodes].filter(([, { settings }]) => settings !== own).map(([name]) => name);
  if (nodes.size === 0) return [];
  if (differing.length === 0)
    return [fine(`all nodes (${[...nodes.keys()].join(", ")}) have this configuration`)];
  return [
    warning(
      `another configuration than this one is in force on the nodes ${differing.join(", ")}`,
      "give all nodes the same one, but for where they listen, and reload or restart them",
    ),
  ];
}

/** Nothing on SQLite. `isKnown`: the tables are those of this version. */
export async function checkSharedTree(config: Config, isKnown: boolean): Promise<readonly CheckFinding[]> {
  if (config.store === undefined) return [];
  const stateDir = await realpath(config.stateDir);
  let nodes = isKnown ? await readLiveNodes(config) : new Map<string, LiveNode>();
  let unseen = await unseenOf(stateDir, nodes);
  if (unseen.length > 0) {
    // One that starts again writes its token before the table has it.
    await wait(secondLookMs);
    nodes = await readLiveNodes(config);
    unseen = await unseenOf(stateDir, nodes);
  }
  const others = [...nodes.keys()].filter((name) => name !== nodePlaceOf(config).node);
  return [
    ...treeMountFindings(stateDir, await readMountOf(stateDir), others),
    await probeTree(stateDir),
    ...tokenFindings(stateDir, nodes, unseen),
    ...checkSettings(config, nodes),
  ];
}

async function readLiveNodes(config: Config): Promise<ReadonlyMap<string, LiveNode>> {
  const { read, close } = await openReader(statePlaceOf(config), { statementMs: 10_000 });
  try {
    return await listLiveNodes(read);
  } finally {
    await close();
  }
}
