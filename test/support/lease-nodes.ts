/** Nodes that share a database of PostgreSQL by leases, in one process: each has its own store and keeper. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { LeaseKeeper } from "../../src/cluster/lease-keeper.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { formatConfigFaults } from "../../src/config/reader/config-fault.ts";
import type { Config } from "../../src/config/schema.ts";
import { createLogger, type Logger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { type CompanyWork, fencedStore } from "../../src/store/cluster/ownership.ts";
import { currentSchema } from "../../src/store/database/schema-plan.ts";
import type { OpenOptions, Store } from "../../src/store/database/database.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "./postgres-server.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { openUncheckedStore } from "./unchecked-store.ts";
import { waitFor } from "./wait-for.ts";

export interface LeaseNode {
  readonly name: string;
  readonly keeper: LeaseKeeper;
  /** Of which no unit is refused. */
  readonly store: Store;
  /** What the log has of warnings and errors, but for leases that are lost. */
  readonly complaints: readonly string[];
}

export interface NodeMaking {
  readonly keeper: LeaseKeeper;
  /** Units of companies that the node has lost are refused. */
  readonly store: Store;
  readonly log: Logger;
}

/** The database of one test, with its companies. */
export class SharedDatabase {
  readonly url: string;
  readonly store: Store;
  readonly companies: readonly number[];
  /** Long enough that a machine which is busy with others loses none. */
  leaseMs = 10_000;

  constructor(url: string, store: Store, companies: readonly number[]) {
    this.url = url;
    this.store = store;
    this.companies = companies;
  }

  /** A node with these parts of the work of companies, which the test makes and starts. */
  async startNode(
    name: string,
    partsOf: (making: NodeMaking) => Promise<readonly CompanyWork[]>,
  ): Promise<LeaseNode> {
    const store = await openNode(this.url, { node: { name, leaseMs: this.leaseMs } });
    if (store.leases === undefined || store.arrivals === undefined)
      throw new Error("this database has no leases");
    const complaints: string[] = [];
    const log = createLogger({
      level: "warn",
      destination: {
        write(line: string) {
          const { msg, err } = JSON.parse(line) as { msg: string; err?: { message: string } };
          // On a machine that is busy with others.
          if (msg.startsWith("the lease of a company is lost")) return;
          complaints.push(err === undefined ? msg : `${msg}: ${err.message}`);
        },
      },
    });
    const report = {
      name,
      incarnation: `${name}-1`,
      version: "1",
      schema: currentSchema,
      address: {},
      settings: "",
    };
    const keeper = new LeaseKeeper({
      ...{
        table: store.leases,
        arrivals: store.arrivals,
        report: () => report,
        formerIncarnation: undefined,
        log,
      },
      leaseMs: this.leaseMs,
      companyCodeOf: async (id) => `C${this.companies.indexOf(id)}`,
      readArrived: async ({ fileIds }, onInLine) => onInLine(fileIds),
      refuseWrites: store.refuseWrites,
      balancersMs: 0,
      askTree: async () => undefined,
      replaced() {
        throw new Error("another process has the name of the node");
      },
    });
    const parts = await partsOf({ keeper, store: fencedStore(store, keeper), log });
    for (const part of parts) keeper.add(part);
    await keeper.start(AbortSignal.timeout(60_000));
    onTestFinished(() => keeper.stop(AbortSignal.timeout(5_000)));
    return { name, keeper, store, complaints };
  }

  /** Which node has the company. */
  async ownerOf(companyId: number): Promise<string | undefined> {
    const [[owner = null] = []] = await askPostgres(
      this.url,
      `select owner from leases where company_id = ${companyId}`,
    );
    return typeof owner === "string" ? owner : undefined;
  }

  /** Has the lease of a company run out for the node that has it, which does not know, and another one take it. */
  async rob(companyId: number, to: string): Promise<void> {
    await askPostgres(
      this.url,
      `with robbed as (update lanes set epoch = epoch + 1 where company_id = ${companyId} returning *)
       update leases set owner = '${to}', epoch = robbed.epoch, expires_at = 0 from robbed
       where leases.company_id = robbed.company_id`,
    );
  }

  /** Has one node give all of its companies away, and take some again when the others have them. */
  async drainOnce({ name, keeper }: LeaseNode): Promise<void> {
    const { leases } = this.store;
    await leases?.order(name, true);
    await waitFor("it to have given all away", () =>
      Object.values(keeper.statistics().lanes).every((count) => count === 0),
    );
    await leases?.order(name, false);
    await waitFor("it to have some again", () => keeper.statistics().lanes.working > 0);
  }
}

async function openNode(url: string, given: Pick<OpenOptions, "node"> = {}): Promise<Store> {
  const opened = await openUncheckedStore(temporaryFolder(), { url, ...given });
  onTestFinished(() => opened.close());
  return opened;
}

/** Gives a new database with so many companies, `C0` and so on, for each test of the file. */
export function databaseForEachTest(companies: number): () => SharedDatabase {
  let server: PostgresServer | undefined;
  let count = 0;
  let shared: SharedDatabase | undefined;
  beforeAll(async () => {
    if (hasPostgres) server = await startPostgres();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    if (server === undefined) return;
    count += 1;
    const url = await server.makeMigrated(`db_${count}`);
    const store = await openNode(url);
    const ids: number[] = [];
    for (let index = 0; index < companies; index += 1) {
      const made = await store.write("site", (tx) => insertCompany(tx, { code: `C${index}`, createdAt: 1 }));
      ids.push(made.company.id);
    }
    shared = new SharedDatabase(url, store, ids);
  });
  return () => {
    if (shared === undefined) throw new Error("there is no database: the test has not begun");
    return shared;
  };
}

/** A configuration that says this, and nothing else. */
export async function configOfNode(settings: object): Promise<Config> {
  const folder = temporaryFolder();
  const path = join(folder, "dropgate.yaml");
  writeFileSync(path, JSON.stringify({ stateDir: folder, ...settings }));
  const outcome = await loadConfig({ path, cwd: folder, env: {} });
  if (outcome.kind === "faulty") throw new Error(formatConfigFaults(outcome.faults));
  return outcome.config;
}
