import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { insertCompany } from "../accounts/companies.ts";
import { openStore, type Store } from "../database/database.ts";
import { listFiles } from "./file-lists.ts";
import { findFilesBefore, listFilesByName } from "./file-queries.ts";
import { enterFile, recordDecision } from "./files.ts";

describe("the ledger's lists", () => {
  let dir: string;
  let store: Store;
  let acme: number;
  let other: number;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "dropgate-queries-"));
    store = await openStore(dir);
    const add = (code: string) => store.write("site", (tx) => insertCompany(tx, { code, createdAt: 1 }));
    acme = (await add("ACME")).company.id;
    other = (await add("OTHER")).company.id;
  });

  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true, force: true });
  });

  let entered = 0;

  /** Each at a place of its own, also one whose name another one has. */
  function enter(companyId: number, name: string, nameTime: number | null, receivedAt = 0): Promise<number> {
    entered += 1;
    const arrival = {
      size: 1,
      channel: "sftp",
      userName: null,
      receivedAt,
      location: `in/${entered}-${name}`,
    };
    return store.write("site", (tx) => enterFile(tx, { companyId, name, nameTime, ...arrival }));
  }

  async function refuse(id: number, stopNbr: string): Promise<void> {
    const nothing = { faults: [], created: 0, updated: 0, deleted: 0, documentId: null, firstId: null };
    const about = {
      sha256: "x",
      size: 1,
      stopFunction: "01",
      stopNbr,
      decidedAt: 1,
      location: `error/${id}`,
    };
    await store.write("site", (tx) => recordDecision(tx, { id, state: "refused", ...about, ...nothing }));
  }

  it("give the newest first, by state and company, up to a limit", async () => {
    const first = await enter(acme, "1_20261105_080000.xml", 20261105080000);
    const second = await enter(acme, "2_20261105_080000.xml", 20261105080000);
    const third = await enter(other, "3_20261105_080000.xml", 20261105080000);
    await refuse(first, "1");
    const ids = async (selection: Parameters<typeof listFiles>[1]) =>
      (await listFiles(store.read, selection)).map(({ id }) => id);
    expect(await ids({ limit: 2 })).toEqual([third, second]);
    expect(await ids({ limit: 9, states: ["waiting"] })).toEqual([third, second]);
    expect(await ids({ limit: 9, states: ["refused"] })).toEqual([first]);
    expect(await ids({ limit: 9, companyId: acme })).toEqual([second, first]);
  });

  it("choose by name with wildcards, time, reason, channel and user", async () => {
    const enterAs = (name: string, receivedAt: number, rest: object) =>
      store.write("site", (tx) => {
        const arrival = { size: 1, channel: "sftp", userName: null, location: `in/${name}` };
        return enterFile(tx, { companyId: acme, name, nameTime: 1, receivedAt, ...arrival, ...rest });
      });
    const one = await enterAs("1_20261105_080000.xml", 10, { userName: "host" });
    const two = await enterAs("2%_20261105_080000.xml", 20, { channel: "remote:partner" });
    const three = await enterAs("22_20261105_080000.xml", 30, { channel: "remote:other" });
    const faults = [{ code: "xsdMismatch", message: 'it says {"code":"badFileName"} there' }] as const;
    const nothing = { created: 0, updated: 0, deleted: 0, documentId: null, firstId: null };
    const about = {
      sha256: "x",
      size: 1,
      stopFunction: "01",
      stopNbr: "1",
      decidedAt: 1,
      location: "error/1",
    };
    await store.write("site", (tx) =>
      recordDecision(tx, { id: one, state: "refused", faults, ...about, ...nothing }),
    );
    const ids = async (selection: Omit<Parameters<typeof listFiles>[1], "limit">) =>
      (await listFiles(store.read, { ...selection, limit: 9 })).map(({ id }) => id);
    expect(await ids({ name: "2%_*" })).toEqual([two]);
    expect(await ids({ name: "2?_20261105_*.xml" })).toEqual([three, two]);
    expect(await ids({ name: "22_20261105_080000.xml" })).toEqual([three]);
    expect(await ids({ name: "2_2026*" })).toEqual([]);
    expect(await ids({ since: 20 })).toEqual([three, two]);
    expect(await ids({ since: 10, until: 30 })).toEqual([two, one]);
    expect(await ids({ reasons: ["xsdMismatch", "tooLarge"] })).toEqual([one]);
    expect(await ids({ reasons: ["badFileName"] })).toEqual([]);
    expect(await ids({ channel: "remote" })).toEqual([three, two]);
    expect(await ids({ channel: "remote:partner" })).toEqual([two]);
    expect(await ids({ channel: "rem" })).toEqual([]);
    expect(await ids({ userName: "host", channel: "sftp" })).toEqual([one]);
  });

  it("find the files of a stop by their name while they wait and by their first Stop after it", async () => {
    const waiting = await enter(acme, "ab_1_20261105_080000.xml", 20261105080000);
    const decided = await enter(acme, "odd name.xml", null);
    await refuse(decided, "AB_1");
    await enter(acme, "ab_1_x_20261105_080000.xml", 20261105080000);
    await enter(acme, "ab_20261105_080000.xml", 20261105080000);
    const found = await listFiles(store.read, { stopNbr: "ab_1", limit: 9 });
    expect(found.map(({ id }) => id)).toEqual([decided, waiting]);
  });

  it("find every entry of a name, in one company or in all", async () => {
    const name = "1_20261105_080000.xml";
    const ids = [await enter(acme, name, 1), await enter(other, name, 1), await enter(acme, name, 1)];
    expect((await listFilesByName(store.read, { name })).map(({ id }) => id)).toEqual(ids);
    expect(await listFilesByName(store.read, { name, companyId: other })).toHaveLength(1);
  });

  it("count who goes before a waiting file, those without a time by their arrival", async () => {
    const timeMs = Date.UTC(2026, 10, 5, 8, 0, 0);
    await enter(acme, "late.xml", null, timeMs + 1_000);
    await enter(acme, "same.xml", null, timeMs + 999);
    await enter(acme, "early.xml", null, timeMs - 1);
    const first = await enter(acme, "1_20261105_070000.xml", 20261105070000);
    await enter(acme, "2_20261105_080000.xml", 20261105080000);
    await enter(other, "3_20261105_070000.xml", 20261105070000);
    const id = await enter(acme, "4_20261105_080000.xml", 20261105080000);
    const before = await findFilesBefore(store.read, { companyId: acme, id, time: 20261105080000, timeMs });
    expect(before).toEqual({ earlier: 2, sameTime: 2, first: { id: first, name: "1_20261105_070000.xml" } });
  });
});
