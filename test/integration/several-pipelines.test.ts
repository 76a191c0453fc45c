/** The inbound pipelines of several nodes over one database of a real server and one tree of folders. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { LeaseKeeper } from "../../src/cluster/lease-keeper.ts";
import { createDocumentPool } from "../../src/documents/pool/document-pool.ts";
import { NodePipeline } from "../../src/inbound/node-pipeline.ts";
import { createLocations, type Locations } from "../../src/inbound/places/locations.ts";
import { newMark, placeArrival } from "../../src/inbound/places/place-arrival.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { pinFolder } from "../../src/lib/files/open-regular-file.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { CompanyWork } from "../../src/store/cluster/ownership.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { enterFile, listOpenFiles, requestRetry, toLedgerEntry } from "../../src/store/ledger/files.ts";
import { ledgerNumbers } from "../support/ledger-numbers.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { receiptName } from "../support/stop-files.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const signal = new AbortController().signal;
const log = createLogger({ level: "error" });
const documents = createDocumentPool({ log, threads: 1 });
let server: PostgresServer;
let databases = 0;
let url: string;
let store: Store;
let locations: Locations;
let acme: number;

beforeAll(async () => {
  await documents.start(signal);
  if (hasPostgres) server = await startPostgres();
});
afterAll(async () => {
  await documents.stop(signal);
  if (hasPostgres) server.stop();
});
beforeEach(async () => {
  if (!hasPostgres) return;
  databases += 1;
  url = await server.makeMigrated(`db_${databases}`);
  locations = createLocations(temporaryFolder());
  store = await openNode();
  acme = (await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }))).company.id;
  mkdirSync(join(locations.inboundDirectory("ACME"), ".again"), { recursive: true });
});

async function openNode(): Promise<Store> {
  const opened = await openStore(temporaryFolder(), { url });
  onTestFinished(() => opened.close());
  return opened;
}

interface TestNode {
  /** Whether its leases are over, as it would find out next. */
  isLost: boolean;
  readonly keeper: LeaseKeeper;
  readonly pipeline: NodePipeline;
  /** As the close of an upload does it. */
  upload(name: string, content: string): Promise<void>;
}

const settings = {
  ...{ groupSize: 4, settleMs: 20, incompleteGraceMs: 60_000, giveUpAfterMs: 3_600_000 },
  ...{ maxFileBytes: 50 * 2 ** 20, storePauseMs: 100 },
  rulesFor: () => ({ names: "strict", lateFiles: "refuse" }) as const,
};

/** `rest`: what begins for each company after its pipeline. */
async function startNode(
  name: string,
  arrivalsMs = 100,
  rest: CompanyWork["take"] = async () => undefined,
): Promise<TestNode> {
  const own = await openNode();
  if (own.leases === undefined || own.arrivals === undefined) throw new Error("this database has no leases");
  const companyCodeOf = async () => "ACME";
  const report = { name, incarnation: name, version: "1", schema: currentSchema, address: {}, settings: "" };
  const keeper = new LeaseKeeper({
    ...{
      table: own.leases,
      arrivals: own.arrivals,
      report: () => report,
      formerIncarnation: undefined,
      companyCodeOf,
      log,
    },
    ...{
      leaseMs: 2_000,
      arrivalsMs,
      refuseWrites: own.refuseWrites,
      balancersMs: 0,
      askTree: async () => undefined,
    },
    readArrived: (arrivals, onInLine) => pipeline.readArrived(arrivals, onInLine),
    replaced: () => undefined,
  });
  const node = { isLost: false };
  const pipeline: NodePipeline = new NodePipeline({
    ...{
      store: own,
      arrivals: own.arrivals,
      documents,
      locations,
      ledgerNumbers,
      clock: systemClock,
      log,
      companyCodeOf,
    },
    settings: () => settings,
    ownership: {
      isSole: false,
      fenceOf: (companyId) => (node.isLost ? undefined : keeper.fenceOf(companyId)),
    },
    lookForArrivals: (companyId) => keeper.lookForArrivals(companyId),
    takenLookMs: 100,
  });
  keeper.add(pipeline);
  keeper.add({ name: "rest", take: rest, leave: async () => undefined });
  await pipeline.start();
  await keeper.start(AbortSignal.timeout(20_000));
  onTestFinished(async () => {
    await keeper.stop(AbortSignal.timeout(2_000));
    await pipeline.stop();
  });
  const uploading = (file: string, content: string) => upload(pipeline, file, content);
  return Object.assign(node, { keeper, pipeline, upload: uploading });
}

