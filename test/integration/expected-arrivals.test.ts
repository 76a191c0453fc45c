/** Expected arrivals over a real ledger: what counts, what is late, and that an index serves the counting. */
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { listExpectedArrivals } from "../../src/app/admin/arrival-admin.ts";
import { ArrivalWatch } from "../../src/app/watch/arrival-watch.ts";
import type { Config, ExpectedArrivalsConfig } from "../../src/config/schema.ts";
import { type FileState, isDecidedState } from "../../src/domain/files/file-state.ts";
import type { StopFunction } from "../../src/domain/stop/stop-change.ts";
import { weekdays } from "../../src/domain/time/weekday.ts";
import { createLogger } from "../../src/lib/logs/log.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import { countArrivals, findEnoughAt } from "../../src/store/ledger/arrival-counts.ts";
import { connectionOf } from "../../src/store/database/prepared-query.ts";
import type { NewFile } from "../../src/domain/files/new-file.ts";
import { enterFile, recordDecision, requestRetry } from "../../src/store/ledger/files.ts";
import { openFreshStore } from "../support/fresh-store.ts";
import { plansOf } from "../support/query-plans.ts";
import { watchStatements } from "../support/watch-statements.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { itOnSqlite } from "../support/store-dialect.ts";

/** Of 5 November, or counted on from it. */
function at(time: string): number {
  const [hours = 0, minutes = 0] = time.split(":").map(Number);
  return Date.UTC(2026, 10, 5, hours, minutes);
}

const daily: ExpectedArrivalsConfig = {
  ...{ atLeast: 2, until: "07:00", zone: "UTC", weekdays: [...weekdays], closedDays: [], functions: [] },
};

let stateDir: string;
let store: Store;
let files: number;

beforeEach(async () => {
  stateDir = temporaryFolder();
  store = await openFreshStore(stateDir);
  files = 0;
  await addCompany("ACME");
  return () => store.close();
});

async function addCompany(code: string): Promise<void> {
  await store.write("site", (tx) => insertCompany(tx, { code, createdAt: Date.UTC(2026, 9, 1) }));
}

function configOf(expectedArrivals: Config["companies"][string]["expectedArrivals"], code = "ACME") {
  // The other settings of a company are read by nobody here.
  const companies = { [code]: { expectedArrivals } } as unknown as Config["companies"];
  return { stateDir, companies };
}

interface Arrived extends Partial<NewFile> {
  readonly state?: FileState;
  readonly stopFunction?: StopFunction;
}

async function arrive(time: string, { state = "applied", stopFunction = "01", ...more }: Arrived = {}) {
  files += 1;
  const name = `${files}_20261105_000000.xml`;
  const arrival = { nameTime: null, size: 1, channel: "sftp", userName: "host1", receivedAt: at(time) };
  const id = await store.write("site", (tx) =>
    enterFile(tx, { companyId: 1, name, location: `in/${files}`, ...arrival, ...more }),
  );
  const about = {
    sha256: "x",
    size: 1,
    stopFunction,
    stopNbr: "1",
    decidedAt: at(time),
    location: `f/${id}`,
  };
  const nothing = { faults: [], created: 0, updated: 0, deleted: 0, documentId: null, firstId: null };
  if (isDecidedState(state))
    await store.write("site", (tx) => recordDecision(tx, { id, state, ...about, ...nothing }));
  return id;
}

const log = createLogger({ level: "silent" });

/** A watch whose clock and configuration a test has in hand. */
function watching(morning: Partial<ExpectedArrivalsConfig> = {}, isOurs = () => true) {
  let now = 0;
  let config = configOf({ morning: { ...daily, ...morning } });
  const watch = new ArrivalWatch({ store, log, isOurs, config: () => config, clock: { now: () => now } });
  onTestFinished(() => watch.stop());
  return {
    stop: () => watch.stop(),
    use(next: typeof config) {
      config = next;
    },
    async lateAt(time: string) {
      now = at(time);
      await watch.look();
      return watch.late().map(({ company, name, window }) => `${company.code} ${name} ${window.count}`);
    },
  };
}

