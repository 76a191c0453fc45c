import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { markFiled, recordRemoval, requestRetry } from "../../store/ledger/files.ts";
import { verifyLedger } from "./ledger-verify.ts";
import { ledgerOfEachTest } from "../testing/ledger-fixture.ts";

const archive = "companies/ACME/archive/2026-11-05";
const error = "companies/ACME/error/2026-11-05";
const inbound = "companies/ACME/inbound";

describe("the verification of the ledger", () => {
  const fixture = ledgerOfEachTest();

  async function filed(
    name: string,
    state: "applied" | "refused" | "superseded" = "applied",
  ): Promise<number> {
    const id = await fixture.wait(name);
    await rm(join(fixture.stateDir, inbound, name));
    const location = `${state === "applied" ? archive : error}/${name}`;
    await fixture.decide(id, { state, location, text: name });
    return id;
  }

  function verify({
    onProgress,
    ...options
  }: {
    arrivalGraceMs?: number;
    pauseMs?: number;
    isStopped?: boolean;
    onProgress?: () => void;
  } = {}) {
    const { store, locations } = fixture;
    const clock = { now: () => Date.now() };
    const deps = { store, locations, clock, arrivalGraceMs: 0, pauseMs: 5, ...options };
    return verifyLedger(deps, onProgress === undefined ? {} : { onProgress });
  }

  async function kindsFound(options: { arrivalGraceMs?: number; pauseMs?: number } = {}): Promise<string[]> {
    const { discrepancies, discrepancyCount } = await verify(options);
    expect(discrepancyCount).toBe(discrepancies.length);
    return discrepancies.map(({ kind, location }) => `${kind} ${location}`).sort();
  }

  it("finds nothing wrong in a ledger that is right, and the sums agree", async () => {
    await filed("1_20261105_080000.xml");
    await filed("2_20261105_080000.xml", "refused");
    await fixture.put(`${error}/2_20261105_080000.receipt.xml`, "receipt");
    await filed("3_20261105_080000.xml", "superseded");
    await fixture.wait("4_20261105_080000.xml");
    const report = await verify();
    expect(report.discrepancies).toEqual([]);
    const account = { applied: 1, refused: 1, duplicate: 0, superseded: 1, waiting: 1, pruned: 0 };
    expect(report.accounts).toEqual([{ company: "ACME", received: 4, ...account }]);
    expect(report.bytes).toBe(4 * "1_20261105_080000.xml".length);
  });

  it("proves a file that was refused without being read by its presence, and asks nothing of one that never was", async () => {
    const name = "1_20261105_080000.xml";
    const id = await filed(name, "refused");
    const set = (values: { sha256: null; size: number }) =>
      fixture.store.write("site", (tx) => tx.updateTable("files").set(values).where("id", "=", id).execute());
    // Too large, or forbidden: there were bytes.
    await set({ sha256: null, size: 20 });
    expect(await kindsFound()).toEqual([]);
    await rm(join(fixture.stateDir, error, name));
    expect(await kindsFound()).toEqual([`missing ${error}/${name}`]);
    await set({ sha256: null, size: 0 });
    expect(await kindsFound()).toEqual([]);
  });

  it("gives way to other work after each page, also where all bytes are gone", async () => {
    await fixture.store.write("site", (tx) =>
      sql`insert into files (company_id, name, size, channel, received_at, state, reasons, records_created, records_updated,
          records_deleted, decided_at, source, location, is_filed, removed_at, pruned_days)
        with recursive n (nth) as (select 1 union all select nth + 1 from n where nth < 10000)
        select ${fixture.companyId}, 'x', 1, 'sftp', 1, 'applied', '[]', 1, 0, 0, 1, 'x', ${archive} || '/' || nth, 1, 1, 1
        from n`.execute(tx),
    );
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    const turnsOfPages: number[] = [];
    const report = await verify({ onProgress: () => void turnsOfPages.push(turns) });
    isOver = true;
    expect(report).toMatchObject({ entries: 10_000, pruned: 10_000 });
    expect(new Set(turnsOfPages).size).toBeGreaterThanOrEqual(5);
  });

  it("counts an entry that is to be tried again as waiting", async () => {
    const id = await filed("1_20261105_080000.xml", "refused");
    await fixture.store.write("site", (tx) => requestRetry(tx, { id: id, now: 1 }));
    const report = await verify();
    expect(report.accounts[0]).toMatchObject({ received: 1, refused: 0, waiting: 1 });
    expect(report.discrepancies).toEqual([]);
  });

  it("reports bytes that are gone, bytes that were changed, and files that no entry knows", async () => {
    await filed("1_20261105_080000.xml");
    await filed("2_20261105_080000.xml");
    await rm(join(fixture.stateDir, archive, "1_20261105_080000.xml"));
    await fixture.put(`${archive}/2_20261105_080000.xml`, "other");
    await fixture.put(`${archive}/stray.xml`, "stray");
    await fixture.put(`${error}/.old.tmp`, "temporary");
    await fixture.put(`${inbound}/5_20261105_080000.xml`, "nobody took it");
    expect(await kindsFound()).toEqual([
      `changed ${archive}/2_20261105_080000.xml`,
      `missing ${archive}/1_20261105_080000.xml`,
      `unaccounted ${archive}/stray.xml`,
      `unaccounted ${error}/.old.tmp`,
      `unaccounted ${inbound}/5_20261105_080000.xml`,
    ]);
  });

  it("reports the waiting file that has vanished, and the one that lies twice", async () => {
    await fixture.wait("1_20261105_080000.xml");
    await rm(join(fixture.stateDir, inbound, "1_20261105_080000.xml"));
    const twice = await fixture.wait("2_20261105_080000.xml");
    const location = `${archive}/2_20261105_080000.xml`;
    await fixture.decide(twice, {
      state: "applied",
      location,
      text: "2_20261105_080000.xml",
      isFiled: false,
    });
    expect(await kindsFound()).toEqual([
      `missing ${inbound}/1_20261105_080000.xml`,
      `twice ${inbound}/2_20261105_080000.xml`,
    ]);
  });

  it("takes a decided file that is not moved yet where it came from", async () => {
    const id = await fixture.wait("1_20261105_080000.xml");
    const location = `${archive}/1_20261105_080000.xml`;
    const text = "1_20261105_080000.xml";
    await fixture.decide(id, { state: "applied", location, text, isFiled: false, putAt: [] });
    await fixture.put(`${archive}/.${id}.tmp`, "left by a crash, made again at the next start");
    expect(await kindsFound()).toEqual([]);
  });

  it("gives a file in motion time to arrive", async () => {
    const id = await fixture.wait("1_20261105_080000.xml");
    const location = `${archive}/1_20261105_080000.xml`;
    const text = "1_20261105_080000.xml";
    await fixture.decide(id, { state: "applied", location, text, isFiled: false });
    const { store, locations } = fixture;
    const deps = { store, locations, clock: { now: () => 0 }, arrivalGraceMs: 0, pauseMs: 50 };
    let arrived: Promise<void> | undefined;
    const arrive = async () => {
      await rm(join(fixture.stateDir, inbound, text));
      await store.write("site", (tx) => markFiled(tx, [id]));
    };
    // Progress is told after the first look, which has seen the bytes twice.
    const report = await verifyLedger(deps, { onProgress: () => (arrived ??= arrive()) });
    await arrived;
    expect(arrived).toBeDefined();
    expect(report.discrepancies).toEqual([]);
  });

  it("does not miss bytes that a user removed, and leaves unfinished names alone", async () => {
    await filed("1_20261105_080000.xml", "refused");
    const location = `${error}/1_20261105_080000.xml`;
    await rm(join(fixture.stateDir, location));
    const removal = { companyId: fixture.companyId, location, at: 1, by: "host1" };
    await fixture.store.write("site", (tx) => recordRemoval(tx, removal));
    await fixture.put(`${inbound}/2_20261105_080000.xml.filepart`, "half");
    await fixture.put(`${inbound}/.partial/7/3_20261105_080000.xml`, "half");
    const report = await verify();
    expect(report.discrepancies).toEqual([]);
    expect(report.removed).toBe(1);
  });

  it("takes a file that has just been put into inbound as arriving while the daemon runs", async () => {
    await fixture.put(`${inbound}/1_20261105_080000.xml`, "new");
    await fixture.put(`${archive}/stray.xml`, "nothing arrives here");
    const report = await verify({ arrivalGraceMs: 60_000 });
    expect(report.discrepancies.map(({ location }) => location)).toEqual([`${archive}/stray.xml`]);
    expect(report.arriving).toBe(1);
  });

  it("leaves files in inbound to the next start while no daemon runs, and reports everything else", async () => {
    await filed("9_20261105_080000.xml");
    await rm(join(fixture.stateDir, archive, "9_20261105_080000.xml"));
    await fixture.put(`${inbound}/1_20261105_080000.xml`, "dropped");
    await fixture.put(`${inbound}/.again/0123456789ab-1_20261105_080000.xml`, "dropped again");
    await fixture.put(`${inbound}/2_20261105_080000.xml.part`, "never finished");
    await fixture.put(`${inbound}/3\n.xml`, "left alone");
    await fixture.put(`${archive}/stray.xml`, "nothing arrives here");
    const report = await verify({ isStopped: true });
    expect(report.atNextStart).toBe(2);
    expect(report.arriving).toBe(0);
    expect(report.discrepancies.map(({ kind, location }) => `${kind} ${location}`)).toEqual([
      `missing ${archive}/9_20261105_080000.xml`,
      `unaccounted ${archive}/stray.xml`,
    ]);
    expect(report.discrepancyCount).toBe(2);
  });

  it("leaves a move to another file system that a crash broke off to the next start", async () => {
    const id = await fixture.wait("1_20261105_080000.xml");
    const text = "1_20261105_080000.xml";
    await fixture.decide(id, { state: "applied", location: `${archive}/${text}`, text, isFiled: false });
    const report = await verify({ isStopped: true });
    expect(report.discrepancies).toEqual([]);
    expect(report.atNextStart).toBe(1);
  });

  it("waits for old files as long as a running daemon takes some of them, and reports the rest", async () => {
    const names = ["1_20261105_080000.xml", "2_20261105_080000.xml", "3_20261105_080000.xml"];
    for (const name of names) await fixture.put(`${inbound}/${name}`, name);
    const { store, locations } = fixture;
    // An hour ahead, so that the files seem to have come long ago.
    const clock = { now: () => Date.now() + 3_600_000 };
    const taking = (async () => {
      for (const name of names.slice(0, 2)) {
        await new Promise((resolve) => setTimeout(resolve, 150));
        await fixture.wait(name);
      }
    })();
    const report = await verifyLedger({ store, locations, clock, arrivalGraceMs: 5_000, pauseMs: 5 });
    await taking;
    expect(report.discrepancies.map(({ location }) => location)).toEqual([`${inbound}/${names[2]}`]);
  });

  it("reports two entries that name the same place", async () => {
    const text = "1_20261105_080000.xml";
    await filed(text);
    const other = await fixture.wait(text);
    await rm(join(fixture.stateDir, inbound, text));
    await fixture.decide(other, { state: "duplicate", location: `${archive}/${text}`, text, firstId: 1 });
    expect(await kindsFound()).toEqual([`shared ${archive}/${text}`]);
  });

  it("says nothing of a file that was pruned, with its entry, while it was verified", async () => {
    const name = "1_20261105_080000.xml";
    const id = await filed(name);
    const { store, locations } = fixture;
    // The page was read, and now the bytes and the entry go.
    const bytesAt = async () => {
      await store.write("site", (tx) => tx.deleteFrom("files").where("id", "=", id).execute());
      await rm(join(fixture.stateDir, archive, name), { force: true });
      return { kind: "absent" } as const;
    };
    const deps = { store, locations, clock: { now: () => 0 }, arrivalGraceMs: 0, pauseMs: 5, bytesAt };
    const { discrepancies } = await verifyLedger(deps);
    // Nobody has counted it here, as a pass does.
    expect(discrepancies.map(({ kind }) => kind)).toEqual(["count"]);
  });

  it("ends at once when it is aborted", async () => {
    await filed("1_20261105_080000.xml");
    const { store, locations } = fixture;
    const deps = { store, locations, clock: { now: () => 0 }, arrivalGraceMs: 0 };
    await expect(verifyLedger(deps, { signal: AbortSignal.abort() })).rejects.toThrow();
  });

  it("finds a folder that was moved away as a whole", async () => {
    await filed("1_20261105_080000.xml");
    await rename(join(fixture.stateDir, archive), join(fixture.stateDir, "elsewhere"));
    expect(await kindsFound()).toEqual([`missing ${archive}/1_20261105_080000.xml`]);
  });
});
