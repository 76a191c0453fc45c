/** The inbound pipelines of several nodes over one database of a real server and one tree of folders, in one process. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { LeaseKeeper } from "../../src/cluster/lease-keeper.ts";
import { gatherArrivals } from "../../src/exchange/arrivals/gathered-arrivals.ts";
import { NodePipeline } from "../../src/inbound/node-pipeline.ts";
import type { Arrival, ArrivalSink } from "../../src/inbound/places/inbox.ts";
import { createLocations, type Locations } from "../../src/inbound/places/locations.ts";
import { newMark, placeArrival } from "../../src/inbound/places/place-arrival.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { pinFolder } from "../../src/lib/files/open-regular-file.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { CompanyWork } from "../../src/store/cluster/ownership.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { enterFile, type LedgerEntry, toLedgerEntry } from "../../src/store/ledger/files.ts";
import { ledgerNumbers } from "./ledger-numbers.ts";
import { hasPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";
import { receiptName } from "./stop-files.ts";
import { sharedDocuments } from "./shared-documents.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { waitFor } from "./wait-for.ts";

/** Of each node, in milliseconds: a machine that is busy with others loses none, and rounds are not far apart. */
export const leaseMs = 6_000;

const log = createLogger({ level: "error" });
const settings = {
  ...{ groupSize: 4, incompleteGraceMs: 60_000, giveUpAfterMs: 3_600_000 },
  ...{ maxFileBytes: 50 * 2 ** 20, storePauseMs: 100 },
  rulesFor: () => ({ names: "strict", lateFiles: "refuse" }) as const,
};

export interface PipelineNode {
  /** Whether its leases are over, as it would find out next. */
  isLost: boolean;
  readonly keeper: LeaseKeeper;
  readonly pipeline: NodePipeline;
  readonly arrivals: Pick<ArrivalSink, "arrive" | "flush">;
  /** As the close of an upload does it. */
  upload(name: string, content: string): Promise<void>;
}

/** The name of a file whose time is so many seconds after a fixed one. */
export const named = (stopNbr: string, second: number) =>
  `${stopNbr}_20261105_08${String(Math.floor(second / 60)).padStart(2, "0")}${String(second % 60).padStart(2, "0")}.xml`;

export function stop(stopNbr: string, text: string): string {
  return `<Stop><Function>01</Function><StopNbr>${stopNbr}</StopNbr><ShipToName>${text}</ShipToName></Stop>`;
}

/** The database and the tree of one test, with the company ACME. */
export class PipelineSite {
  readonly locations: Locations = createLocations(temporaryFolder());
  readonly store: Store;
  /** The id of the company. */
  readonly acme: number;
  /** Of each node. */
  settleMs = 20;
  readonly #url: string;

  private constructor(given: { store: Store; acme: number; url: string }) {
    this.store = given.store;
    this.acme = given.acme;
    this.#url = given.url;
  }

  static async make(url: string): Promise<PipelineSite> {
    const store = await openStoreOf(url);
    const made = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const site = new PipelineSite({ store, acme: made.company.id, url });
    mkdirSync(join(site.locations.inboundDirectory("ACME"), ".again"), { recursive: true });
    return site;
  }