async function lateAt(time: string, expected: Partial<ExpectedArrivalsConfig> = {}) {
  const watch = watching(expected);
  const late = await watch.lateAt(time);
  await watch.stop();
  return late;
}

describe("what counts as arrived", () => {
  test.each(["waiting", "applied"] as const)("a file that is %s", async (state) => {
    await arrive("06:00", { state });
    await arrive("06:01", { state });
    expect(await lateAt("07:00")).toEqual([]);
  });

  test.each(["refused", "duplicate", "superseded"] as const)("not one that is %s", async (state) => {
    await arrive("06:00");
    await arrive("06:01", { state });
    expect(await lateAt("07:00")).toEqual(["ACME morning 1"]);
  });

  test("a refused one again as soon as its retry is asked for", async () => {
    await arrive("06:00");
    const id = await arrive("06:01", { state: "refused" });
    await store.write("site", (tx) => tx.updateTable("files").set({ is_filed: 1 }).execute());
    await store.write("site", (tx) => requestRetry(tx, { id, now: at("07:30") }));
    expect(await lateAt("08:00")).toEqual([]);
  });

  test("not one of another company, nor one from before the window", async () => {
    await addCompany("OTHER");
    await arrive("06:00");
    await arrive("06:01", { companyId: 2 });
    await arrive("06:02", { receivedAt: at("00:00") - 1 });
    expect(await lateAt("07:00")).toEqual(["ACME morning 1"]);
    await arrive("00:00");
    expect(await lateAt("07:00")).toEqual([]);
  });

  test.each([
    ["name", { name: "A?_*.xml" }, { name: "A1_x.xml" }, { name: "B1_x.xml" }],
    ["Function", { functions: ["02", "03"] }, { stopFunction: "03" }, { stopFunction: "01" }],
    ["channel", { channel: "remote" }, { channel: "remote:partner" }, { channel: "sftp" }],
    ["user", { user: "host2" }, { userName: "host2" }, { userName: "host1" }],
  ] as const)("by its %s", async (_, expected, counts, counted) => {
    await arrive("06:00", counts);
    await arrive("06:01", counted);
    expect(await lateAt("07:00", expected as Partial<ExpectedArrivalsConfig>)).toEqual(["ACME morning 1"]);
    await arrive("06:02", counts);
    expect(await lateAt("07:00", expected as Partial<ExpectedArrivalsConfig>)).toEqual([]);
  });
});

// The plan is SQLite's, in its words.
itOnSqlite("an index serves, whatever is looked for", async () => {
  const since = at("00:00");
  const ofDay = { companyId: 1, since, until: since + 1, functions: [], atLeast: 2 } as const;
  for (const more of [
    {},
    { name: "A*.xml" },
    { name: "1*.xml" },
    { name: "1.xml" },
    { channel: "sftp", userName: "host1" },
  ]) {
    for (const count of [countArrivals, findEnoughAt]) {
      const steps = await plansOf({ read: store.read, stateDir }, () =>
        count(store.read, { ...ofDay, ...more }),
      );
      expect(steps).toEqual([
        "SEARCH files USING INDEX files_by_arrival (company_id=? AND received_at>? AND received_at<?)",
      ]);
    }
  }
});

