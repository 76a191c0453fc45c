/**
 * Several nodes that serve the same companies: one PostgreSQL, one tree, and HAProxy before them.
 *
 *   const site = await ClusterSite.make({ nodes: 2, companies: 3 });
 *   await site.startAll();
 *   …
 *   await site.end();
 */
import { type ChildProcess, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ensureCompanyTree } from "../../src/exchange/folders/company-folders.ts";
import { type Balancer, startBalancer } from "./cluster-balancer.ts";
import { ClusterDatabase } from "./cluster-database.ts";
import { canFreezeTrees, ClusterNode } from "./cluster-node.ts";
import { watchCluster } from "./cluster-watch.ts";
import { lenient, oneParser, type Settings, type Site, user } from "./daemon.ts";
import { makePostgresSite } from "./postgres-site.ts";
import { runProgram } from "./run-program.ts";
import { freePort } from "./server-process.ts";

export interface ClusterPlan {
  readonly nodes: number;
  readonly companies: number;
  readonly leaseMs: number;
  readonly hasStandby?: boolean;
  /** Each node has a way of its own to the tree, which can be frozen. */
  readonly hasTrees?: boolean;
  /** Where one shared storage is mounted: for each node, and last for looks from outside. Otherwise the tree is on the local disk. */
  readonly mounts?: readonly string[] | undefined;
  /** Settings of all nodes. */
  readonly settings?: Settings;
  /** The section of each company. */
  readonly company?: Settings;
}

export interface ClusterCompany {
  readonly code: string;
  /** With the role DI_Integration, the key and the password of the site. */
  readonly host: string;
  /** With the role DI_Driver. */
  readonly driver: string;
}

function companiesOf(count: number): readonly ClusterCompany[] {
  return Array.from({ length: count }, (_, at) => ({
    ...{ code: `C${at + 1}`, host: `host${at + 1}`, driver: `driver${at + 1}` },
  }));
}

/** Users like the one of the site. */
function userStatement(name: string, code: string, role: string): string {
  return `with made as (insert into users (user_name, password_hash, is_enabled, must_change_password, created_at, updated_at)
      select '${name}', password_hash, 1, 0, 1, 1 from users where user_name = '${user}' returning id),
    member as (insert into memberships (company_id, user_id, user_name, roles, profile)
      select companies.id, made.id, '${name}', '["${role}"]', '{}' from made, companies where code = '${code}')
    insert into user_keys (user_id, key_type, key_blob, comment, created_at)
      select made.id, key_type, key_blob, comment, 1 from made, user_keys
        join users on users.id = user_keys.user_id where users.user_name = '${user}';`;
}

function companyStatement({ code, host, driver }: ClusterCompany): string {
  return `with made as (insert into companies (code, code_key, created_at) values ('${code}', '${code.toLowerCase()}', 1)
      returning id), lane as (insert into lanes (company_id) select id from made)
      insert into leases (company_id) select id from made;
    ${userStatement(host, code, "DI_Integration")}${userStatement(driver, code, "DI_Driver")}`;
}

/** Ends what is left when the process that made it is gone, however that ended. */
const watching = `trap '' HUP INT TERM; cat >/dev/null
for file in "$1"/pids/*; do [ -e "$file" ] && kill -KILL "$(cat "$file")" 2>/dev/null; done
for pid in "$1"/database-*/data/postmaster.pid; do [ -e "$pid" ] && kill -QUIT "$(head -n 1 "$pid")"; done
for tree in "$1"/nodes/*/tree; do umount -l "$tree" 2>/dev/null; done
sleep 1; rm -rf "$1"`;

function endWithThisProcess(folder: string): ChildProcess {
  const watcher = spawn("sh", ["-c", watching, "watch-cluster", folder], {
    ...{ cwd: "/", detached: true, stdio: ["pipe", "ignore", "ignore"] },
  });
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return watcher;
}

export class ClusterSite {
  readonly folder: string;
  readonly database: ClusterDatabase;
  readonly nodes: readonly ClusterNode[];
  readonly balancer: Balancer;
  readonly companies: readonly ClusterCompany[];
  readonly leaseMs: number;
  readonly password: string;
  readonly key: Buffer;
  readonly #site: Site;
  readonly #tree: Tree;

  private constructor(
    made: Pick<ClusterSite, "folder" | "database" | "nodes" | "balancer" | "companies" | "leaseMs">,
    { site, tree, key }: { readonly site: Site; readonly tree: Tree; readonly key: Buffer },
  ) {
    this.folder = made.folder;
    this.database = made.database;
    this.nodes = made.nodes;
    this.balancer = made.balancer;
    this.companies = made.companies;
    this.leaseMs = made.leaseMs;
    this.password = site.password;
    this.key = key;
    this.#site = site;
    this.#tree = tree;
  }

