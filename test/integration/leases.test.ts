/** Nodes that share out companies by leases, on a real server. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { LeaseKeeper } from "../../src/cluster/lease-keeper.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { type CompanyWork, fencedStore } from "../../src/store/cluster/ownership.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { FencedError, UnseenArrivalsError } from "../../src/store/database/fence.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { startLink } from "../support/tcp-link.ts";
import { waitFor } from "../support/wait-for.ts";

/** Long enough for a busy machine: only what has to run out has a shorter one. */
const usualLeaseMs = 10_000;
let server: PostgresServer;
let databases = 0;
let url: string;
let store: Store;
let companies: number[];

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});
beforeEach(async () => {
  if (!hasPostgres) return;
  databases += 1;
  url = await server.makeMigrated(`db_${databases}`);
  store = await openNode();
  companies = [];
  for (const code of ["A", "B", "C", "D", "E"]) {
    const made = await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
    companies.push(made.company.id);
  }
});

async function openNode(
  node?: { readonly name: string; readonly leaseMs: number },
  port?: number,
): Promise<Store> {
  const way = new URL(url);
  if (port !== undefined) way.port = String(port);
  const opened = await openStore(temporaryFolder(), { url: way.href, node });
  onTestFinished(() => opened.close());
  return opened;
}

interface TestNode {
  readonly keeper: LeaseKeeper;
  readonly has: Set<number>;
  readonly told: string[];
  readonly store: Store;
  /** What the end of its work waits for. */
  hangs?: Promise<void>;
}

/** A node whose work is to know what it has. */
async function startNode(
  name: string,
  given: {
    readonly incarnation?: string;
    readonly former?: string;
    readonly leaseMs?: number;
    readonly askTree?: () => Promise<void>;
    readonly arrivalsMs?: number;
    /** The port of its way to the server. */
    readonly port?: number;
    /** How long it takes to take a company over. */
    readonly takingMs?: number;
    /** What it does to take one over besides. */
    readonly take?: CompanyWork["take"];
  } = {},
) {
  const { leaseMs = usualLeaseMs } = given;
  const own = await openNode({ name, leaseMs }, given.port);
  if (own.leases === undefined || own.arrivals === undefined) throw new Error("this database has no leases");
  const { incarnation = `${name}-1`, former } = given;
  const has = new Set<number>();
  const told: string[] = [];
  const part: CompanyWork = {
    name: "knowing",
    async take(company, signal) {
      await pause(given.takingMs ?? 0);
      await given.take?.(company, signal);
      has.add(company.companyId);
    },
    async leave({ companyId }, { isFenced }) {
      told.push(`${isFenced ? "fenced" : "left"} ${companyId}`);
      await node.hangs;
      has.delete(companyId);
    },
  };
  const report = { name, incarnation, version: "1", schema: currentSchema, address: {}, settings: "" };
  const keeper = new LeaseKeeper({
    ...{ table: own.leases, report: () => report, formerIncarnation: former, leaseMs },
    companyCodeOf: async (id) => `company ${id}`,
    log: createLogger({ level: "error" }),
    arrivals: own.arrivals,
    async readArrived({ companyId, fileIds }, onInLine) {
      told.push(`read ${companyId}`);
      onInLine(fileIds);
    },
    refuseWrites: own.refuseWrites,
    balancersMs: 0,
    askTree: given.askTree ?? (async () => undefined),
    arrivalsMs: given.arrivalsMs ?? 100,
    replaced: () => void told.push("replaced"),
  });
  const node: TestNode = { keeper, has, told, store: own };
  keeper.add(part);
  await keeper.start(AbortSignal.timeout(20_000));
  onTestFinished(() => keeper.stop(AbortSignal.timeout(1_000)));
  return node;
}

