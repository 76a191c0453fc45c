/** What people ask of a state of years is answered by an index, and not by reading all of it. */
import { describe, expect } from "vitest";
import { pruneOld } from "../../src/app/retention/run-retention.ts";
import { retentionKinds } from "../../src/domain/retention/retention.ts";
import { fileStates } from "../../src/domain/files/file-state.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { auditTables, listAudit } from "../../src/store/ledger/audit-retention.ts";
import { listFiles } from "../../src/store/ledger/file-lists.ts";
import { listNamesakes } from "../../src/store/ledger/file-queries.ts";
import { enterFile, recordDecision } from "../../src/store/ledger/files.ts";
import { findOldestUnfiled } from "../../src/store/ledger/file-retention.ts";
import { listAwaited } from "../../src/store/ledger/entry-retention.ts";
import { noteTaken } from "../../src/store/ledger/remote-files.ts";
import { connectionOf } from "../../src/store/database/prepared-query.ts";
import { readStopDetail } from "../../src/operations/stops/stop-detail.ts";
import { listSharedLocations } from "../../src/store/ledger/shared-locations.ts";
import { eachStopOfLoad } from "../../src/store/stops/shown-stops.ts";
import { countGroup, listOldEvents } from "../../src/store/stops/event-retention.ts";
import { findMembers, findMembersSince, listGroupEvents } from "../../src/store/stops/large-event-groups.ts";
import { listEvents } from "../../src/store/stops/recorded-events.ts";
import { findStopSummaries, listLoadEvents, listStopEvents } from "../../src/store/stops/stop-history.ts";
import { listExportTimes } from "../../src/store/outbound/export-schedules.ts";
import { listSomeOfTarget } from "../../src/store/outbound/outbound-targets.ts";
import { countWaitingImports, listImportsOfLoad } from "../../src/store/stops/imports.ts";
import { listPositions } from "../../src/store/stops/route-reports.ts";
import { saveDocuments } from "../../src/store/stops/documents.ts";
import { saveStop } from "../../src/store/stops/stops.ts";
import { plannedStoreOfEachTest } from "../support/planned-store.ts";
import { plainStop } from "../support/plain-stop.ts";
import { watchStatements } from "../support/watch-statements.ts";
// The plans are SQLite's, in its words.
import { itOnSqlite as test } from "../support/store-dialect.ts";

const store = plannedStoreOfEachTest();
const { plan } = store;

const isSearch = (step: string) => !step.includes("SCALAR SUBQUERY");