  /** With a tree and a database that have the companies; no node runs. */
  static async make(plan: ClusterPlan): Promise<ClusterSite> {
    const folder = await mkdtemp(join(tmpdir(), "dropgate-cluster-"));
    // The server's user goes through it.
    await chmod(folder, 0o755);
    for (const name of ["nodes", "pids"]) await mkdir(join(folder, name));
    endWithThisProcess(folder);
    const database = await ClusterDatabase.start(join(folder, "database"), {
      hasStandby: plan.hasStandby === true,
    });
    const site = await makePostgresSite(database.url, { console: { enabled: false } });
    const companies = companiesOf(plan.companies);
    for (const company of companies) {
      await database.ask(companyStatement(company));
      await ensureCompanyTree(join(site.stateDir, "companies"), company.code);
    }
    await watchCluster(database);
    const tree = await placeTree(site.stateDir, plan);
    const nodes = await makeNodes({ folder, database, tree }, plan, companies);
    const balancer = await startBalancer(
      join(folder, "haproxy.cfg"),
      nodes.map((node) => node.plan),
    );
    const made = { folder, database, nodes, balancer, companies, leaseMs: plan.leaseMs };
    return new ClusterSite(made, { site, tree, key: await readFile(site.keyFile) });
  }

  /** The address of HTTP before all nodes. */
  get http(): string {
    return `http://127.0.0.1:${this.balancer.httpPort}`;
  }

  get sftpPort(): number {
    return this.balancer.sftpPort;
  }

  get running(): readonly ClusterNode[] {
    return this.nodes.filter((node) => node.isRunning);
  }

  /** Absolute path in the tree of a company, not as a node sees it. */
  path(code: string, ...parts: readonly string[]): string {
    return join(this.#tree.outside, "companies", code, ...parts);
  }

  async startAll(): Promise<void> {
    await Promise.all(this.nodes.filter((node) => !node.isRunning).map((node) => node.start()));
  }

  /** `dropgate ledger verify` in words when it finds anything. */
  async verifyLedger(): Promise<readonly string[]> {
    const [node] = this.running;
    if (node === undefined) throw new Error("no node runs");
    const { exitCode, output } = await node.command("ledger", "verify");
    return exitCode === 0 ? [] : [`ledger verify ended with ${exitCode}: ${output}`];
  }

  /** Which node has each company, 0 for what concerns none. */
  async owners(): Promise<ReadonlyMap<string, string>> {
    const text = `select coalesce(code, '-'), coalesce(owner, '-') from leases left join companies on id = company_id`;
    return new Map((await this.database.ask(text)) as [string, string][]);
  }

  /** Whether each company has a node, and none of so many nodes has more than its share. */
  async areShared(nodes: number): Promise<boolean> {
    const owners = [...(await this.owners()).values()];
    const held = Map.groupBy(owners, (owner) => owner);
    const share = Math.ceil(owners.length / nodes);
    return !held.has("-") && [...held.values()].every(({ length }) => length <= share);
  }

  async end(): Promise<void> {
    for (const node of this.nodes) await node.end();
    await this.balancer.end();
    if (this.#tree.outside !== this.#site.stateDir) await rm(this.#tree.outside, { recursive: true });
    await this.#site.end();
    await this.database.end();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The tree as each node has it, and as it is looked at from outside. */
interface Tree {
  readonly ofNodes: readonly string[];
  readonly outside: string;
}

async function placeTree(stateDir: string, { nodes, mounts }: ClusterPlan): Promise<Tree> {
  if (mounts === undefined)
    return { ofNodes: Array.from({ length: nodes }, () => stateDir), outside: stateDir };
  const outsideMount = mounts[nodes];
  if (outsideMount === undefined || mounts.length > nodes + 1)
    throw new Error(`${nodes} nodes need ${nodes + 1} mounts`);
  const outside = await mkdtemp(join(outsideMount, "dropgate-tree-"));
  const copied = await runProgram("cp", ["-a", `${stateDir}/.`, outside]);
  if (copied.exitCode !== 0) throw new Error(`the tree was not copied: ${copied.output}`);
  return { ofNodes: mounts.slice(0, nodes).map((mount) => join(mount, basename(outside))), outside };
}

interface Ground {
  readonly folder: string;
  readonly database: ClusterDatabase;
  readonly tree: Tree;
}

async function makeNodes(
  { folder, database, tree }: Ground,
  plan: ClusterPlan,
  companies: readonly ClusterCompany[],
): Promise<readonly ClusterNode[]> {
  const settings: Settings = {
    ...{ security: lenient, inbound: oneParser, console: { enabled: false } },
    ...plan.settings,
    companies: Object.fromEntries(companies.map(({ code }) => [code, plan.company ?? {}])),
  };
  await writeFile(join(folder, "settings.json"), JSON.stringify(settings, null, 2));
  const made: ClusterNode[] = [];
  for (const [index, ownTree] of tree.ofNodes.entries()) {
    const [httpPort, sftpPort] = [await freePort(), await freePort()];
    const name = `gate-${index + 1}`;
    made.push(
      await ClusterNode.make({
        ...{ name, folder: join(folder, "nodes", name), pids: join(folder, "pids") },
        ...{ tree: ownTree, httpPort, sftpPort, settings },
        leaseMs: plan.leaseMs,
        databasePort: () => database.port,
        databaseUrl: () => database.url,
        hasTreeOfItsOwn: plan.hasTrees === true && canFreezeTrees,
      }),
    );
  }
  return made;
}
