/** Two nodes that each have a way of their own to the tree: one loses it, and one meets another process of its name. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canFreezeTrees, type ClusterNode } from "../support/cluster-node.ts";
import { ClusterSite } from "../support/cluster-site.ts";
import { DaemonRun, type Settings } from "../support/daemon.ts";
import { hasPostgres } from "../support/postgres-server.ts";
import { hasReverseProxy } from "../support/reverse-proxy.ts";
import { waitFor } from "../support/wait-for.ts";

const isPossible = hasPostgres && hasReverseProxy && canFreezeTrees;

let site: ClusterSite;
let one: ClusterNode;
let two: ClusterNode;

beforeAll(async () => {
  if (!isPossible) return;
  site = await ClusterSite.make({ nodes: 2, companies: 1, leaseMs: 3_000, hasTrees: true });
  [one, two] = site.nodes as [ClusterNode, ClusterNode];
  await site.startAll();
});
afterAll(async () => {
  if (isPossible) await site.end();
});

const readiness = async (node: ClusterNode) => {
  const answer = await fetch(`${node.http}/readyz`);
  return { status: answer.status, text: await answer.text() };
};
const isReady = async (node: ClusterNode) => (await readiness(node)).status === 200;

/** A process with the name of a node, on the way of another one to the tree, and with a directory of its own. */
async function startNamesake(of: ClusterNode, on: ClusterNode): Promise<DaemonRun> {
  const settings = JSON.parse(await readFile(on.configFile, "utf8")) as Settings;
  const nodeDir = join(site.folder, "namesake");
  await mkdir(nodeDir);
  const cluster = { ...(settings["cluster"] as Settings), node: of.name, nodeDir };
  const path = join(on.plan.folder, "namesake.yaml");
  const ports = { http: { port: 0 }, sftp: { port: 0 } };
  await writeFile(path, JSON.stringify({ ...settings, ...ports, cluster }));
  return new DaemonRun(path, {});
}

describe.runIf(isPossible)("a node with a way of its own to the tree", () => {
  it("warns at its start of a file system of which is not known that nodes may share it", () => {
    const warned = one.log.filter(({ msg }) => msg.includes("fuse") && msg.includes("is not known"));
    expect(warned).toMatchObject([{ level: "warn", remedy: expect.stringContaining("NFS 4.1") }]);
  });

  it("is not ready while its tree does not answer, and its companies are those of the other one", async () => {
    const all = await site.owners();
    const owner = all.get("C1") === one.name ? one : two;
    const other = owner === one ? two : one;
    owner.freezeTree();
    try {
      await waitFor("the node to be out of service, and to say why", async () =>
        (await readiness(owner)).text.includes("the state directory has not answered for"),
      );
      expect(await isReady(owner)).toBe(false);
      await waitFor("the other one to have the company", async () => {
        return (await site.owners()).get("C1") === other.name;
      });
      await waitFor("the other one to be in service", () => isReady(other));
    } finally {
      owner.thawTree();
    }
    await waitFor("the node to be in service again", () => isReady(owner));
  });

  it("stops when another process has taken its name while it stood still, and says why", async () => {
    one.freeze();
    const namesake = await startNamesake(one, two);
    try {
      await namesake.waitForLog(({ msg }) => msg === "ready");
      one.thaw();
      expect(await one.run.exit).toBe(0);
      const told = one.log.filter(({ level }) => level === "fatal");
      expect(told).toMatchObject([
        { msg: "another process has the name of this node: this one stops", node: one.name },
      ]);
      // What has its name goes on.
      const { output } = await two.command("nodes");
      expect(output).toMatch(new RegExp(`^${one.name}\\s+working`, "m"));
    } finally {
      namesake.process.kill("SIGTERM");
    }
    expect(await namesake.exit).toBe(0);
  });
});