describe("an index serves", () => {
  test("the oldest file that is still being filed away, among the few that are", async () => {
    const steps = await plan(() => findOldestUnfiled(store.read, 1));
    expect(steps).toEqual([expect.stringMatching(/^SEARCH files USING INDEX files_open \(state=\?\)/)]);
  });

  test.each([
    ["stops alone", { stopNbrs: ["S1", "S2"], loadNbrs: [] }, ["stop_nbr"]],
    ["loads alone", { stopNbrs: [], loadNbrs: ["L1"] }, ["load_nbr"]],
    ["stops and loads", { stopNbrs: ["S1"], loadNbrs: ["L1"] }, ["stop_nbr", "load_nbr"]],
  ] as const)("the events of %s that are too old", async (_, group, columns) => {
    const steps = await plan(() => countGroup(store.read, { companyId: 1, ...group }));
    const searches = steps.filter((step) => step.includes("recorded_events"));
    const indexes = columns.map((column) => `recorded_events_by_${column} (company_id=? AND ${column}=?)`);
    expect(searches).toEqual(indexes.map((index) => `SEARCH recorded_events USING INDEX ${index}`));
  });

  test("the stops of a number, and their events", async () => {
    const key = { companyId: 1, stopNbr: "S1" };
    const [step] = await plan(() => findStopSummaries(store.read, key));
    expect(step).toMatch(
      /^SEARCH \w+ USING INDEX stops_by_stop_nbr_key \(company_id=\? AND stop_nbr_key=\?\)/,
    );
    expect(await plan(() => listStopEvents(store.read, { ...key, limit: 50 }))).toEqual([
      "SEARCH recorded_events USING INDEX recorded_events_by_stop_nbr (company_id=? AND stop_nbr=?)",
    ]);
  });

  test("the events of a load, its imports, and its positions", async () => {
    const key = { companyId: 1, loadNbr: "L1", limit: 20 };
    expect(await plan(() => listLoadEvents(store.read, key))).toEqual([
      "SEARCH recorded_events USING INDEX recorded_events_by_load_nbr (company_id=? AND load_nbr=?)",
    ]);
    expect(await plan(() => listImportsOfLoad(store.read, key))).toEqual([
      "SEARCH item USING INDEX import_items_by_load (load_nbr=?)",
      "SEARCH i USING INTEGER PRIMARY KEY (rowid=?)",
    ]);
    expect(
      await plan(() => listImportsOfLoad(store.read, { ...key, before: { id: 7, receivedAt: 1 } })),
    ).toContain("SEARCH item USING INDEX import_items_by_load (load_nbr=? AND import_id<?)");
    const positions = await plan(() => listPositions(store.read, { loadId: 1, limit: 20 }));
    expect(positions).toEqual([expect.stringMatching(/^SEARCH positions USING .*\(load_id=\?\)$/)]);
  });

  test("the newest files of exactly one name, in their order", async () => {
    const key = { companyId: 1, name: "s1_20261105_080000.xml", limit: 20 };
    expect(await plan(() => listNamesakes(store.read, key))).toEqual([
      "SEARCH files USING INDEX files_by_name (company_id=? AND name=?)",
    ]);
  });

  test.each(fileStates.filter((state) => state !== "applied"))("the files that are %s", async (state) => {
    const [step] = await plan(() => listFiles(store.read, { states: [state], limit: 100 }));
    expect(step).toMatch(/^SEARCH files USING INDEX files_(open|not_applied) \(state=\?\)/);
  });

  test("no list of pruned files, which are read from the newest on, and never sorted", async () => {
    const pruned = { isPruned: true, limit: 100 } as const;
    expect(await plan(() => listFiles(store.read, pruned))).toEqual(["SCAN files"]);
    expect(await plan(() => listFiles(store.read, { ...pruned, companyId: 1 }))).toEqual(["SCAN files"]);
    const steps = await plan(() => listFiles(store.read, { ...pruned, name: "1001_*", companyId: 1 }));
    expect(steps[0]).toMatch(
      /^SEARCH files USING INDEX files_by_name \(company_id=\? AND name>\? AND name<\?\)/,
    );
  });

  test("the names of a page that a remote awaits, among all that it has noted", async () => {
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const key = { companyId: company.id, remote: "host" };
    const files = [{ name: "a", size: 1, modified: "", sha256: "x" }];
    await store.write(company.id, (tx) => noteTaken(tx, key, { files, at: 1 }));
    const steps = await plan(() => listAwaited(store.read, { companyId: company.id, names: ["a", "b"] }));
    expect(steps.at(-1)).toMatch(/\(company_id=\? AND remote=\? AND name=\?\)/);
    for (const step of steps)
      expect(step).toMatch(/^SEARCH remote_files USING .*INDEX .*\(company_id=\? AND remote[>=]\?/);
  });

  test("the files of a stop, with as many statements for many companies as for one", async () => {
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const name = "s1_20261105_080000.xml";
    const arrival = { size: 1, channel: "sftp", userName: null, receivedAt: 0, location: `in/${name}` };
    await store.write("site", (tx) =>
      enterFile(tx, { companyId: company.id, name, nameTime: null, ...arrival }),
    );
    const steps = await plan(() => listFiles(store.read, { stopNbr: "S1", limit: 100 }));
    expect(steps.filter((step) => step.startsWith("SCAN files"))).toEqual([]);
    for (let nbr = 0; nbr < 20; nbr += 1) {
      await store.write("site", (tx) => insertCompany(tx, { code: `C${nbr}`, createdAt: 1 }));
    }
    const more = await plan(() => listFiles(store.read, { stopNbr: "S1", limit: 100 }));
    expect(more).toHaveLength(steps.length);
  });

  test("the details of a stop and of a load, each stop with all that is shown of it in one statement", async () => {
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const ofStop = { companyId: company.id, stopNbr: "S1" };
    await store.write("site", (tx) => saveStop(tx, { ...plainStop, ...ofStop, body: "{}" }));
    expect((await plan(() => readStopDetail({ store }, ofStop))).filter(isSearch)).toEqual([
      "SEARCH stops USING INDEX sqlite_autoindex_stops_1 (company_id=? AND stop_nbr=?)",
      "SEARCH appointments USING COVERING INDEX appointments_by_order (company_id=? AND order_nbr=?)",
      ...Array.from({ length: 3 }, () => "SEARCH loads USING INTEGER PRIMARY KEY (rowid=?)"),
    ]);
    const none = eachStopOfLoad(store.read, 1);
    expect((await plan(() => none.next())).slice(0, 5).filter(isSearch)).toEqual([
      "SEARCH stops USING INDEX stops_by_load (load_id=?)",
      "SEARCH stops USING INDEX stops_by_load (load_id=?)",
      "SEARCH appointments USING COVERING INDEX appointments_by_order (company_id=? AND order_nbr=?)",
    ]);
  });

  test("what the metrics read, however many imports and exports there were", async () => {
    expect(await plan(() => countWaitingImports(store.read))).toEqual([
      // Only those that wait are in it.
      "SCAN imports USING COVERING INDEX imports_unfinished",
    ]);
    const exports = await plan(() => listExportTimes(store.read));
    expect(exports.filter((step) => step.startsWith("SCAN"))).toEqual(["SCAN s"]);
  });

  test.each(["dead", "open"] as const)(
    "some %s deliveries of a target, without sorting all of them",
    async (state) => {
      const index = state === "dead" ? "deliveries_dead" : "deliveries_oldest";
      expect(await plan(() => listSomeOfTarget(store.read, { targetId: 1, state, limit: 5 }))).toEqual([
        `SEARCH d USING INDEX ${index} (target_id=?)`,
      ]);
    },
  );

  test("old documents and what names them, without a sort, for companies of years", async () => {
    const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    const document = { guid: "00000000-0000-4000-8000-000000000001", sha256: "1", size: 1, name: null };
    await store.write("site", async (tx) => {
      await saveDocuments(tx, { companyId: company.id, documents: [document], now: 1 });
      await tx
        .insertInto("outbound_targets")
        .values({ company_id: company.id, name: "outbound", takes_completions: 1, is_configured: 1 })
        .execute();
      await tx
        .insertInto("export_schedules")
        .values({ company_id: company.id, name: "daily", schedule: "{}", next_due_at: 1, watermark: 0 })
        .execute();
    });
    const kept = Object.fromEntries(retentionKinds.map((kind) => [kind, "keep"]));
    const config = { companies: {}, retention: { ...kept, documents: 30 } };
    const clock = { now: () => Date.UTC(2026, 10, 5) };
    const deps = { store, clock, now: clock.now() } as never;
    const steps = await plan(() => pruneOld(deps, { config } as never, new AbortController().signal));
    const served = (index: string) =>
      expect(
        steps.some((step) => step.includes(index)),
        index,
      ).toBe(true);
    served("documents USING INDEX documents_by_age (company_id=?");
    served("w USING COVERING INDEX import_items_waiting ((import_id,position)>(?,?))");
    served("i USING INTEGER PRIMARY KEY (rowid=?)");
    served("stops USING INDEX stops_by_stop_status (company_id=? AND stop_status=? AND rowid>?)");
    served("loads USING INDEX loads_by_status (company_id=? AND load_status=? AND rowid>?)");
    served("o USING INDEX orders_by_change (company_id=? AND updated_at>?)");
    served("completions USING COVERING INDEX completions_embedding (company_id=? AND id>?)");
    served("completions USING INDEX completions_order (company_id=? AND id>?");
    served("d USING INDEX deliveries_oldest (target_id=? AND id>?)");
    served("d USING INDEX deliveries_dead (target_id=? AND id>?)");
    expect(steps.filter((step) => /^SCAN (?!companies)|TEMP B-TREE/.test(step))).toEqual([]);
  });

  test("old events of a company, without a sort, and without those of others", async () => {
    const page = { companyId: 1, before: 9, after: { recordedAt: 1, id: 1 }, limit: 500 };
    expect(await plan(() => listOldEvents(store.read, page))).toEqual([
      "SEARCH recorded_events USING INDEX recorded_events_by_age (company_id=? AND recorded_at>? AND recorded_at<?)",
    ]);
  });

  test("the events of a large group, part by part, and what came since", async () => {
    const [company, none] = [{ companyId: 1 }, []];
    const ofStops = await plan(() =>
      listGroupEvents(store.read, { ...company, stopNbrs: ["S1"], loadNbrs: none }),
    );
    const ofLoads = await plan(() =>
      listGroupEvents(store.read, { ...company, stopNbrs: none, loadNbrs: ["L1"] }),
    );
    for (const [steps, column] of [
      [ofStops, "stop_nbr"],
      [ofLoads, "load_nbr"],
    ] as const)
      expect(steps).toEqual([
        `SEARCH recorded_events USING INDEX recorded_events_by_${column} (company_id=? AND ${column}=?)`,
      ]);
    const byId = "SEARCH recorded_events USING INTEGER PRIMARY KEY";
    expect(await plan(() => findMembers(store.read, 1, [1, 2]))).toEqual([`${byId} (rowid=?)`]);
    expect(await plan(() => findMembersSince(store.read, 1, 9))).toEqual([`${byId} (rowid>?)`]);
  });

  test.each([{ stopNbr: "S1" }, { loadNbr: "L1" }])(
    "the events of %o since a time, in their order",
    async (of) => {
      const [step, ...more] = await plan(() =>
        listEvents(store.read, { companyId: 1, ...of, from: 1, afterId: 1, limit: 10 }),
      );
      expect(step).toMatch(
        /USING INDEX recorded_events_by_(stop|load)_nbr \(company_id=\? AND (stop|load)_nbr=\?/,
      );
      expect(more).toEqual([]);
    },
  );

  test.each(auditTables)("what was asked for again, page by page: %s", async (table) => {
    const page = { before: 9, after: { askedAt: 1, id: 1 }, limit: 200 };
    const steps = await plan(() => listAudit(store.read, table, page));
    expect(steps[0]).toMatch(
      new RegExp(`^SEARCH r USING INDEX ${table}_by_age \\((asked_)?at>\\? AND (asked_)?at<\\?\\)`),
    );
    expect(steps.filter((step) => /^SCAN|TEMP B-TREE/.test(step))).toEqual([]);
  });

  test("places that two entries claim, without the entries", async () => {
    const steps = await plan(() => listSharedLocations(store.read, { limit: 10 }));
    expect(steps.filter((step) => !step.includes("USING COVERING INDEX files_by_location"))).toEqual([]);
  });
});

test("files of several states are listed together, the newest first", async () => {
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "MIXED", createdAt: 1 }));
  const enter = (name: string) => {
    const arrival = { size: 1, channel: "sftp", userName: null, receivedAt: 0, location: `in/${name}` };
    return store.write("site", (tx) =>
      enterFile(tx, { companyId: company.id, name, nameTime: null, ...arrival }),
    );
  };
  const nothing = { faults: [], created: 0, updated: 0, deleted: 0, documentId: null, firstId: null };
  const about = { sha256: "x", size: 1, stopFunction: "01", stopNbr: "1", decidedAt: 1 };
  const states = ["applied", "refused", "duplicate", "superseded"] as const;
  const ids: number[] = [];
  for (const state of [...states, ...states]) {
    const id = await enter(`${state}-${ids.length}.xml`);
    await store.write("site", (tx) =>
      recordDecision(tx, { id, state, location: `there/${id}`, ...about, ...nothing }),
    );
    ids.push(id);
  }
  ids.push(await enter("waits.xml"));
  const newest = ids.toReversed();
  const listed = async (limit: number) => {
    const selection = { companyId: company.id, states: [...fileStates], limit };
    return (await listFiles(store.read, selection)).map(({ id }) => id);
  };
  expect(await listed(100)).toEqual(newest);
  expect(await listed(4)).toEqual(newest.slice(0, 4));
});

