/**
 * Units of work that run at the same moment in one transaction of PostgreSQL, on a real server: what they write and are
 * answered is what they would write and be answered one after the other, in a few round trips.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { applyStopChanges } from "../../src/operations/stops/apply-stop-changes.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { Gathering } from "../../src/store/database/groups/gathering.ts";
import type { Transaction } from "../../src/store/database/groups/group-commit.ts";
import { apart, forEach } from "../../src/store/database/groups/side-by-side.ts";
import { enterFile, findFile, recordDecision } from "../../src/store/ledger/files.ts";
import { findReceiptSharers } from "../../src/store/ledger/receipt-sharers.ts";
import { insertCompletion } from "../../src/store/outbound/completions.ts";
import { insertRecordedEvent, listEvents } from "../../src/store/stops/recorded-events.ts";
import { saveReportedEvent } from "../../src/store/stops/route-reports.ts";
import { findKnownStop } from "../../src/store/stops/stops.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { startLink, type TcpLink } from "../support/tcp-link.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const delayMs = 30;

let server: PostgresServer;
let databases = 0;
let url: string;
let link: TcpLink;
let store: Store;
let acme: number;

beforeAll(async () => {
  if (hasPostgres) server = await startPostgres();
});
afterAll(() => {
  if (hasPostgres) server.stop();
});
beforeEach(async () => {
  // Units that are checked run one after the other.
  vi.stubEnv("DROPGATE_CHECK_UNITS", "0");
  onTestFinished(() => void vi.unstubAllEnvs());
  if (!hasPostgres) return;
  databases += 1;
  url = await server.makeMigrated(`db_${databases}`);
  const address = new URL(url);
  link = await startLink(Number(address.port));
  onTestFinished(() => link.end());
  address.port = String(link.port);
  store = await openStore(temporaryFolder(), { url: address.href });
  onTestFinished(() => store.close());
  acme = (await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }))).company.id;
});

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** One unit for each item, all of one group; how each has ended. */
function writeAll<Item, Result>(
  items: readonly Item[],
  work: (tx: Transaction, item: Item) => Promise<Result>,
  keyOf: (item: Item) => string = String,
): Promise<PromiseSettledResult<Result>[]> {
  return Promise.allSettled(
    items.map((item) =>
      store.write(
        acme,
        apart(
          () => [keyOf(item)],
          (tx: Transaction) => work(tx, item),
        ),
      ),
    ),
  );
}

function valuesOf<Result>(ends: readonly PromiseSettledResult<Result>[]): Result[] {
  return ends.map((end) => {
    if (end.status === "rejected") throw end.reason;
    return end.value;
  });
}

function enter(tx: Transaction, index: number): Promise<number> {
  const sent = { channel: "sftp", userName: "host", receivedAt: 1, size: index, nameTime: null };
  return enterFile(tx, { companyId: acme, name: `${index}.xml`, location: `in/${index}.xml`, ...sent });
}

const decision = {
  state: "applied",
  ...{ sha256: null, size: 1, stopFunction: "01", documentId: null, firstId: null },
  ...{ faults: [], created: 1, updated: 0, deleted: 0, decidedAt: 2 },
} as const;

/** What a unit of a decision does, from the first to the last statement. */
async function enterAndDecide(tx: Transaction, index: number): Promise<{ id: number; name: string }> {
  const id = await enter(tx, index);
  const isDecided = await recordDecision(tx, {
    ...{ ...decision, id, stopNbr: `S${index}`, location: `out/${index}` },
  });
  const [entry] = await findReceiptSharers(tx, { companyId: acme, name: `${index}.xml`, id: 0 });
  if (!isDecided || entry === undefined) throw new Error(`the entry ${id} is not there`);
  return { id, name: entry.name };
}

async function countCommits(): Promise<number> {
  const rows = await askPostgres(url, "select count(distinct xmin::text) from files");
  return Number(rows[0]?.[0]);
}