async function upload(inbox: NodePipeline, name: string, content: string): Promise<void> {
  const inbound = await pinFolder(locations.companiesDirectory, ["ACME", "inbound"]);
  const from = join(locations.inboundDirectory("ACME"), `.${newMark()}`);
  writeFileSync(from, content);
  const arrival = { companyId: acme, name, channel: "sftp", size: content.length } as const;
  const placed = await placeArrival({ inbox }, { from, inbound, arrival });
  if (inbox.isElsewhere(acme)) await inbox.enterElsewhere([placed]);
  else void inbox.arriveAll([placed]);
  await inbound.close();
}

/** Once each has one of the two leases: the one that has the company, and the other. */
async function ownerFirst(one: TestNode, two: TestNode): Promise<readonly [TestNode, TestNode]> {
  const works = ({ keeper }: TestNode) => keeper.statistics().lanes.working === 1;
  await waitFor("the companies to be shared out", () => works(one) && works(two));
  return one.pipeline.isElsewhere(acme) ? [two, one] : [one, two];
}

/** The one that has the company, and the other; neither looks by itself for what the other has entered. */
async function nodesThatNeverAsk(): Promise<readonly [TestNode, TestNode]> {
  const never = 600_000;
  const [one, two] = [await startNode("one", never), await startNode("two", never)];
  return await ownerFirst(one, two);
}

function stop(stopNbr: string, text: string): string {
  return `<Stop><Function>01</Function><StopNbr>${stopNbr}</StopNbr><ShipToName>${text}</ShipToName></Stop>`;
}

const ledger = async () =>
  (await store.read.selectFrom("files").selectAll().orderBy("id").execute()).map(toLedgerEntry);

async function decided(count: number) {
  await waitFor(`${count} files to be filed away`, async () => {
    const all = await ledger();
    return all.length >= count && all.every(({ isFiled }) => isFiled);
  });
  return await ledger();
}

const receiptPath = (name: string) => join(locations.receiptsDirectory("ACME"), receiptName(name));
const receipt = (name: string) => readFileSync(receiptPath(name), "utf8");

/** A file in `inbound/` with its entry. */
async function entered(name: string) {
  const path = join(locations.inboundDirectory("ACME"), name);
  writeFileSync(path, stop("a1", "waits"));
  const nameTime = Number(name.slice(3).replace(/\D/g, ""));
  const file = { companyId: acme, name, size: 1, channel: "sftp", userName: null, receivedAt: 1 } as const;
  const entry = { ...file, nameTime, location: locations.toLedger(path) };
  const id = await store.write(acme, (tx) => enterFile(tx, entry));
  return { id, arrival: { companyId: acme, name, path, channel: "sftp", size: 1 } as const };
}

const setFiled = (id: number, isFiled: 0 | 1) =>
  store.write(acme, async (tx) => {
    const set = tx.updateTable("files").set({ state: "applied", is_filed: isFiled });
    await set.where("id", "=", id).execute();
  });

/** A name whose time is so many seconds after a fixed one. */
const named = (stopNbr: string, second: number) =>
  `${stopNbr}_20261105_08${String(Math.floor(second / 60)).padStart(2, "0")}${String(second % 60).padStart(2, "0")}.xml`;