test("places that two entries claim are found on every page, but for those whose bytes a user removed", async () => {
  const { company } = await store.write("site", (tx) => insertCompany(tx, { code: "PAGES", createdAt: 1 }));
  const row = (location: string) => ({
    ...{ company_id: company.id, name: "a.xml", size: 1, channel: "sftp", received_at: 1 },
    ...{
      state: "applied" as const,
      reasons: "[]",
      records_created: 0,
      records_updated: 0,
      records_deleted: 0,
      source: location,
    },
    ...{ location, is_filed: 1 },
  });
  await store.write("site", async (tx) => {
    for (let nbr = 0; nbr < 12_000; nbr += 1) {
      await tx
        .insertInto("files")
        .values(row(`page/${String(nbr).padStart(6, "0")}`))
        .execute();
    }
    for (const nbr of ["000000", "004999", "005000", "005001", "011999"]) {
      await tx
        .insertInto("files")
        .values(row(`page/${nbr}`))
        .execute();
    }
    await tx
      .insertInto("files")
      .values({ ...row("page/000007"), removed_at: 1 })
      .execute();
  });
  const shared = await listSharedLocations(store.read, { limit: 100 });
  expect(shared.map(({ location }) => location)).toEqual(
    ["000000", "004999", "005000", "005001", "011999"].map((nbr) => `page/${nbr}`),
  );
  expect(await listSharedLocations(store.read, { limit: 2 })).toHaveLength(2);
  await expect(listSharedLocations(store.read, { limit: 1, signal: AbortSignal.abort() })).rejects.toThrow();
});

test("pruning looks for loads with positions once, however many companies there are", async () => {
  for (const code of ["ONE", "TWO", "THREE"])
    await store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
  const asked: string[] = [];
  const end = watchStatements(await connectionOf(store.read), (sql) => asked.push(sql));
  const kept = Object.fromEntries(retentionKinds.map((kind) => [kind, "keep"]));
  const config = { companies: {}, retention: { ...kept, positions: 90 } };
  const deps = { store, now: 1_000 } as never;
  await pruneOld(deps, { config } as never, new AbortController().signal).finally(end);
  expect(asked.filter((sql) => sql.includes("recursive tracked"))).toHaveLength(1);
});
