/** What befalls a cluster in a round. Each fault comes and goes: at its end all nodes run again, or are on their way. */
import { setTimeout as pause } from "node:timers/promises";
import type { Outage } from "./cluster-checks.ts";
import { canFreezeTrees, type ClusterNode } from "./cluster-node.ts";
import type { ClusterSite } from "./cluster-site.ts";

export interface FaultGround {
  readonly site: ClusterSite;
  readonly random: () => number;
  /** Where times are noted in which nobody could decide anything. */
  readonly outages: Outage[];
}

export interface Fault {
  readonly kind: string;
  isPossible(site: ClusterSite): boolean;
  /** Resolves when it is over; gives what was done, in words. */
  strike(ground: FaultGround): Promise<string>;
}

const always = () => true;
const ofSeveral = ({ nodes }: ClusterSite) => nodes.length > 1;
const ofMany = ({ nodes }: ClusterSite) => nodes.length > 2;

function drawn<T>(all: readonly T[], random: () => number): T {
  const one = all[Math.floor(random() * all.length)];
  if (one === undefined) throw new Error("there is nothing to draw from");
  return one;
}

function shuffled<T>(all: readonly T[], random: () => number): readonly T[] {
  return all
    .map((each) => ({ each, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ each }) => each);
}

/** With one node, nobody decides anything until it is back. */
async function withoutNode<T>({ site, outages }: FaultGround, work: () => Promise<T>): Promise<T> {
  if (site.nodes.length > 1) return await work();
  return await duringOutage(outages, work);
}

async function duringOutage<T>(outages: Outage[], work: () => Promise<T>): Promise<T> {
  const from = Date.now();
  try {
    return await work();
  } finally {
    outages.push({ from, to: Date.now() });
  }
}

async function killAndStart(node: ClusterNode, downMs: number): Promise<void> {
  await node.kill();
  await pause(downMs);
  await node.start();
}

function killing(kind: string, count: (random: () => number, nodes: number) => number): Fault {
  return {
    kind,
    isPossible: kind === "kill" ? always : ofMany,
    async strike(ground) {
      const { site, random } = ground;
      const nodes = shuffled(site.nodes, random).slice(0, count(random, site.nodes.length));
      const downMs = nodes.map(() => Math.floor(random() * 2 * site.leaseMs));
      await withoutNode(ground, () =>
        Promise.all(nodes.map((node, at) => killAndStart(node, downMs[at] ?? 0))),
      );
      return nodes.map(({ name }, at) => `${name} for ${downMs[at]} ms`).join(", ");
    },
  };
}

async function whileFrozen(ground: FaultGround, node: ClusterNode): Promise<void> {
  await withoutNode(ground, async () => {
    await pause(2 * ground.site.leaseMs);
    node.thaw();
  });
}

const freeze: Fault = {
  kind: "freeze",
  isPossible: always,
  async strike(ground) {
    const node = drawn(ground.site.nodes, ground.random);
    node.freeze();
    await whileFrozen(ground, node);
    return node.name;
  },
};

const freezeInTransaction: Fault = {
  kind: "freezeInTransaction",
  isPossible: always,
  async strike(ground) {
    const node = drawn(ground.site.nodes, ground.random);
    const isInside = await node.freezeInTransaction(5_000);
    if (!isInside) node.freeze();
    await whileFrozen(ground, node);
    return `${node.name}${isInside ? "" : ", which had none open"}`;
  },
};

const killDatabase: Fault = {
  kind: "killDatabase",
  isPossible: always,
  async strike({ site, random, outages }) {
    const downMs = Math.floor(random() * site.leaseMs);
    await duringOutage(outages, async () => {
      await site.database.kill();
      await pause(downMs);
      await site.database.start();
    });
    return `for ${downMs} ms`;
  },
};

const promote: Fault = {
  kind: "promote",
  isPossible: ({ database }) => database.hasStandby,
  async strike({ site, outages }) {
    await duringOutage(outages, () => site.database.promote());
    await pause(site.leaseMs);
    // The disk is busy with the copy.
    await duringOutage(outages, () => site.database.restoreStandby());
    return "and a new standby made";
  },
};

const cutFromDatabase: Fault = {
  kind: "cutFromDatabase",
  isPossible: always,
  async strike(ground) {
    const { site, random } = ground;
    const node = drawn(site.nodes, random);
    const isSilent = random() < 0.5;
    await withoutNode(ground, async () => {
      if (isSilent) node.link.hold();
      else node.link.cutAfter(0);
      await pause(2 * site.leaseMs);
      node.link.thaw();
    });
    return `${node.name}, ${isSilent ? "without a word" : "each connection reset"}`;
  },
};

const cutFromTree: Fault = {
  kind: "cutFromTree",
  isPossible: (site) => canFreezeTrees && site.nodes.every(({ plan }) => plan.hasTreeOfItsOwn),
  async strike(ground) {
    const node = drawn(ground.site.nodes, ground.random);
    node.freezeTree();
    await withoutNode(ground, () => pause(2 * ground.site.leaseMs));
    node.thawTree();
    return node.name;
  },
};

const restart: Fault = {
  kind: "restart",
  isPossible: always,
  async strike(ground) {
    const node = drawn(ground.site.nodes, ground.random);
    const exitCode = await withoutNode(ground, async () => {
      const code = await node.stop();
      await node.start();
      return code;
    });
    if (exitCode !== 0)
      throw new Error(`${node.name} ended with ${exitCode}: ${node.runs.at(-2)?.text.slice(-2_000)}`);
    return node.name;
  },
};

async function mustRun(node: ClusterNode, ...args: readonly string[]): Promise<void> {
  const { exitCode, output } = await node.command(...args);
  if (exitCode !== 0) throw new Error(`dropgate ${args.join(" ")} ended with ${exitCode}: ${output}`);
}

const drain: Fault = {
  kind: "drain",
  isPossible: ofSeveral,
  async strike({ site, random }) {
    const [node, other] = shuffled(site.nodes, random);
    if (node === undefined || other === undefined) throw new Error("there is one node");
    await mustRun(other, "nodes", "drain", node.name);
    await pause(2 * site.leaseMs);
    await mustRun(other, "nodes", "resume", node.name);
    return node.name;
  },
};

/** Two at the same moment, on different nodes or on a node and the database. */
const several: Fault = {
  kind: "several",
  isPossible: ofMany,
  async strike(ground) {
    const { site, random, outages } = ground;
    const [killed, frozen] = shuffled(site.nodes, random);
    if (killed === undefined || frozen === undefined) throw new Error("there is one node");
    const withDatabase = random() < 0.4;
    const freezing = async () => {
      frozen.freeze();
      await whileFrozen(ground, frozen);
    };
    const away = async () => {
      await site.database.kill();
      await site.database.start();
    };
    const work = [killAndStart(killed, site.leaseMs), freezing()];
    if (withDatabase) work.push(duringOutage(outages, away));
    await Promise.all(work);
    return `${killed.name} killed, ${frozen.name} frozen${withDatabase ? ", database killed" : ""}`;
  },
};

/** One is left. */
const most = (random: () => number, nodes: number) => 2 + Math.floor(random() * (nodes - 2));

export const faults: readonly Fault[] = [
  killing("kill", () => 1),
  killing("killSeveral", most),
  ...[
    freeze,
    freezeInTransaction,
    killDatabase,
    promote,
    cutFromDatabase,
    cutFromTree,
    restart,
    drain,
    several,
  ],
];
