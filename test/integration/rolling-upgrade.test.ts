/** Programs of different schemas on one database of PostgreSQL, with migrations that are made up: nodes upgraded one by one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { LeaseKeeper } from "../../src/cluster/lease-keeper.ts";
import { createLogger, type Logger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { CompanyWork } from "../../src/store/cluster/ownership.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { readMeta, writeMeta } from "../../src/store/database/meta.ts";
import { type Migration, migrations } from "../../src/store/database/migrations/migrations.ts";
import { findPostgres } from "../../src/store/database/postgres/postgres-schema.ts";
import { PostgresSession } from "../../src/store/database/postgres/postgres-session.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

const leaseMs = 2_000;
const [old, widened, dropped] = [migrations.length, migrations.length + 1, migrations.length + 2];
const widening =
  'alter table stops add column colour text collate "C"; create table shades (id bigint primary key)';
const dropping = "alter table stops drop column colour";

let server: PostgresServer;
let databases = 0;
let url: string;
/** What programs know that are newer than this one, by their schema. */
let known: ReadonlyMap<number, readonly Migration[]> = new Map();

async function makeDatabase(): Promise<string> {
  databases += 1;
  return await server.makeDatabase(`db_${databases}`);
}

/** What each of the texts leaves in a database of this schema. */
async function fingerprintsAfter(texts: readonly string[]): Promise<readonly string[]> {
  const own = await makeDatabase();
  await (await openStore(temporaryFolder(), { url: own })).close();
  const session = new PostgresSession({ url: own, isReader: true });
  const found: string[] = [];
  for (const text of texts) {
    await askPostgres(own, text);
    found.push((await findPostgres(session)).fingerprint);
  }
  await session.close();
  return found;
}

function madeUp(sql: string, fingerprint: string, oldest: number | "as before"): Migration {
  return { name: sql, sql: "", fingerprint: "", postgres: { sql, fingerprint, oldest } };
}

async function knownSchemas(): Promise<typeof known> {
  const [afterWidening = "", afterDropping = ""] = await fingerprintsAfter([widening, dropping]);
  const wider = [...migrations, madeUp(widening, afterWidening, "as before")];
  return new Map([
    [old, migrations],
    [widened, wider],
    [dropped, [...wider, madeUp(dropping, afterDropping, widened)]],
  ]);
}

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});
beforeEach(async () => {
  if (!hasPostgres) return;
  if (known.size === 0) known = await knownSchemas();
  url = await makeDatabase();
});

/** A log whose texts are put there. */
function logInto(lines: string[]): Logger {
  const note = (_: object, text: string) => void lines.push(text);
  return Object.assign(createLogger({ level: "silent" }), { info: note, warn: note });
}

/** Opens the database as a program of that schema does. */
async function open(schema: number, { lines = [] as string[], drainMs = 60_000 } = {}): Promise<Store> {
  const store = await openStore(temporaryFolder(), {
    ...{ url, known: known.get(schema), log: logInto(lines) },
    patience: { drainMs, silentMs: 10_000 },
  });
  onTestFinished(() => store.close());
  return store;
}

const write = (store: Store) => store.write("unowned", (tx) => writeMeta(tx, "verified", "yes"));
const schemaOf = async () =>
  Number((await askPostgres(url, "select value from meta where key = 'schema'"))[0]?.[0]);

interface TestNode {
  readonly store: Store;
  readonly keeper: LeaseKeeper;
  readonly has: Set<number>;
  readonly lines: readonly string[];
}

/** A node of that schema. `leaving`: what the end of the work of a company waits for. */
async function startNode(
  name: string,
  schema: number,
  leaving: () => Promise<void> = async () => undefined,
): Promise<TestNode> {
  const store = await open(schema);
  if (store.leases === undefined || store.arrivals === undefined)
    throw new Error("this database has no leases");
  const has = new Set<number>();
  const lines: string[] = [];
  const part: CompanyWork = {
    name: "knowing",
    take: async ({ companyId }) => void has.add(companyId),
    async leave({ companyId }) {
      await leaving();
      has.delete(companyId);
    },
  };
  const report = { name, incarnation: name, version: "1", schema, address: {}, settings: "" };
  const keeper = new LeaseKeeper({
    ...{
      table: store.leases,
      arrivals: store.arrivals,
      report: () => report,
      formerIncarnation: undefined,
      leaseMs,
    },
    companyCodeOf: async (id) => `company ${id}`,
    log: logInto(lines),
    readArrived: async ({ fileIds }, onInLine) => onInLine(fileIds),
    refuseWrites: store.refuseWrites,
    balancersMs: 0,
    askTree: async () => undefined,
    replaced: () => undefined,
  });
  keeper.add(part);
  await keeper.start(AbortSignal.timeout(20_000));
  onTestFinished(() => keeper.stop(AbortSignal.timeout(1_000)));
  return { store, keeper, has, lines };
}