describe("the watch", () => {
  test("of a node that has not the company tells nothing of it", async () => {
    expect(await watching().lateAt("07:00")).toEqual(["ACME morning 0"]);
    expect(await watching({}, () => false).lateAt("07:00")).toEqual([]);
  });

  const yesterday = (time: string) => ({ receivedAt: at(time) - 86_400_000 });

  test("finds what is late over a stop that lasts beyond the deadline, and its end", async () => {
    for (const time of ["01:00", "01:01"]) await arrive(time, yesterday(time));
    const before = watching();
    expect(await before.lateAt("06:00")).toEqual([]);
    await before.stop();
    await store.close();
    store = await openStore(stateDir);
    const after = watching();
    expect(await after.lateAt("10:00")).toEqual(["ACME morning 0"]);
    await arrive("10:01");
    expect(await after.lateAt("10:01")).toEqual(["ACME morning 1"]);
    await arrive("10:02");
    expect(await after.lateAt("10:03")).toEqual([]);
  });

  test("asks the ledger no more when enough are applied, until the next deadline or another configuration", async () => {
    await arrive("06:00");
    const waiting = await arrive("06:01", { state: "waiting" });
    const watch = watching();
    const statements: string[] = [];
    const end = watchStatements(await connectionOf(store.read), (sql) => statements.push(sql));
    onTestFinished(end);
    const asks = async (time: string) => {
      statements.length = 0;
      const late = await watch.lateAt(time);
      return `${late.length} late, ${statements.some((sql) => sql.includes('"files"')) ? "asked" : "quiet"}`;
    };
    const [met, quiet, late] = ["0 late, asked", "0 late, quiet", "1 late, asked"];
    // While one of them waits, it may still be refused.
    expect([await asks("07:00"), await asks("07:01")]).toEqual([met, met]);
    await store.write("site", (tx) =>
      tx.updateTable("files").set({ state: "refused" }).where("id", "=", waiting).execute(),
    );
    expect(await asks("07:02")).toEqual(late);
    await arrive("07:03");
    expect([await asks("07:04"), await asks("07:05")]).toEqual([met, quiet]);
    // The clock goes back, and forward again.
    expect([await asks("06:30"), await asks("07:06"), await asks("07:07")]).toEqual([met, met, quiet]);
    watch.use(configOf({ morning: { ...daily, atLeast: 3 } }));
    expect(await asks("07:08")).toEqual(late);
    watch.use(configOf({ morning: { ...daily } }));
    expect([await asks("07:09"), await asks("07:10")]).toEqual([met, quiet]);
    // The deadline of the day after.
    expect(await asks("31:00")).toEqual(late);
  });
});

test("the list says in words where each expectation stands, in local times of its zone", async () => {
  const berlin = { ...daily, zone: "Europe/Berlin" };
  const config = configOf({
    morning: { ...berlin, until: "06:00" },
    noon: { ...berlin, until: "12:00", atLeast: 3 },
    early: { ...berlin, until: "05:00", from: "04:00", atLeast: 1 },
    fetched: { ...berlin, until: "05:00", atLeast: 1, channel: "remote:partner" },
    sundays: { ...berlin, weekdays: ["sun"], from: "04:00" },
  });
  await arrive("00:00", { receivedAt: at("00:00") - 4 * 86_400_000 + 4 * 3_600_000 });
  await arrive("00:00", { receivedAt: at("00:00") - 4 * 86_400_000 + 4 * 3_600_000 });
  for (const time of ["01:00", "01:01", "01:02"]) await arrive(time, { receivedAt: at(time) - 86_400_000 });
  for (const time of ["04:10", "04:12"]) await arrive(time);
  const listed = await listExpectedArrivals(config, {}, at("06:30"));
  expect(listed.map(({ name, standing, text }) => [name, standing, text])).toEqual([
    ["morning", "met", "met at 05:12: 2 of 2"],
    ["noon", "due", "due until 12:00: 2 of 3"],
    ["early", "met", "met late, at 05:10: 2 of 1"],
    ["fetched", "late", "late since 05:00: 0 of 1"],
    ["sundays", "none", "nothing expected now"],
  ]);
  expect(listed[1]).toMatchObject({
    ...{ arrived: 2, atLeast: 3, from: "2026-11-04T23:00:00.000Z", dueAt: "2026-11-05T11:00:00.000Z" },
    ...{ metAt: null, nextDueAt: "2026-11-05T11:00:00.000Z" },
  });
  const nextDay = await listExpectedArrivals(config, { company: "acme" }, at("06:30") + 20 * 3_600_000);
  expect(nextDay[3]?.text).toBe("late since 2026-11-05 05:00: 0 of 1");
});