describe.runIf(hasPostgres)("pipelines of several nodes", () => {
  it("give a file back that a node had taken away, which woke up amid the move of a filed one and died", async () => {
    await startNode("one");
    const { id } = await entered(named("a1", 1));
    rmSync(join(locations.inboundDirectory("ACME"), named("a1", 1)));
    await setFiled(id, 1);
    writeFileSync(join(locations.inboundDirectory("ACME"), `.${id}.0123abcd.gone`), "newer");
    const path = join(locations.inboundDirectory("ACME"), named("a1", 1));
    await waitFor("the file to be back", () => existsSync(path));
    expect(readFileSync(path, "utf8")).toBe("newer");
  });

  it("have a file in the ledger when its node answers, and the one that has the company decides about it", async () => {
    const [one, two] = [await startNode("one"), await startNode("two")];
    const [owner, other] = await ownerFirst(one, two);
    await other.upload(named("a1", 0), stop("a1", "x"));
    expect(await ledger()).toHaveLength(1);
    expect(await decided(1)).toMatchObject([{ name: named("a1", 0), state: "applied" }]);
    expect(receipt(named("a1", 0))).toContain("<Status>10</Status>");
    expect(readdirSync(join(locations.inboundDirectory("ACME"), ".again"))).toEqual([]);
    expect(owner.pipeline.statistics().decided.get(acme)).toMatchObject({ applied: 1 });
  });

  it("decide about no file before those that another node has answered earlier", async () => {
    const [owner, other] = await nodesThatNeverAsk();
    const stops = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const rounds = 2;
    for (let round = 0; round < rounds; round += 1)
      for (const stopNbr of stops) {
        await other.upload(named(stopNbr, 2 * round), stop(stopNbr, `v${2 * round}`));
        await owner.upload(named(stopNbr, 2 * round + 1), stop(stopNbr, `v${2 * round + 1}`));
      }
    const entries = await decided(2 * rounds * stops.length);
    expect(entries.filter(({ state }) => state !== "applied")).toEqual([]);
  });

  it("decide about a file while others of other stops, which are answered elsewhere, are not in line yet", async () => {
    const [owner, other] = await nodesThatNeverAsk();
    const hold = await owner.pipeline.hold(acme);
    await owner.upload(named("a1", 0), stop("a1", "x"));
    for (const stopNbr of ["b1", "b2"]) await other.upload(named(stopNbr, 1), stop(stopNbr, "x"));
    await waitFor("all to be in the ledger", async () => (await ledger()).length === 3);
    // Where none is ever put in line, one of another stop still is decided.
    owner.pipeline.readArrived = () => new Promise(() => undefined);
    hold();
    await waitFor("it to be decided", async () => (await ledger()).some(({ state }) => state === "applied"));
    const states = Object.fromEntries((await ledger()).map(({ name, state }) => [name, state]));
    expect(states).toEqual({
      [named("a1", 0)]: "applied",
      ...{ [named("b1", 1)]: "waiting", [named("b2", 1)]: "waiting" },
    });
  });

  it("decide about no file while an earlier one of its stop, which was answered elsewhere, is not in line", async () => {
    const [owner, other] = await nodesThatNeverAsk();
    const hold = await owner.pipeline.hold(acme);
    await other.upload(named("a1", 0), stop("a1", "first"));
    await owner.upload(named("a1", 1), stop("a1", "second"));
    await waitFor("both to be in the ledger", async () => (await ledger()).length === 2);
    hold();
    expect((await decided(2)).map(({ state }) => state)).toEqual(["applied", "applied"]);
  });

  it("are told of what others have entered by whatever they write for the company", async () => {
    const [owner, other] = await nodesThatNeverAsk();
    await other.upload(named("a1", 5), stop("a1", "x"));
    // Its decision waits for none of later files.
    await owner.upload(named("b1", 0), stop("b1", "x"));
    expect((await decided(2)).map(({ state }) => state)).toEqual(["applied", "applied"]);
  });

  it("hand the company over while files come, without losing, doubling or reordering any", async () => {
    const nodes = [await startNode("one"), await startNode("two")];
    const count = 120;
    for (let second = 0; second < count; second += 1) {
      if (second % 30 === 10) await store.leases?.order(second % 60 === 10 ? "one" : "two", true);
      if (second % 30 === 20) for (const name of ["one", "two"]) await store.leases?.order(name, false);
      await nodes[second % 2]?.upload(named("a1", second), stop("a1", `v${second}`));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const entries = await decided(count);
    expect(entries).toHaveLength(count);
    expect(entries.filter(({ state }) => state !== "applied")).toEqual([]);
  });

  it("go on with what waits in the ledger when they take a company over", async () => {
    await entered(named("a1", 1));
    await startNode("one");
    expect(await decided(1)).toMatchObject([{ state: "applied" }]);
  });

  it("write the receipts anew that a dead node may have lost, and none that one had before it gave the company back", async () => {
    const [lost, removed] = [named("a1", 0), named("b1", 0)];
    const one = await startNode("one");
    for (const name of [lost, removed]) await one.upload(name, stop(name.slice(0, 2), "x"));
    await decided(2);
    for (const name of [lost, removed])
      await waitFor("the receipt to be there", () => existsSync(receiptPath(name)));
    await one.keeper.stop(AbortSignal.timeout(5_000));
    rmSync(receiptPath(removed));
    // Given back: what is not there was collected.
    const two = await startNode("two");
    await two.keeper.stop(AbortSignal.timeout(5_000));
    expect(existsSync(receiptPath(removed))).toBe(false);
    rmSync(receiptPath(lost));
    const dead = { owner: "dead", expires_at: Date.now() - 1 };
    await store.write(acme, (tx) =>
      tx.updateTable("leases").set(dead).where("company_id", "=", acme).execute(),
    );
    await startNode("three");
    await waitFor("the receipts to be there again", () =>
      [lost, removed].every((name) => existsSync(receiptPath(name))),
    );
  });

  it("decide about files while the other work of a company has still to begin", async () => {
    const one = await startNode("one");
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    onTestFinished(() => begin());
    await store.leases?.order("one", true);
    await waitFor("it to have given all away", () => one.keeper.statistics().lanes.working === 0);
    const starting = startNode("two", 100, ({ companyId }) =>
      companyId === acme ? begun : Promise.resolve(),
    );
    await waitFor("the other to have the lease", async () =>
      ((await store.leases?.owners()) ?? []).every(({ owner }) => owner === "two"),
    );
    await one.upload(named("a1", 0), stop("a1", "x"));
    expect(await decided(1)).toMatchObject([{ state: "applied" }]);
    begin();
    const two = await starting;
    expect(two.keeper.statistics().lanes.working).toBe(2);
  });

  it("retry a file where the company is, whichever node is asked", async () => {
    const [one, two] = [await startNode("one"), await startNode("two")];
    const [, other] = await ownerFirst(one, two);
    await other.upload(named("a1", 0), "<Stop>");
    const [refused] = await decided(1);
    expect(refused?.state).toBe("refused");
    await store.write(acme, (tx) => requestRetry(tx, { id: refused?.id ?? 0, now: 2 }));
    await waitFor(
      "the retry",
      async () => (await listOpenFiles(store.read, { states: ["retry"], afterId: 0, limit: 9 })).length === 0,
    );
  });

  it("enter a file that was answered once, also when the other has decided about it and not moved it yet", async () => {
    const [, other] = await nodesThatNeverAsk();
    const files = [await entered(named("a1", 1)), await entered(named("a1", 2))];
    for (const { id } of files) await setFiled(id, 0);
    const [decidedOne, replaced] = files.map(({ arrival }) => arrival);
    if (decidedOne === undefined || replaced === undefined) throw new Error("there are two");
    await other.pipeline.arriveAll([decidedOne, replaced]);
    await pause(300);
    expect(await ledger()).toHaveLength(2);
    // One is moved away as the file of its entry; in the place of the other is a later file of the name.
    rmSync(decidedOne.path);
    for (const { id } of files) await setFiled(id, 1);
    await waitFor("the later one to be entered", async () => (await ledger()).length > 2);
    await other.pipeline.stop();
    expect((await ledger()).map(({ name }) => name)).toEqual([decidedOne.name, replaced.name, replaced.name]);
  });

  it("have a file in the ledger when they answer it after their lease, whatever still ends there", async () => {
    const one = await startNode("one");
    one.isLost = true;
    await one.upload(named("a1", 0), stop("a1", "late"));
    expect(await ledger()).toMatchObject([{ name: named("a1", 0), channel: "sftp" }]);
  });

  it("give the company back although an upload began before that and ends behind it", async () => {
    const one = await startNode("one");
    const inbound = await pinFolder(locations.companiesDirectory, ["ACME", "inbound"]);
    const from = join(locations.inboundDirectory("ACME"), `.${newMark()}`);
    const text = stop("a1", "straddles");
    writeFileSync(from, text);
    const arrival = { companyId: acme, name: named("a1", 0), channel: "sftp", size: text.length } as const;
    const placed = await placeArrival({ inbox: one.pipeline }, { from, inbound, arrival });
    await inbound.close();
    await store.leases?.order("one", true);
    await waitFor("the company to be leaving", () => one.pipeline.isElsewhere(acme));
    await one.pipeline.enterElsewhere([placed]);
    await waitFor("the path to be given back", () => !one.pipeline.isKnown(placed.path));
    await waitFor("it to be given back", () => one.keeper.statistics().lanes.draining === 0);
    expect(one.keeper.statistics().lost).toBe(0);
    await startNode("two");
    expect(await decided(1)).toMatchObject([{ state: "applied" }]);
    expect(await ledger()).toHaveLength(1);
  });
});