describe.runIf(hasPostgres)("units of work side by side", () => {
  it("are answered each with its own rows, in the order in which they were given, in one transaction", async () => {
    for (const round of [0, 1]) {
      const items = numbers(40).map((index) => round * 1_000 + index);
      const answers = valuesOf(await writeAll(items, enterAndDecide));
      expect(answers.map(({ name }) => name)).toEqual(items.map((index) => `${index}.xml`));
      const ids = answers.map(({ id }) => id);
      expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    }
    expect(await countCommits()).toBe(2);
    const counted = await askPostgres(url, "select files, state, channel from daily_files");
    expect(counted).toEqual([["80", "applied", "sftp"]]);
    const rows = await askPostgres(
      url,
      "select name, size, stop_nbr, location from files where id = 1 or id = 80",
    );
    expect(rows).toContainEqual(["0.xml", "1", "S0", "out/0"]);
  });

  it("take a few round trips, however many they are", async () => {
    // The first ones tell which types the parameters have.
    await writeAll(numbers(2), enterAndDecide);
    link.slowDown(delayMs);
    const before = link.roundTrips();
    const items = numbers(100).map((index) => index + 10);
    valuesOf(await writeAll(items, enterAndDecide));
    // Begin and lock, four statements of each unit, commit. One after the other they would be 402.
    expect(link.roundTrips() - before).toBe(6);
    link.thaw();
  });

  it("of one key run one after the other, and see what those before them have written", async () => {
    const seen = valuesOf(
      await writeAll(
        numbers(12),
        async (tx, index) => {
          const stopNbr = `S${index % 3}`;
          const before = await listEvents(tx, { companyId: acme, stopNbr, limit: 99 });
          const event = {
            companyId: acme,
            code: 7001,
            stopNbr,
            loadNbr: null,
            recordedAt: index,
            data: "{}",
          };
          await insertRecordedEvent(tx, event);
          return before.map(({ recordedAt }) => recordedAt);
        },
        (index) => `stop ${index % 3}`,
      ),
    );
    expect(seen).toEqual(
      numbers(12).map((index) => numbers(12).filter((one) => one < index && one % 3 === index % 3)),
    );
  });

  it("that fail take none with them, whether the server has refused a statement of theirs or not", async () => {
    await writeAll(numbers(2), enterAndDecide);
    for (const isOfServer of [false, true]) {
      const items = numbers(20).map((index) => (isOfServer ? 200 : 100) + index);
      const ends = await writeAll(items, async (tx, index) => {
        const entered = await enterAndDecide(tx, index);
        if (index % 10 !== 7) return entered.name;
        if (isOfServer) await sql`insert into files (id) values (null)`.execute(tx);
        throw new Error(`unit ${index} fails`);
      });
      const names = ends.map((end) => (end.status === "fulfilled" ? end.value : "failed"));
      expect(names).toEqual(items.map((index) => (index % 10 === 7 ? "failed" : `${index}.xml`)));
      const reasons = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason.message)] : []));
      for (const reason of reasons) expect(reason).toMatch(isOfServer ? /null value/ : /unit 1\d7 fails/);
    }
    expect(await askPostgres(url, "select count(*) from files where name like '%7.xml'")).toEqual([["0"]]);
    expect(await askPostgres(url, "select sum(files) from daily_files")).toEqual([["38"]]);
  });

  it("are refused for a value that cannot be kept, each by itself", async () => {
    const ends = await writeAll(numbers(5), (tx, index) => {
      const event = { companyId: acme, code: 1, stopNbr: null, loadNbr: null, recordedAt: 1 };
      return insertRecordedEvent(tx, {
        ...event,
        data: index === 2 ? "\u0000" : `{"of":"${index}, \\"\\\\"}`,
      });
    });
    expect(ends.map(({ status }) => status === "fulfilled")).toEqual([true, true, false, true, true]);
    const kept = await listEvents(store.read, { companyId: acme, limit: 9 });
    expect(kept.map(({ data }) => data)).toContain('{"of":"4, \\"\\\\"}');
  });

  it("find that a row was there already, each for itself", async () => {
    await askPostgres(
      url,
      `insert into loads (id, company_id, load_nbr, load_status, driver, body, extra, execution, created_at, updated_at)
       select i, ${acme}, 'L' || i, 40, '{}', '{}', '{}', '{}', 0, 0 from generate_series(1, 9) i`,
    );
    const report = { stopNbr: "S1", eventCode: "x", eventDttm: "2026-11-05T08:00:00", eventTz: "UTC" };
    const rest = { latitude: 1.5, longitude: null, reportedBy: "ann", receivedAt: 1 };
    const save = (tx: Transaction, loadId: number) => saveReportedEvent(tx, { loadId, ...report, ...rest });
    expect(valuesOf(await writeAll([1, 4], save))).toEqual([true, true]);
    expect(valuesOf(await writeAll([1, 2, 3, 4, 5], save))).toEqual([false, true, true, false, true]);
    expect(valuesOf(await writeAll([1, 6, 5], save))).toEqual([false, true, false]);
  });

  it("have the ids of the rows that they have made, and none of a row that was there", async () => {
    const completion = {
      stopStatus: "90",
      ...{ companyId: acme, embedsDocuments: null, code: 1, now: 1, firstEventId: 1, lastEventId: 1 },
      ...{ carrierCode: null, assignmentCriteria: null, body: "{}", execution: "{}" },
      ...{ loadNbr: null, driver: "{}" },
    } as const;
    const save = (tx: Transaction, name: string) =>
      insertCompletion(tx, { ...completion, stopNbr: name, name });
    const [first, second] = valuesOf(await writeAll(["a", "b"], save));
    const ids = valuesOf(await writeAll(["c", "a", "d", "b"], save));
    expect([ids[1], ids[3]]).toEqual([undefined, undefined]);
    const rows = await askPostgres(url, "select name, id::int from completions order by name");
    expect(rows).toEqual([
      ["a", first],
      ["b", second],
      ["c", ids[0]],
      ["d", ids[2]],
    ]);
  });

  it("of a stop that is on a load run again alone, after the others", async () => {
    const index = { hasStopAssignment: false, markAsReceived: false, hasTimeWindow: false };
    const ran: string[] = [];
    const apply = async (tx: Transaction, [stopNbr, fileTime]: readonly [string, number]) => {
      ran.push(stopNbr);
      const changes = [{ function: "01", stopNbr, stopJson: "{}", index }] as const;
      const outcome = await applyStopChanges(tx, {
        companyId: acme,
        changes,
        fileTime,
        refuseLate: true,
        now: 1,
      });
      return outcome.kind;
    };
    const keyOf = ([stopNbr]: readonly [string, number]) => stopNbr;
    const stops = ["A", "B", "C"];
    valuesOf(
      await writeAll(
        stops.map((stop) => [stop, 1] as const),
        apply,
        keyOf,
      ),
    );
    await askPostgres(
      url,
      `insert into loads (id, company_id, load_nbr, load_status, driver, body, extra, execution, created_at, updated_at)
       values (1, ${acme}, 'L1', 20, '{}', '{}', '{}', '{}', 0, 0)`,
    );
    await askPostgres(
      url,
      "update stops set load_id = 1, load_position = 0, stop_status = '20' where stop_nbr in ('A', 'B')",
    );
    ran.length = 0;
    const kinds = valuesOf(
      await writeAll(
        stops.map((stop) => [stop, 2] as const),
        apply,
        keyOf,
      ),
    );
    expect(kinds).toEqual(["applied", "applied", "applied"]);
    expect(ran).toEqual(["A", "B", "C", "A", "B"]);
    const known = await findKnownStop(store.read, { companyId: acme, stopNbr: "B" });
    expect(known).toMatchObject({ loadId: 1, fileTime: 2 });
  });

  it("of a group whose session is ended by the server leave nothing, and those after them are written", async () => {
    await writeAll(numbers(2), enterAndDecide);
    let kills = 0;
    const ends = await writeAll(
      numbers(10).map((index) => index + 10),
      async (tx, index) => {
        const id = await enter(tx, index);
        if (index === 13 && kills < 2) {
          kills += 1;
          const own = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
          await askPostgres(url, `select pg_terminate_backend(${own.rows[0]?.pid})`);
        }
        return (await findFile(tx, id))?.name;
      },
    );
    const names = ends.map((end) => (end.status === "fulfilled" ? end.value : "failed"));
    // It has ended the session of its group, and then its own.
    expect(names).toEqual(numbers(10).map((index) => (index === 3 ? "failed" : `${index + 10}.xml`)));
    const kept = await askPostgres(url, "select name from files where id > 2 order by id");
    expect(kept.map(([name]) => name)).toEqual(names.filter((name) => name !== "failed"));
  });

  it("are waited for as many as had to be answered: those that could wait and went along bring no others", async () => {
    const noted = vi.spyOn(Gathering.prototype, "noteGroup");
    onTestFinished(() => noted.mockRestore());
    const canWait = store.writeSoon(acme, (tx) => enter(tx, 1));
    await Promise.all([canWait, store.write(acme, (tx) => enter(tx, 2))]);
    expect(noted.mock.calls.map(([{ units }]) => units)).toEqual([1]);
    await store.writeSoon(acme, (tx) => enter(tx, 3));
    expect(noted.mock.calls.map(([{ units }]) => units)).toEqual([1, 0]);
  });

  it("do the same for many items at the same moment, in their order", async () => {
    const ids = await store.write(acme, (tx) => forEach(tx, numbers(50), (index) => enter(tx, index)));
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    const rows = await askPostgres(url, "select name from files order by id");
    expect(rows.map(([name]) => name)).toEqual(numbers(50).map((index) => `${index}.xml`));
  });
});
