/**
 * Two nodes that write the same company at the same moment, on a real server: what the lock of the company keeps right. Of
 * each pair the second begins while the first has written and not committed.
 */
import { setTimeout as pause } from "node:timers/promises";
import { sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { documentsPruner } from "../../src/app/retention/document-pruner.ts";
import { eventsPruner } from "../../src/app/retention/event-pruner.ts";
import { parseStopFileName } from "../../src/domain/files/stop-file-name.ts";
import { countEntries } from "../../src/inbound/recovery/count-entries.ts";
import { LedgerTally } from "../../src/inbound/recovery/ledger-report.ts";
import { createLocations } from "../../src/inbound/places/locations.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { decideFile } from "../../src/inbound/lanes/decide-file.ts";
import { sha256Of } from "../../src/inbound/testing/ledger-fixture.ts";
import { makeExport } from "../../src/outbound/export-runs.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import { openStore, type Store } from "../../src/store/database/database.ts";
import type { Transaction, Work } from "../../src/store/database/groups/group-commit.ts";
import { writeMeta } from "../../src/store/database/meta.ts";
import type { Owner } from "../../src/store/database/owner.ts";
import { enterFile } from "../../src/store/ledger/files.ts";
import { saveOutboundCopy } from "../../src/store/outbound/outbound-targets.ts";
import { insertImport, insertImportItem, listItemsOfLastImport } from "../../src/store/stops/imports.ts";
import { saveDocuments } from "../../src/store/stops/documents.ts";
import { ledgerNumbers } from "../support/ledger-numbers.ts";
import { openUnit } from "../support/open-unit.ts";
import { askPostgres, hasPostgres, type PostgresServer, startPostgres } from "../support/postgres-server.ts";
import { pruneOldOf } from "../support/run-pruner.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let server: PostgresServer;
let databases = 0;
let url: string;
let one: Store;
let two: Store;
let acme: number;

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
  [one, two] = [await openStore(temporaryFolder(), { url }), await openStore(temporaryFolder(), { url })];
  for (const store of [one, two]) onTestFinished(() => store.close());
  acme = await addCompany("ACME");
});

async function addCompany(code: string): Promise<number> {
  return (await one.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }))).company.id;
}

describe.runIf(hasPostgres)("a company that there is not", () => {
  it("holds up nobody who writes for it, nor what is written beside it", async () => {
    const nowhere = one.write(
      acme + 1,
      async (tx) => await tx.selectFrom("companies").select("id").execute(),
    );
    const beside = one.write(acme, async (tx) => await writeMeta(tx, "restored", "beside"));
    await Promise.all([nowhere, beside]);
  });
});

interface Side<T> {
  readonly whose: Owner;
  readonly work: Work<T>;
}