describe.runIf(hasPostgres)("nodes with leases", () => {
  it("have each company once, and as many as their share", async () => {
    const one = await startNode("one");
    expect([...one.has].toSorted()).toEqual([0, ...companies]);
    const two = await startNode("two");
    await waitFor("the companies to be shared", () => one.has.size === 3 && two.has.size === 3);
    expect([...one.has, ...two.has].toSorted()).toEqual([0, ...companies]);
    expect(one.told.every((line) => line.startsWith("left"))).toBe(true);
  });

  it("keep what they have taken from a dead node for a lease, before they share it out", async () => {
    const leaseMs = 3_000;
    await store.write("site", async (tx) => {
      await tx.updateTable("leases").set({ owner: "dead", expires_at: 1 }).execute();
    });
    const begunAt = performance.now();
    const one = await startNode("one", { leaseMs });
    expect(one.has.size).toBe(6);
    const two = await startNode("two", { leaseMs });
    await waitFor("the companies to be shared", () => one.has.size === 3 && two.has.size === 3);
    expect(performance.now() - begunAt).toBeGreaterThan(leaseMs);
  });

  it("take what a node has let run out right then, although it was seen lately", async () => {
    const leaseMs = 8_000;
    const overAt = Date.now() + 10_000;
    const report = { name: "silent", incarnation: "silent-1", version: "1", schema: 1_000 };
    await store.leases?.enter({ ...report, address: {}, settings: "" }, { leaseMs, former: undefined });
    await store.write("site", async (tx) => {
      await tx
        .updateTable("nodes")
        .set({ seen_at: Date.now() + 600_000 })
        .execute();
      await tx.updateTable("leases").set({ owner: "silent", expires_at: overAt }).execute();
    });
    const one = await startNode("one", { leaseMs });
    expect(one.has.size).toBe(0);
    const delay = monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    await waitFor("it to have all", () => one.has.size === 6);
    delay.disable();
    /** For how long the process stood still, because the machine is busy. */
    const stoodMs = Math.max(0, delay.max / 1e6 - 10);
    const leases = await store.read.selectFrom("leases").select("expires_at").execute();
    const takenAt = Math.max(...leases.map((lease) => lease.expires_at)) - leaseMs;
    // The next round by itself would be up to a second later, and the silent one counted as a node for two.
    expect(takenAt).toBeLessThan(overAt + 900 + stoodMs);
  });

  it("are cut off when the database has not answered for half a lease, and are not when it does again", async () => {
    const link = await startLink(Number(new URL(url).port));
    onTestFinished(() => link.end());
    const leaseMs = 4_000;
    const one = await startNode("one", { leaseMs, port: link.port });
    expect(one.keeper.isCutOff).toBe(false);
    link.hold();
    const heldAt = performance.now();
    await waitFor("it to be cut off", () => one.keeper.isCutOff);
    expect(performance.now() - heldAt).toBeGreaterThan(leaseMs / 2);
    link.thaw();
    await waitFor("it not to be", () => !one.keeper.isCutOff);
  });

  it("keep their leases while they take companies over for longer than one lasts", async () => {
    const one = await startNode("one", { leaseMs: 8_000, takingMs: 10_000 });
    expect(one.has.size).toBe(6);
    expect(one.keeper.statistics()).toMatchObject({ lost: 0, lanes: { working: 6 } });
    expect(companies.filter((id) => one.keeper.fenceOf(id) === undefined)).toEqual([]);
  });

  it("give all back when they stop, and the others have them soon", async () => {
    const [one, two] = [await startNode("one"), await startNode("two")];
    await waitFor("the companies to be shared", () => two.has.size === 3);
    await one.keeper.stop(AbortSignal.timeout(60_000));
    expect(one.has.size).toBe(0);
    await waitFor("the other to have all", () => two.has.size === 6);
  });

  it("lose what they do not renew, and units of the former lease are refused", async () => {
    const one = await startNode("one");
    const fence = one.keeper.fenceOf(companies[0] ?? 0);
    const other = await openNode();
    // What a node that takes over does, with the lease of the first still running.
    await other.write("site", async (tx) => {
      for (const table of ["lanes", "leases"] as const)
        await tx
          .updateTable(table)
          .set((eb) => ({ epoch: eb("epoch", "+", 1) }))
          .execute();
      await tx.updateTable("leases").set({ owner: "two" }).execute();
    });
    const writing = one.store.write(companies[0] ?? 0, async () => "written", fence);
    await expect(writing).rejects.toThrow(FencedError);
    await waitFor("the node to notice", () => one.has.size === 0);
    expect(one.told.filter((line) => line.startsWith("fenced"))).toHaveLength(6);
    expect(one.keeper.fenceOf(companies[0] ?? 0)).toBeUndefined();
  });

  it("keep what is written for all the time, by the owner and by others", async () => {
    const one = await startNode("one");
    const [busy = 0] = companies;
    const until = performance.now() + 1.5 * usualLeaseMs;
    const write = async (writing: Store) => {
      while (performance.now() < until)
        await writing.write(busy, () => new Promise((resolve) => setTimeout(resolve, 100)));
    };
    await Promise.all([write(one.store), write(store), write(await openNode())]);
    expect(one.told.filter((word) => word.startsWith("fenced"))).toEqual([]);
  });

  it("do not decide while another node has entered files that they have not read", async () => {
    // It never asks by itself.
    const one = await startNode("one", { arrivalsMs: 600_000 });
    const [company = 0] = companies;
    const other = await openNode();
    const arrival = { company_id: company, file_id: 7, name: "a file" };
    await other.write(company, (tx) => tx.insertInto("arrivals").values(arrival).execute());
    const write = () =>
      fencedStore(one.store, one.keeper, { isOrdered: true }).write(company, async () => "written");
    await expect(write()).rejects.toThrow(UnseenArrivalsError);
    await one.keeper.lookForArrivals(company);
    expect(one.told).toContain(`read ${company}`);
    expect(await write()).toBe("written");
  });

  it("do not start under the name of one that is there, but at once where that was their own former process", async () => {
    const leaseMs = 6_000;
    const one = await startNode("one", { leaseMs });
    await expect(startNode("one", { incarnation: "another", leaseMs })).rejects.toThrow(
      /has the name one.*cluster\.node/,
    );
    const again = await startNode("one", { incarnation: "one-2", former: "one-1" });
    expect(again.has.size).toBe(6);
    await waitFor("the former to know", () => one.told.includes("replaced"));
  });

  it("lose their companies while their tree does not answer, though their work there never ends, and come back", async () => {
    const leaseMs = 3_000;
    const tree = Promise.withResolvers<void>();
    let isCut = false;
    const askTree = () => (isCut ? tree.promise : Promise.resolve());
    const one = await startNode("one", { leaseMs, askTree });
    one.hangs = tree.promise;
    isCut = true;
    const two = await startNode("two", { leaseMs });
    await waitFor("the other to have all", () => two.has.size === 6);
    expect(one.keeper.treeFault).toMatch(/has not answered for \d+ s/);
    isCut = false;
    tree.resolve();
    await waitFor("them to be shared again", () => two.has.size === 3 && one.has.size === 3);
    await waitFor("the tree to be there", () => one.keeper.treeFault === undefined);
  });

  it("are not renewed from the moment on at which the tree is late to answer", async () => {
    const leaseMs = 16_000;
    let hungAt: number | undefined;
    let isCut = false;
    const askTree = async () => {
      if (!isCut) return;
      hungAt ??= Date.now();
      await new Promise(() => undefined);
    };
    const one = await startNode("one", { leaseMs, askTree });
    isCut = true;
    await waitFor("the tree to be at fault", () => one.keeper.treeFault !== undefined);
    const leases = await store.read.selectFrom("leases").select("expires_at").execute();
    const renewedAt = Math.max(...leases.map((lease) => lease.expires_at)) - leaseMs;
    expect(renewedAt - (hungAt ?? 0)).toBeLessThan(leaseMs / 8);
  });

  it("are told of a company that a node died with until one has taken it over, whoever fails to", async () => {
    const [company = 0] = companies;
    const diedAt = Date.now() - usualLeaseMs - 60_000;
    const dead = { owner: "dead", expires_at: diedAt + usualLeaseMs };
    await store.write("site", (tx) =>
      tx.updateTable("leases").set(dead).where("company_id", "=", company).execute(),
    );
    const orphanedAt: (number | undefined)[] = [];
    const failing: CompanyWork["take"] = async (taken) => {
      if (taken.companyId !== company) return;
      orphanedAt.push(taken.orphanedAt);
      throw new Error("the disk is full");
    };
    const one = await startNode("one", { take: failing });
    await waitFor("it to try again", () => orphanedAt.length > 1);
    expect(one.has.size).toBe(5);
    await one.keeper.stop(AbortSignal.timeout(60_000));
    const noting: CompanyWork["take"] = async (taken) => {
      if (taken.companyId === company) orphanedAt.push(taken.orphanedAt);
    };
    const two = await startNode("two", { take: noting });
    expect(new Set(orphanedAt)).toEqual(new Set([diedAt]));
    // At once, or with the next round.
    await two.keeper.stop(AbortSignal.timeout(60_000));
    orphanedAt.length = 0;
    await startNode("three", { take: noting });
    expect(orphanedAt).toEqual([undefined]);
  });

  it("note what they have taken over of a dead node, so that none does it again after they die", async () => {
    const [company = 0] = companies;
    const orphaned = () =>
      store.read
        .selectFrom("leases")
        .select("orphaned_at")
        .where("company_id", "=", company)
        .executeTakeFirst();
    const dead = { owner: "dead", expires_at: Date.now() - 1 };
    await store.write("site", (tx) =>
      tx.updateTable("leases").set(dead).where("company_id", "=", company).execute(),
    );
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const starting = startNode("one", {
      take: ({ companyId }) => (companyId === company ? ended : Promise.resolve()),
    });
    await waitFor("it to have the lease", async () => (await orphaned())?.orphaned_at !== null);
    end();
    await starting;
    await waitFor("it to be noted", async () => (await orphaned())?.orphaned_at === null);
  });

  it("lose a company whose work does not end, two leases after they were to give it back", async () => {
    const leaseMs = 4_000;
    const one = await startNode("one", { leaseMs });
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    onTestFinished(() => end());
    one.hangs = ended;
    expect(await store.leases?.order("one", true)).toBe(true);
    await waitFor("its work to be ending", () => one.told.length >= 6);
    const two = await startNode("two", { leaseMs });
    await waitFor("the other to have all", () => two.has.size === 6);
    end();
    await waitFor("its work to have ended", () => one.has.size === 0);
    await store.leases?.order("one", false);
    await waitFor("them to be shared again", () => one.has.size === 3 && two.has.size === 3);
  });

  it("give their companies away when they are to drain, and take some when that is over", async () => {
    const [one, two] = [await startNode("one"), await startNode("two")];
    await waitFor("the companies to be shared", () => two.has.size === 3);
    expect(await store.leases?.order("one", true)).toBe(true);
    await waitFor("the other to have all", () => two.has.size === 6 && one.has.size === 0);
    expect(one.keeper.statistics().isDraining).toBe(true);
    await store.leases?.order("one", false);
    await waitFor("them to be shared again", () => one.has.size === 3 && two.has.size === 3);
  });
});