  /** `rest`: what begins for each company after its pipeline. */
  async startNode(name: string, arrivalsMs = 100, rest: Partial<CompanyWork> = {}): Promise<PipelineNode> {
    const own = await openStoreOf(this.#url);
    if (own.leases === undefined || own.arrivals === undefined)
      throw new Error("this database has no leases");
    const companyCodeOf = async () => "ACME";
    const report = {
      name,
      incarnation: name,
      version: "1",
      schema: currentSchema,
      address: {},
      settings: "",
    };
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
        leaseMs,
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
        documents: sharedDocuments,
        locations: this.locations,
        ledgerNumbers,
        clock: systemClock,
        log,
        companyCodeOf,
      },
      settings: () => ({ ...settings, settleMs: this.settleMs }),
      ownership: {
        isSole: false,
        fenceOf: (companyId) => (node.isLost ? undefined : keeper.fenceOf(companyId)),
      },
      lookForArrivals: (companyId) => keeper.lookForArrivals(companyId),
      takenLookMs: 100,
      flushUploads: (companyId) => arrivals.flush(companyId),
    });
    const arrivals = gatherArrivals(pipeline);
    keeper.add(pipeline);
    keeper.add({ name: "rest", take: async () => undefined, leave: async () => undefined, ...rest });
    await pipeline.start();
    await keeper.start(AbortSignal.timeout(20_000));
    onTestFinished(async () => {
      await keeper.stop(AbortSignal.timeout(2_000));
      await pipeline.stop();
    });
    return Object.assign(node, {
      ...{ keeper, pipeline, arrivals },
      upload: async (file: string, content: string) => {
        const placed = await this.place(pipeline, file, content);
        if (pipeline.isToEnter(placed)) await pipeline.enterElsewhere([placed]);
        else arrivals.arrive(placed);
      },
    });
  }

  /** Up to where the file lies under its final name. */
  async place(inbox: NodePipeline, name: string, content: string): Promise<Arrival> {
    const { locations, acme } = this;
    const inbound = await pinFolder(locations.companiesDirectory, ["ACME", "inbound"]);
    const from = join(locations.inboundDirectory("ACME"), `.${newMark()}`);
    writeFileSync(from, content);
    const arrival = { companyId: acme, name, channel: "sftp", size: content.length } as const;
    const placed = await placeArrival({ inbox }, { from, inbound, arrival });
    await inbound.close();
    return placed;
  }

  /** As a scan hands that file over, which has reserved its path. */
  found({ companyId, name, path, size }: Arrival): Arrival {
    return { companyId, name, path, size, channel: "recovered" };
  }

  /** Once each has one of the two leases: the one that has the company, and the other. */
  async ownerFirst(one: PipelineNode, two: PipelineNode): Promise<readonly [PipelineNode, PipelineNode]> {
    const works = ({ keeper }: PipelineNode) => keeper.statistics().lanes.working === 1;
    await waitFor("the companies to be shared out", () => works(one) && works(two));
    return one.pipeline.isElsewhere(this.acme) ? [two, one] : [one, two];
  }

  /** The one that has the company, and the other; neither looks by itself for what the other has entered. */
  async nodesThatNeverAsk(): Promise<readonly [PipelineNode, PipelineNode]> {
    const never = 600_000;
    const [one, two] = [await this.startNode("one", never), await this.startNode("two", never)];
    return await this.ownerFirst(one, two);
  }

  async ledger(): Promise<readonly LedgerEntry[]> {
    return (await this.store.read.selectFrom("files").selectAll().orderBy("id").execute()).map(toLedgerEntry);
  }

  /** When so many files are filed away, and no other is there. */
  async decided(count: number): Promise<readonly LedgerEntry[]> {
    await waitFor(`${count} files to be filed away`, async () => {
      const all = await this.ledger();
      return all.length >= count && all.every(({ isFiled }) => isFiled);
    });
    return await this.ledger();
  }

  receiptPath(name: string): string {
    return join(this.locations.receiptsDirectory("ACME"), receiptName(name));
  }

  receipt(name: string): string {
    return readFileSync(this.receiptPath(name), "utf8");
  }

  /** A file in `inbound/` with its entry. */
  async entered(name: string) {
    const { locations, acme } = this;
    const path = join(locations.inboundDirectory("ACME"), name);
    writeFileSync(path, stop("a1", "waits"));
    const nameTime = Number(name.slice(3).replace(/\D/g, ""));
    const file = { companyId: acme, name, size: 1, channel: "sftp", userName: null, receivedAt: 1 } as const;
    const entry = { ...file, nameTime, location: locations.toLedger(path) };
    const id = await this.store.write(acme, (tx) => enterFile(tx, entry));
    return { id, arrival: { companyId: acme, name, path, channel: "sftp", size: 1 } as const };
  }

  async setFiled(id: number, isFiled: 0 | 1): Promise<void> {
    await this.store.write(this.acme, async (tx) => {
      const set = tx.updateTable("files").set({ state: "applied", is_filed: isFiled });
      await set.where("id", "=", id).execute();
    });
  }

  /** As a node leaves the company that died with it, whose lease is over then. */
  async orphan(overAt = Date.now()): Promise<void> {
    const dead = { owner: "dead", expires_at: Math.trunc(overAt) - 1 };
    await this.store.write(this.acme, (tx) =>
      tx.updateTable("leases").set(dead).where("company_id", "=", this.acme).execute(),
    );
  }
}

async function openStoreOf(url: string): Promise<Store> {
  const opened = await openStore(temporaryFolder(), { url });
  onTestFinished(() => opened.close());
  return opened;
}

/** Gives the site of the test, of each of the file; where PostgreSQL is not installed there is none. */
export function pipelineSiteForEachTest(): () => PipelineSite {
  let server: PostgresServer | undefined;
  let count = 0;
  let site: PipelineSite | undefined;
  beforeAll(async () => {
    if (hasPostgres) server = await startPostgres();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    if (server === undefined) return;
    count += 1;
    site = await PipelineSite.make(await server.makeMigrated(`db_${count}`));
  });
  return () => {
    if (site === undefined) throw new Error("there is no site: the test has not begun");
    return site;
  };
}