async function addCompanies(store: Store): Promise<void> {
  for (const code of ["A", "B", "C", "D", "E"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
}

describe.runIf(hasPostgres)("a migration that only widens", () => {
  it("runs beside older nodes, which go on, and older programs start beside it", async () => {
    const node = await startNode("one", old);
    await addCompanies(node.store);
    const lines: string[] = [];
    const newer = await open(widened, { lines });
    expect(lines).toEqual(["database migrated"]);
    await write(node.store);
    await write(newer);
    const again = await open(old);
    await write(again);
    await addCompaniesAfter(again);
    await waitFor("the node to have the new company", () => node.has.size === 7);
    expect(node.keeper.tooOld).toBeUndefined();
    expect(await schemaOf()).toBe(widened);
  });

  it("leaves a database that an older program refuses when somebody has changed it by hand besides", async () => {
    await (await open(widened)).close();
    await askPostgres(url, "alter table stops add column shape text");
    await expect(open(old)).rejects.toThrow(/not those of that schema/);
  });
});

async function addCompaniesAfter(store: Store): Promise<void> {
  await store.write("site", (tx) => insertCompany(tx, { code: "LATE", createdAt: 1 }));
}

describe.runIf(hasPostgres)("a migration that takes away", () => {
  it("waits until older nodes have given their companies to others and write no more; those that know it go on", async () => {
    const first = await startNode("one", old);
    await addCompanies(first.store);
    const middle = await startNode("two", widened);
    await waitFor("the companies to be shared", () => first.has.size === 3 && middle.has.size === 3);
    let mayLeave: (() => void) | undefined;
    const stubborn = new Promise<void>((resolve) => {
      mayLeave = resolve;
    });
    const last = await startNode("three", old, () => stubborn);
    await waitFor("it to have a company", () => last.has.size === 2);
    const lines: string[] = [];
    const opening = open(dropped, { lines });
    await waitFor(
      "the older nodes to see it",
      () => first.keeper.tooOld !== undefined && first.has.size === 0,
    );
    expect(first.keeper.tooOld).toMatch(
      new RegExp(`schema ${old}.* too old .*schema ${widened} and newer: install the version`),
    );
    expect(middle.keeper.tooOld).toBeUndefined();
    expect([lines, await schemaOf()]).toEqual([
      ["the migration waits for nodes with an older dropgate, which give their companies back"],
      widened,
    ]);
    await write(last.store);
    mayLeave?.();
    const newer = await opening;
    expect(lines.at(-1)).toBe("database migrated");
    for (const { store } of [first, last]) await expect(write(store)).rejects.toThrow(/is too old/);
    await waitFor("the other to have all", () => middle.has.size === 6);
    await write(middle.store);
    await write(newer);
    expect(last.lines.filter((line) => line.includes("too old"))).toHaveLength(2);
  });

  it("refuses the start of an older program, while it waits and ever after, and says what to do", async () => {
    const node = await startNode("one", old, () => new Promise(() => undefined));
    await addCompanies(node.store);
    await waitFor("it to have them", () => node.has.size === 6);
    const opening = open(dropped, { drainMs: 10_000 });
    await waitFor("the node to see it", () => node.keeper.tooOld !== undefined);
    await expect(open(old)).rejects.toThrow(/install the newer version/);
    expect(await schemaOf()).toBe(widened);
    await opening;
    await expect(open(old)).rejects.toThrow(
      new RegExp(`schema ${dropped}, this dropgate knows ${old}: install the newer version`),
    );
    await write(await open(widened));
  });

  it("ends the sessions of those that are not gone in time: what they were writing is undone, and they write no more", async () => {
    const stuck = await startNode("one", old, () => new Promise(() => undefined));
    await addCompanies(stuck.store);
    await waitFor("it to have them", () => stuck.has.size === 6);
    const command = await open(old);
    let goOn: (() => void) | undefined;
    const frozen = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const writing = command.write("unowned", async (tx) => {
      await writeMeta(tx, "restored", "half");
      await frozen;
      await writeMeta(tx, "restored", "whole");
    });
    const written = expect(writing).rejects.toThrow(/PostgreSQL/);
    const lines: string[] = [];
    const newer = await open(dropped, { lines, drainMs: 1_500 });
    expect(lines).toContain(
      "nodes with an older dropgate have not given their companies back in time; their sessions are ended",
    );
    goOn?.();
    await written;
    for (const store of [stuck.store, command]) await expect(write(store)).rejects.toThrow(/too old/);
    expect(await readMeta(newer.read, "restored")).toBeUndefined();
    await write(newer);
  });

  it("is done by one of several that start at the same moment", async () => {
    await addCompanies(await open(old));
    const lines: string[] = [];
    const stores = await Promise.all([dropped, dropped, dropped].map((schema) => open(schema, { lines })));
    expect(lines.filter((line) => line === "database migrated")).toHaveLength(2);
    for (const store of stores) await write(store);
  });

  it("that dies with kill -9 leaves the schema of before, older nodes go on, and the next start does it", async () => {
    const node = await startNode("one", old);
    await addCompanies(node.store);
    await waitFor("it to have them", () => node.has.size === 6);
    const slow = known
      .get(dropped)
      ?.map((migration) =>
        migration.name === dropping && migration.postgres !== undefined
          ? { ...migration, postgres: { ...migration.postgres, sql: `${dropping}; select pg_sleep(600)` } }
          : migration,
      );
    const source = join(import.meta.dirname, "../../src/store/database/database.ts");
    const script = `import { openStore } from ${JSON.stringify(source)};
      await openStore(process.argv[1], { url: process.argv[2], known: JSON.parse(process.argv[3]) });`;
    const given = [temporaryFolder(), url, JSON.stringify(slow)];
    const run = spawn(process.execPath, ["--input-type=module", "-e", script, ...given], {
      stdio: "inherit",
    });
    const isSleeping = async () =>
      (await askPostgres(url, "select 1 from pg_stat_activity where wait_event = 'PgSleep'")).length > 0;
    await waitFor("the migration to be under way", isSleeping);
    await expect(write(node.store)).rejects.toThrow(/too old/);
    const ended = once(run, "exit");
    run.kill("SIGKILL");
    await ended;
    await waitFor("the node to go on", () => node.has.size === 6);
    await write(node.store);
    expect([await schemaOf(), node.keeper.tooOld]).toEqual([widened, undefined]);
    expect(node.lines).toContain("the database was not migrated: this node goes on");
    const newer = await open(dropped);
    await write(newer);
    await expect(write(node.store)).rejects.toThrow(/too old/);
  });
});
