/** Files that nodes enter for one another, on a real server: without the lock that whoever writes for the company holds. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { ArrivalsInLine } from "../../src/cluster/arrivals-in-line.ts";
import type { NewFile } from "../../src/domain/files/new-file.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { ArrivalTable } from "../../src/store/cluster/arrivals.ts";
import { fencedStore } from "../../src/store/cluster/ownership.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { migrations } from "../../src/store/database/migrations/migrations.ts";
import { UnseenArrivalsError } from "../../src/store/database/fence.ts";
import type { Transaction } from "../../src/store/database/groups/group-commit.ts";
import { enterFile, listOpenFiles } from "../../src/store/ledger/files.ts";
import { openUnit, stayWithin } from "../support/open-unit.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/wait-for.ts";

let server: PostgresServer;
let databases = 0;
let url: string;
let owner: Store;
let arrivals: ArrivalTable;
let acme: number;
let other: number;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});
beforeEach(async () => {
  // Units wait for one another here, which no other unit may.
  vi.stubEnv("DROPGATE_CHECK_UNITS", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  if (!hasPostgres) return;
  databases += 1;
  url = await server.makeMigrated(`db_${databases}`);
  owner = await openNode("one");
  arrivals = arrivalsOf(await openNode("two"));
  const add = async (code: string) =>
    (await owner.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }))).company.id;
  [acme, other] = [await add("ACME"), await add("OTHER")];
});

async function openNode(name: string): Promise<Store> {
  const store = await openStore(temporaryFolder(), { url, node: { name, leaseMs: 10_000 } });
  onTestFinished(() => store.close());
  return store;
}

function arrivalsOf(store: Store): ArrivalTable {
  if (store.arrivals === undefined) throw new Error("this database has no arrivals");
  return store.arrivals;
}

function fileOf(name: string, given: Partial<NewFile> = {}): NewFile {
  return {
    ...{ companyId: acme, name, nameTime: 20261105080000, size: 1, channel: "sftp", userName: "host" },
    ...{ receivedAt: 5, enteredAt: 7, location: `companies/x/inbound/${name}`, ...given },
  };
}

const isThere = async () => true;
const entries = () => listOpenFiles(owner.read, { states: ["waiting", "applied"], afterId: 0, limit: 1_000 });
const told = (companyId = acme) => arrivals.ofCompany(companyId);
const setState = (tx: Transaction, id: number, state: "applied", isFiled: 0 | 1) =>
  tx.updateTable("files").set({ state, is_filed: isFiled }).where("id", "=", id).execute();

describe.runIf(hasPostgres)("files that a node enters for another", () => {
  it("have each entry and the row that tells of it, with what is known of them", async () => {
    const files = [fileOf("a"), fileOf("b", { companyId: other, userName: null, beganAt: 3 })];
    expect(await arrivals.enter(files, isThere)).toEqual(["entered", "entered"]);
    const [a, b] = await entries();
    expect(a).toMatchObject({ ...fileOf("a"), source: fileOf("a").location, beganAt: null, isFiled: false });
    expect(b).toMatchObject({ companyId: other, userName: null, beganAt: 3, state: "waiting", faults: [] });
    expect(await told()).toEqual([a?.id]);
    expect(await told(other)).toEqual([b?.id]);
  });

  it("wait neither for a unit of the owner, nor for one of the node that enters them", async () => {
    const node = await openNode("three");
    const unit = await openUnit(owner, acme, (tx) => enterFile(tx, fileOf("of the owner")));
    const own = Promise.withResolvers<void>();
    const writing = node.write(other, (tx) => stayWithin(tx, own.promise));
    for (const name of ["a", "b"])
      expect(await arrivalsOf(node).enter([fileOf(name)], isThere)).toEqual(["entered"]);
    expect(await arrivals.enter([fileOf("c")], isThere)).toEqual(["entered"]);
    expect(await told()).toHaveLength(3);
    own.resolve();
    await Promise.all([unit.commit(), writing]);
    // Each is counted once: no gap in the ledger.
    expect(await askPostgres(url, "select ids from ledger_gaps")).toEqual([["0"]]);
  });

  it("are not entered again while an entry of the source waits, also one that is not committed yet", async () => {
    const unit = await openUnit(owner, acme, (tx) => enterFile(tx, fileOf("a")));
    const entering = arrivals.enter([fileOf("a"), fileOf("b")], isThere);
    await unit.commit();
    expect(await entering).toEqual(["entered", "entered"]);
    expect((await entries()).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(await told()).toHaveLength(1);
  });

  it("wait while an entry of the source is decided and its file perhaps not moved, and others of them do not", async () => {
    const id = await owner.write(acme, (tx) => enterFile(tx, fileOf("a")));
    const unit = await openUnit(owner, acme, (tx) => setState(tx, id, "applied", 0));
    const entering = arrivals.enter([fileOf("a"), fileOf("b")], isThere);
    // It stands behind the decision, and must not take what was true before it.
    const blocked = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'";
    await waitFor(
      "it to wait for the decision",
      async () => (await askPostgres(url, blocked))[0]?.[0] === "1",
    );
    await unit.commit();
    expect(await entering).toEqual(["being filed", "entered"]);
    expect((await entries()).map(({ name, state }) => [name, state])).toEqual([
      ["a", "applied"],
      ["b", "waiting"],
    ]);
    expect(await arrivals.enter([fileOf("a")], isThere)).toEqual(["being filed"]);
  });

  it("are entered anew once the earlier one of the source is filed, unless the file has gone with it", async () => {
    const id = await owner.write(acme, (tx) => enterFile(tx, fileOf("a")));
    await owner.write(acme, (tx) => setState(tx, id, "applied", 1));
    const isHere = async ({ name }: NewFile) => name !== "a";
    expect(await arrivals.enter([fileOf("a"), fileOf("b")], isHere)).toEqual(["gone", "entered"]);
    expect((await entries()).map(({ name }) => name)).toEqual(["b"]);
    expect(await arrivals.enter([fileOf("a")], isThere)).toEqual(["entered"]);
    expect(await told()).toHaveLength(2);
  });

  it("fail alone for a value that the ledger does not take, or a file that cannot be looked at", async () => {
    const isReadable = async ({ name }: NewFile) => {
      if (name === "b") throw Object.assign(new Error("no such right"), { code: "EACCES" });
      return true;
    };
    const ends = await Promise.allSettled(
      [
        fileOf("a"),
        fileOf("b"),
        fileOf("c\0"),
        fileOf("d", { companyId: other + 1 }),
        fileOf("e", { companyId: other }),
      ].map((file) => arrivals.enter([file], isReadable)),
    );
    expect(ends.map(({ status }) => status)).toEqual([
      ...["fulfilled", "rejected", "rejected"],
      ...["rejected", "fulfilled"],
    ]);
    expect((await entries()).map(({ name }) => name)).toEqual(["a", "e"]);
  });

  it("are refused by a program that has become too old, and taken again when it has not", async () => {
    const node = await openNode("three");
    await node.refuseWrites("too old for this database");
    await expect(arrivalsOf(node).enter([fileOf("a")], isThere)).rejects.toThrow("too old for this database");
    await node.refuseWrites(undefined);
    expect(await arrivalsOf(node).enter([fileOf("a")], isThere)).toEqual(["entered"]);
  });

  it("are committed before the store is closed, and refused after it", async () => {
    const node = await openStore(temporaryFolder(), { url, node: { name: "three", leaseMs: 10_000 } });
    const entering = arrivalsOf(node).enter([fileOf("a")], isThere);
    await node.close();
    expect(await entering).toEqual(["entered"]);
    await expect(arrivalsOf(node).enter([fileOf("b")], isThere)).rejects.toMatchObject({
      code: "overloaded",
    });
  });

  it("go on in a new session when the server has ended theirs within a transaction", async () => {
    const ending = async () => {
      await askPostgres(
        url,
        `select pg_terminate_backend(pid) from pg_stat_activity
         where application_name = 'dropgate two' and state = 'idle in transaction'`,
      );
      return true;
    };
    await expect(arrivals.enter([fileOf("a")], ending)).rejects.toMatchObject({ kind: "unavailable" });
    expect(await entries()).toEqual([]);
    expect(await arrivals.enter([fileOf("a")], isThere)).toEqual(["entered"]);
  });

  it("are told by the lock of the lane, all that were committed when it was asked for", async () => {
    await arrivals.enter([fileOf("a")], isThere);
    const [fileId = 0] = await told();
    const [{ epoch } = { epoch: 0 }] = await owner.read.selectFrom("lanes").selectAll().execute();
    const unseen: unknown[] = [];
    const writeWith = (has: (id: number) => boolean, mayRunBefore?: () => boolean) =>
      owner.write(acme, async () => "written", {
        ...{ companyId: acme, epoch, known: { has, end: () => undefined } },
        mayRunBefore: (files) => {
          unseen.push(...files);
          return mayRunBefore?.() ?? false;
        },
      });
    await expect(writeWith(() => false)).rejects.toThrow(UnseenArrivalsError);
    expect(unseen).toEqual([{ fileId, name: "a" }]);
    expect(
      await writeWith(
        () => false,
        () => true,
      ),
    ).toBe("written");
    expect(await writeWith((id) => id === fileId)).toBe("written");
    const many = Array.from({ length: 300 }, (_, at) => fileOf(`f${at}`));
    await arrivals.enter(many, isThere);
    // Of more than it is told it knows nothing, whatever it may say of those.
    await expect(
      writeWith(
        () => true,
        () => true,
      ),
    ).rejects.toThrow(UnseenArrivalsError);
    await arrivals.remove([{ companyId: acme, fileIds: await told(), epoch: epoch + 1 }]);
    expect(await told()).toHaveLength(301);
    await arrivals.remove([
      { companyId: other, fileIds: await told(), epoch },
      { companyId: acme, fileIds: await told(), epoch },
    ]);
    expect(await writeWith(() => false)).toBe("written");
  });

  it("hold back what was begun before they were in line, however long it waits for its turn", async () => {
    const inLine = new ArrivalsInLine();
    const running = await openUnit(owner, acme, (tx) => enterFile(tx, fileOf("of the owner")));
    const ownership = {
      isSole: false,
      fenceOf: () => ({ companyId: acme, epoch: 0, beginInOrder: () => inLine.begin() }),
    };
    const inOrder = fencedStore(owner, ownership, { isOrdered: true });
    await arrivals.enter([fileOf("a")], isThere);
    // It is behind the unit that is running.
    const writing = inOrder.write(acme, async () => "written");
    inLine.add(await told());
    expect(inLine.removable).toEqual([]);
    await Promise.all([running.commit(), expect(writing).rejects.toThrow(UnseenArrivalsError)]);
    expect(inLine.removable).toEqual(await told());
    expect(await inOrder.write(acme, async () => "written")).toBe("written");
  });

  it("are told to the node that has the company, by company", async () => {
    await arrivals.enter([fileOf("a"), fileOf("b"), fileOf("c", { companyId: other })], isThere);
    expect(await arrivals.ofNode("one", [])).toEqual([]);
    await askPostgres(url, `update leases set owner = 'one' where company_id = ${acme} returning 1`);
    expect(await arrivals.ofNode("one", [])).toEqual([{ companyId: acme, fileIds: await told() }]);
    expect(await arrivals.ofNode("one", [acme])).toEqual([]);
  });

  it("of before the table are told by it, when they may not be in line", async () => {
    const former = await server.makeDatabase(`db_${databases}_former`);
    const known = migrations.slice(0, 23);
    await (await openStore(temporaryFolder(), { url: former, known })).close();
    const file = (id: number, companyId: number, state: string) =>
      `(${id}, ${companyId}, 'f${id}', 1, 'sftp', 1, '${state}', '[]', 0, 0, 0, 's${id}', 's${id}', 0)`;
    await askPostgres(
      former,
      `insert into companies (id, code, code_key, created_at) values (7, 'A', 'a', 1), (8, 'B', 'b', 1);
       insert into lanes (company_id, arrived, seen) values (7, 5, 4), (8, 3, 3);
       insert into files (id, company_id, name, size, channel, received_at, state, reasons, records_created, records_updated,
         records_deleted, source, location, is_filed)
       values ${file(1, 7, "waiting")}, ${file(2, 7, "applied")}, ${file(3, 8, "waiting")}`,
    );
    const opened = await openStore(temporaryFolder(), { url: former });
    onTestFinished(() => opened.close());
    expect(await opened.read.selectFrom("arrivals").selectAll().execute()).toEqual([
      { company_id: 7, file_id: 1, name: "f1" },
    ]);
  });
});