async function countHeld(): Promise<unknown> {
  const text = `select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return (await askPostgres(url, text))[0]?.[0];
}

/** The first has run and waits to be committed until the second is held by it, or is done. Gives both results. */
async function besideEachOther<First, Second>(
  first: Side<First>,
  second: Side<Second>,
): Promise<{ readonly results: readonly [First, Second]; readonly wasHeld: boolean }> {
  const unit = await openUnit(one, first.whose, first.work);
  let isDone = false;
  const other = two.write(second.whose, second.work).finally(() => {
    isDone = true;
  });
  let wasHeld = false;
  try {
    await expect
      .poll(async () => {
        wasHeld = (await countHeld()) === "1";
        return wasHeld || isDone;
      })
      .toBe(true);
  } finally {
    await unit.commit();
  }
  return { results: [await unit.commit(), await other], wasHeld };
}

async function enter(name: string, folder = "inbound"): Promise<number> {
  const nameTime = Number(name.slice(2).replace(/\D/g, ""));
  const arrival = {
    channel: "sftp",
    userName: "host",
    receivedAt: 1,
    location: `companies/ACME/${folder}/${name}`,
  };
  return await one.write(acme, (tx) =>
    enterFile(tx, { companyId: acme, name, nameTime, size: 1, ...arrival }),
  );
}

/** What a node does with a file of one stop whose content is its name. */
function deciding(id: number, name: string): Side<string> {
  const index = { hasStopAssignment: false, markAsReceived: false, hasTimeWindow: false };
  const stop = {
    function: "01",
    stopNbr: "a1",
    stopJson: JSON.stringify({ shipToName: name }),
    index,
  } as const;
  const prepared = { kind: "read", sha256: sha256Of(name), size: 1, instructions: [stop] } as const;
  const parsedName = parseStopFileName(name);
  const about = { id, companyId: acme, companyCode: "ACME", name, receivedAt: 1, parsedName, prepared };
  const rules = { names: "strict", lateFiles: "refuse" } as const;
  const context = { rules, locationFor: () => `companies/ACME/filed/${name}`, now: 1, ledgerNumbers };
  return { whose: acme, work: async (tx) => (await decideFile(tx, about, context)).state };
}

async function addCompletion(tx: Transaction, stopNbr: string): Promise<number> {
  const of = { company_id: acme, stop_nbr: stopNbr, name: `${stopNbr}.xml`, format: 1, embeds_documents: 0 };
  const events = { trigger_code: 7009, first_event_id: 1, last_event_id: 0, stop_status: "90" };
  const { id } = await tx
    .insertInto("completions")
    .values({ ...of, ...events, body: "{}", execution: "{}", driver: "{}", created_at: 1 })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

describe.runIf(hasPostgres)("two nodes", () => {
  it("that decide about the same file, entered by both, apply it once", async () => {
    const name = "a1_20261105_080000.xml";
    const [first, second] = [await enter(name), await enter(name, "inbound/.again")];
    const { results } = await besideEachOther(deciding(first, name), deciding(second, name));
    expect(results).toEqual(["applied", "duplicate"]);
  });

  it("that decide about two files of a stop never put the older one over the newer", async () => {
    const [older, newer] = ["a1_20261105_080000.xml", "a1_20261105_090000.xml"];
    const [olderId, newerId] = [await enter(older), await enter(newer)];
    const { results } = await besideEachOther(deciding(newerId, newer), deciding(olderId, older));
    expect(results).toEqual(["applied", "superseded"]);
    const [stop] = await one.read.selectFrom("stops").selectAll().execute();
    expect(stop?.body).toContain(newer);
  });

  it("have each completion in one window of an export, also one that is committed late", async () => {
    const copy = { companyId: acme, targets: [{ name: "host", takesCompletions: true }], events: [] };
    await one.write("site", (tx) => saveOutboundCopy(tx, { ...copy, embedsDocuments: false }));
    const plan = { companyId: acme, name: "e", when: null, form: "document", target: "host" } as const;
    const exporting = async (tx: Transaction) => {
      await addCompletion(tx, "b2");
      return (await makeExport(tx, plan, { now: 1, dueAt: null })).count;
    };
    const late = { whose: acme, work: (tx: Transaction) => addCompletion(tx, "a1") };
    const { results } = await besideEachOther(late, { whose: acme, work: exporting });
    const rest = await two.write(acme, (tx) => makeExport(tx, plan, { now: 2, dueAt: null }));
    expect(results[1] + rest.count).toBe(2);
  });

  it("have a ledger that is complete while one of them enters files with smaller numbers than the other", async () => {
    const other = await addCompany("OTHER");
    const file = { name: "a", nameTime: 1, size: 1, channel: "sftp", userName: "host", receivedAt: 1 };
    const entering = (companyId: number, location: string) => ({
      whose: companyId,
      work: (tx: Transaction) => enterFile(tx, { ...file, companyId, location }),
    });
    const counted: unknown[] = [];
    const count = async () => {
      const tally = new LedgerTally([]);
      const deps = { store: two, clock: systemClock, locations: createLocations("/srv"), arrivalGraceMs: 0 };
      await countEntries(deps, {}, { companies: [], tally });
      counted.push(tally.toReport());
    };
    await one.write(acme, async (tx) => {
      await entering(acme, "c").work(tx);
      await two.write(other, entering(other, "d").work);
      await count();
    });
    await count();
    expect(counted).toMatchObject(counted.map(() => ({ discrepancyCount: 0, unproved: [] })));
  });

  /** Its number is smaller than that of the other company, which is committed before it. */
  async function committedLate(own: Work<unknown>, ofOther: Work<unknown>, removing: () => Promise<unknown>) {
    const other = await addCompany("OTHER");
    const late = await openUnit(one, acme, own);
    try {
      await two.write(other, ofOther);
      const removal = removing();
      // It has read all that it reads before it is held.
      await expect.poll(countHeld).toBe("1");
      await late.commit();
      await removal;
    } finally {
      await late.commit();
    }
  }

  const day = 86_400_000;
  const old = { now: 90 * day, before: 60 * day };

  it("remove no document that an import names which is committed late", async () => {
    const guid = "00000000-0000-4000-8000-000000000001";
    const document = { guid, sha256: "1", size: 10, name: null };
    await one.write(acme, (tx) =>
      saveDocuments(tx, { companyId: acme, documents: [document], now: 10 * day }),
    );
    const importing = (whose: number, text: string) => async (tx: Transaction) => {
      const entry = { companyId: whose, serviceName: "load", userName: "host", receivedAt: old.now };
      const importId = await insertImport(tx, { guid: text, ...entry });
      await insertImportItem(tx, { importId, position: 0, loadNbr: "L", body: `{"reference":"${text}"}` });
    };
    await committedLate(importing(acme, guid), importing(acme + 1, "other"), () =>
      pruneOldOf(documentsPruner, { store: two, ...old }),
    );
    expect(await one.read.selectFrom("documents").select("guid").execute()).toEqual([{ guid }]);
  });

  it("try an import on its own loads, while the other enters a later one for another company", async () => {
    const other = await addCompany("OTHER");
    const importing = async (tx: Transaction, companyId: number, loadNbr: string) => {
      const entry = { companyId, serviceName: "load", userName: "host", receivedAt: 1 };
      const importId = await insertImport(tx, { guid: loadNbr, ...entry });
      await insertImportItem(tx, { importId, position: 0, loadNbr, body: "{}" });
    };
    const tried = await one.write(acme, async (tx) => {
      await importing(tx, acme, "OWN");
      await two.write(other, (later) => importing(later, other, "LATER"));
      return await listItemsOfLastImport(tx, acme, 10);
    });
    expect(tried.map(({ loadNbr }) => loadNbr)).toEqual(["OWN"]);
  });

  it("remove no events of a large group of which one is committed late", async () => {
    const events = 2_500;
    await one.write(acme, (tx) =>
      sql`insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
        select ${acme}, 'S' || n, 'L', 7053, n, '{}' from generate_series(1, cast(${events} as integer)) as n`.execute(
        tx,
      ),
    );
    const recording = (whose: number) => (tx: Transaction) =>
      sql`insert into recorded_events (company_id, stop_nbr, load_nbr, event_code, recorded_at, data)
        values (${whose}, 'S5', 'L', 7053, ${old.now}, '{}')`.execute(tx);
    await committedLate(recording(acme), recording(acme + 1), () =>
      pruneOldOf(eventsPruner, { store: two, ...old }),
    );
    const left = await one.read.selectFrom("recorded_events").select("id").execute();
    expect(left).toHaveLength(events + 2);
  });

  it("do not change what is read as of one moment", async () => {
    const codes = (read: Store["read"]) => read.selectFrom("companies").select("code").execute();
    const seen = await two.asOfNow(async (read) => {
      const before = await codes(read);
      await addCompany("OTHER");
      return [before, await codes(read), await codes(two.read)].map(({ length }) => length);
    });
    expect(seen).toEqual([1, 1, 2]);
  });

  const nothing = async () => undefined;
  it.each([
    ["of two companies", "other", false],
    ["of a company and of none", "unowned", false],
    ["of a company and of all", "site", true],
  ] as const)("write beside each other, %s, unless they may meet", async (_, whose, isHeld) => {
    const second = whose === "other" ? await addCompany("OTHER") : whose;
    const own = await besideEachOther({ whose: acme, work: nothing }, { whose: second, work: nothing });
    const back = await besideEachOther({ whose: second, work: nothing }, { whose: acme, work: nothing });
    expect([own.wasHeld, back.wasHeld]).toEqual([isHeld, isHeld]);
  });

  it("count up a note of no company one after the other", async () => {
    const increase = async (tx: Transaction) => {
      const row = await tx.selectFrom("meta").select("value").where("key", "=", "resends").executeTakeFirst();
      await writeMeta(tx, "resends", String(Number(row?.value ?? 0) + 1));
    };
    await besideEachOther({ whose: "unowned", work: increase }, { whose: "unowned", work: increase });
    const { value } = await one.read
      .selectFrom("meta")
      .select("value")
      .where("key", "=", "resends")
      .executeTakeFirstOrThrow();
    expect(value).toBe("2");
  });

  it("lock in one order, whatever that of their units: the site before the companies", async () => {
    const other = await addCompany("OTHER");
    const elsewhere = await openUnit(two, other, nothing);
    const waiting = [other, "site" as const].map((whose) => one.write(whose, nothing));
    try {
      await expect.poll(countHeld).toBe("1");
      // What comes first is locked by the one that waits for the other company.
      const taking = askPostgres(url, "select 1 from lanes where company_id = 0 for update nowait");
      await expect(taking).rejects.toThrow(/could not obtain lock/);
    } finally {
      await elsewhere.commit();
      await Promise.all(waiting);
    }
  });

  it("write for companies that are free beside one that is not, whose units keep their order", async () => {
    const other = await addCompany("OTHER");
    const elsewhere = await openUnit(two, other, nothing);
    const order: string[] = [];
    const noting = (what: string) => async () => void order.push(what);
    const held = ["first", "second", "third"].map((what) => one.write(other, noting(what)));
    for (const what of ["free", "free again"]) await one.write(acme, noting(what));
    expect(order).toEqual(["free", "free again"]);
    const late = one.write(other, noting("fourth"));
    await elsewhere.commit();
    await Promise.all([...held, late]);
    expect(order.slice(2)).toEqual(["first", "second", "third", "fourth"]);
  });

  it("wait for a company that others write for again and again", async () => {
    const other = await addCompany("OTHER");
    let isBusy = true;
    const busy = (async () => {
      while (isBusy) await two.write(other, () => pause(50));
    })();
    const free = (async () => {
      while (isBusy) await one.write(acme, nothing);
    })();
    for (let nth = 0; nth < 5; nth += 1) await one.write(other, nothing);
    isBusy = false;
    await Promise.all([busy, free]);
  });
});
