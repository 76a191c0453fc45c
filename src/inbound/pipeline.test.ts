import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { ledgerNumbers } from "../../test/support/ledger-numbers.ts";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { createDocumentPool } from "../documents/pool/document-pool.ts";
import { systemClock } from "../lib/clock.ts";
import { createLogger } from "../lib/logs/log.ts";
import { insertCompany } from "../store/accounts/companies.ts";
import type { Store } from "../store/database/database.ts";
import { openFreshStore } from "../../test/support/fresh-store.ts";
import { type LedgerEntry, requestRetry, toLedgerEntry } from "../store/ledger/files.ts";
import { savePartner } from "../store/accounts/partners.ts";
import type { Channel } from "./places/inbox.ts";
import type { PipelineSettings } from "./lanes/lane-runner.ts";
import { createLocations, type Locations } from "./places/locations.ts";
import { Pipeline } from "./pipeline.ts";
import { waitToPass } from "../../test/support/wait-to-pass.ts";

const signal = new AbortController().signal;
const log = createLogger({ level: "silent" });

let directory: string;
let store: Store;
/** One for all tests: it keeps nothing between documents. */
const documents = createDocumentPool({ log, threads: 1 });
let pipeline: Pipeline;
let locations: Locations;
let companyId: number;
let settings: PipelineSettings;

async function startPipeline(): Promise<void> {
  pipeline = new Pipeline({
    store,
    documents,
    locations,
    flushUploads: () => undefined,
    ledgerNumbers,
    settings: () => settings,
    companyCodeOf: async () => "ACME",
    clock: systemClock,
    log,
  });
  await pipeline.start(signal);
}

beforeAll(() => documents.start(signal));
afterAll(() => documents.stop(signal));

beforeEach(async () => {
  directory = temporaryFolder();
  locations = createLocations(directory);
  store = await openFreshStore(directory);
  companyId = (await store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }))).company
    .id;
  mkdirSync(join(locations.inboundDirectory("ACME"), ".again"), { recursive: true });
  settings = {
    groupSize: 4,
    settleMs: 20,
    incompleteGraceMs: 60_000,
    giveUpAfterMs: 3_600_000,
    maxFileBytes: 50 * 2 ** 20,
    storePauseMs: 1_000,
    rulesFor: () => ({ names: "strict", lateFiles: "refuse" }),
  };
  await startPipeline();
});

afterEach(async () => {
  await pipeline.stop();
  await store.close();
});

const inbound = (name: string) => join(locations.inboundDirectory("ACME"), name);

function stop(stopNbr: string, text = "", stopFunction = "01"): string {
  return `<Stop><Function>${stopFunction}</Function><StopNbr>${stopNbr}</StopNbr><ShipToName>${text}</ShipToName></Stop>`;
}

function place(name: string, content: string, channel: Channel = "sftp", path = inbound(name)) {
  writeFileSync(path, content);
  return { companyId, name, path, channel, userName: "host", size: content.length };
}

async function settled(): Promise<void> {
  await waitToPass(() => expect(pipeline.waitingTotal).toBe(0));
}

async function ledger(): Promise<LedgerEntry[]> {
  return (await store.read.selectFrom("files").selectAll().orderBy("id").execute()).map(toLedgerEntry);
}

async function take(...files: readonly (readonly [string, string])[]): Promise<void> {
  await pipeline.arriveAll(files.map(([name, content]) => place(name, content)));
  await settled();
}

/** A receipt without what it says of its file. */
function withoutFile(text: string): string {
  return text.replace(/<StopResponse [^>]*>/, "<StopResponse>");
}

const receipt = (name: string) => readFileSync(join(locations.receiptsDirectory("ACME"), name), "utf8");
const codesOf = (entry: LedgerEntry | undefined) => entry?.faults.map(({ code }) => code);

async function shipToName(stopNbr: string): Promise<string | undefined> {
  const row = await store.read
    .selectFrom("stops")
    .select("body")
    .where("stop_nbr", "=", stopNbr)
    .executeTakeFirst();
  return row === undefined ? undefined : JSON.parse(row.body).to?.address?.name;
}

describe("the inbound pipeline", () => {
  it("applies a file, files it away and writes its receipt", async () => {
    await take(["a_20261105_080000.xml", stop("a", "first")]);
    const [entry] = await ledger();
    expect(entry).toMatchObject({ state: "applied", created: 1, isFiled: true, userName: "host" });
    expect(existsSync(locations.fromLedger(entry?.location ?? ""))).toBe(true);
    expect(entry?.location).toMatch(/^companies\/ACME\/archive\/\d{4}-\d\d-\d\d\/a_20261105_080000\.xml$/);
    expect(receipt("a_20261105_080000.receipt.xml")).toContain("<Status>10</Status>");
    expect(readdirSync(locations.inboundDirectory("ACME"))).toEqual([".again"]);
  });

  it("applies files that wait together by the time in their names, whatever the order of arrival", async () => {
    const files = Array.from({ length: 40 }, (_, index) => {
      const name = `a_20261105_08${String(index).padStart(2, "0")}00.xml`;
      return [name, stop("a", `version ${index}`)] as const;
    });
    await take(...files.toReversed());
    expect(await shipToName("a")).toBe("version 39");
    expect((await ledger()).filter(({ state }) => state === "applied")).toHaveLength(40);
  });

  it("applies files of one second by their Function", async () => {
    settings = { ...settings, rulesFor: () => ({ names: "lenient", lateFiles: "refuse" }) };
    const files = [
      ["b_20261105_080000.xml", stop("b", "", "02")],
      ["a_20261105_080000.xml", stop("a", "", "02")],
      ["c_20261105_080000.xml", `<Stops>${stop("c")}${stop("a")}${stop("b")}</Stops>`],
    ] as const;
    await take(...files);
    expect((await ledger()).map(({ name, state }) => [name[0], state])).toEqual([
      ["b", "applied"],
      ["a", "applied"],
      ["c", "applied"],
    ]);
  });

  it("answers the same name and content again with the first receipt and applies nothing", async () => {
    await take(["a_20261105_080000.xml", stop("a")]);
    const first = receipt("a_20261105_080000.receipt.xml");
    await take(["b_20261105_080000.xml", stop("b")], ["a_20261105_080000.xml", stop("a")]);
    const entries = await ledger();
    expect(entries.at(-1)).toMatchObject({ state: "duplicate", firstId: entries[0]?.id, created: 0 });
    const again = receipt("a_20261105_080000.receipt.xml");
    expect(withoutFile(again)).toBe(withoutFile(first));
    // It says that it answers the file that came again.
    expect(first).toContain(`Ledger="${ledgerNumbers.seal(entries[0]?.id ?? 0)}"`);
    expect(again).toContain(`Ledger="${ledgerNumbers.seal(entries.at(-1)?.id ?? 0)}"`);
    expect(entries.at(-1)?.location).not.toBe(entries[0]?.location);
  });

  it("puts a duplicate of a refused file beside the first, with the same receipt", async () => {
    await take(["a_20261105_080000.xml", "<Stop>"]);
    await take(["a_20261105_080000.xml", "<Stop>"]);
    const [first, again] = await ledger();
    expect([first?.state, again?.state, again?.isFiled]).toEqual(["refused", "duplicate", true]);
    const place = locations.fromLedger(again?.location ?? "");
    expect(again?.location).toMatch(/^companies\/ACME\/error\//);
    expect(again?.location).not.toBe(first?.location);
    expect(readFileSync(place, "utf8")).toBe("<Stop>");
    const beside = readFileSync(place.replace(/\.xml$/, ".receipt.xml"), "utf8");
    expect(beside).toBe(receipt("a_20261105_080000.receipt.xml"));
    expect(beside).toContain('ErrorMsgID="950"');
  });

  it("refuses the same name with other content after the first was applied", async () => {
    await take(["a_20261105_080000.xml", stop("a", "one")]);
    await take(["a_20261105_080000.xml", stop("a", "two")]);
    const entry = (await ledger()).at(-1);
    expect([entry?.state, codesOf(entry)]).toEqual(["refused", ["nameReused"]]);
    expect(await shipToName("a")).toBe("one");
    expect(receipt("a_20261105_080000.receipt.xml")).toContain('ErrorMsgID="955"');
  });

  it("takes the same name with other content when the first was refused", async () => {
    await take(["a_20261105_080000.xml", "<Stop>"]);
    await take(["a_20261105_080000.xml", stop("a", "mended")]);
    expect((await ledger()).map(({ state }) => state)).toEqual(["refused", "applied"]);
    expect(await shipToName("a")).toBe("mended");
  });

  it("takes a second file of a name while the first still waits", async () => {
    const first = place("a_20261105_080000.xml", stop("a", "one"));
    const second = place(
      "a_20261105_080000.xml",
      stop("a", "one"),
      "sftp",
      inbound(".again/0123-a_20261105_080000.xml"),
    );
    await pipeline.arriveAll([first, second]);
    await settled();
    expect((await ledger()).map(({ state }) => state)).toEqual(["applied", "duplicate"]);
    expect(readdirSync(inbound(".again"))).toEqual([]);
  });

  it("supersedes a late file and keeps its bytes with the receipt beside them", async () => {
    await take(["a_20261105_090000.xml", stop("a", "new")]);
    await take(["a_20261105_080000.xml", stop("a", "old")]);
    const entry = (await ledger()).at(-1);
    expect([entry?.state, codesOf(entry)]).toEqual(["superseded", ["superseded"]]);
    expect(await shipToName("a")).toBe("new");
    const path = locations.fromLedger(entry?.location ?? "");
    expect(readFileSync(path.replace(/\.xml$/, ".receipt.xml"), "utf8")).toContain('ErrorMsgID="954"');
  });

  it.each([
    ["A_20261105_080000.xml", stop("A"), "badFileName"],
    ["notes.txt", "hello", "badFileName"],
    ["a_20261105_080000.xml", stop("b"), "stopNumberDiffers"],
    [
      "a_20261105_080000.xml",
      `<Stops><CompanyCode>OTHER</CompanyCode>${stop("a")}</Stops>`,
      "companyDiffers",
    ],
    ["a_20261105_080000.xml", "<Stop><Function>01</Function>", "notWellFormed"],
    ["a_20261105_080000.xml", "<Stop><Function>09</Function><StopNbr>a</StopNbr></Stop>", "xsdMismatch"],
    ["a_20261105_080000.xml", `<!DOCTYPE Stop [<!ENTITY x "y">]>${stop("a")}`, "forbiddenXml"],
    ["a_20261105_080000.xml", stop("a", "", "02"), "stopNotFound"],
    ["a_20261105_080000.xml", "", "notWellFormed"],
  ])("refuses %s with the reason, and nothing is lost", async (name, content, code) => {
    await take([name, content], ["ok_20261105_080000.xml", stop("ok")]);
    const entry = (await ledger()).find((one) => one.name === name);
    expect(entry?.state).toBe("refused");
    expect(codesOf(entry)).toContain(code);
    expect(readFileSync(locations.fromLedger(entry?.location ?? ""), "utf8")).toBe(content);
    expect((await ledger()).find((one) => one.name.startsWith("ok"))?.state).toBe("applied");
  });

  it("does not let a file that cannot be read hold up others, and takes it when it can be", async () => {
    const missing = place("a_20261105_080000.xml", stop("a"));
    rmSync(missing.path);
    const arrived = pipeline.arriveAll([missing, place("b_20261105_080100.xml", stop("b"))]);
    await arrived;
    await waitToPass(async () =>
      expect((await ledger()).some(({ state }) => state === "applied")).toBe(true),
    );
    writeFileSync(missing.path, stop("a"));
    await settled();
    expect((await ledger()).map(({ state }) => state)).toEqual(["applied", "applied"]);
  });

  it("refuses a file that is gone for good", async () => {
    settings = { ...settings, giveUpAfterMs: 100 };
    const missing = place("a_20261105_080000.xml", stop("a"));
    rmSync(missing.path);
    void pipeline.arriveAll([missing]);
    await settled();
    const [entry] = await ledger();
    expect(entry?.state).toBe("refused");
    expect(entry?.faults[0]?.message).toContain("removed before it was read");
  });

  it("waits for a file in a folder that is not whole yet, and refuses it when the time is over", async () => {
    const path = inbound("a_20261105_080000.xml");
    await pipeline.arriveAll([place("a_20261105_080000.xml", "<Stop><Function>01</Function>", "folder")]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect((await ledger())[0]?.state).toBe("waiting");
    writeFileSync(path, stop("a", "whole"));
    await settled();
    expect((await ledger())[0]?.state).toBe("applied");
    settings = { ...settings, incompleteGraceMs: 50 };
    void pipeline.arriveAll([place("b_20261105_080000.xml", "<Stop><Function>01</Function>", "folder")]);
    await settled();
    expect(codesOf((await ledger())[1])).toEqual(["notWellFormed"]);
  });

  it("tries a refused file again when an administrator asks for it", async () => {
    const document = `<Stop><Function>03</Function><StopNbr>a</StopNbr><StopAssignment><CarrierCode>C1</CarrierCode></StopAssignment></Stop>`;
    await take(["a_20261105_080000.xml", document]);
    const [refused] = await ledger();
    expect(codesOf(refused)).toEqual(["partnerNotFound"]);
    const partner = { partnerCode: "C1", partnerName: "Carrier" };
    await store.write("site", (tx) => savePartner(tx, { companyId, partner, now: 1 }));
    expect(await store.write("site", (tx) => requestRetry(tx, { id: refused?.id ?? 0, now: 1 }))).toBe(true);
    await waitToPass(async () => expect((await ledger())[0]?.state).toBe("applied"));
    await settled();
    const folder = join(locations.fromLedger(refused?.location ?? ""), "..");
    expect(readdirSync(folder)).toEqual([]);
    expect(receipt("a_20261105_080000.receipt.xml")).toContain("<Status>10</Status>");
  });

  it("puts what waited before a stop back in line at the next start, in order", async () => {
    await pipeline.stop();
    const rest = { companyId, nameTime: null, size: 1, channel: "sftp", userName: null, receivedAt: 1 };
    const { enterFile } = await import("../store/ledger/files.ts");
    for (const hour of ["10", "09", "11"]) {
      const { name, path } = place(`a_20261105_${hour}0000.xml`, stop("a", `at ${hour}`));
      await store.write("site", (tx) => enterFile(tx, { ...rest, name, location: locations.toLedger(path) }));
    }
    await startPipeline();
    await settled();
    expect((await ledger()).map(({ state }) => state)).toEqual(["applied", "applied", "applied"]);
    expect(await shipToName("a")).toBe("at 11");
  });

  it("decides files of one name in the order in which they came, whatever number the ledger gave them", async () => {
    const name = "a_20261105_080000.xml";
    const release = await pipeline.hold(companyId);
    const later = place(name, stop("a", "later"), "sftp", inbound(`.again/0123456789ab-${name}`));
    await pipeline.arriveAll([{ ...later, receivedAt: 2_000 }]);
    // Found by the scan afterwards, although an earlier run answered it first.
    await pipeline.arriveAll([{ ...place(name, stop("a", "earlier"), "recovered"), receivedAt: 1_000 }]);
    const waiting = await ledger();
    expect(waiting.map(({ receivedAt }) => receivedAt)).toEqual([2_000, 1_000]);
    await pipeline.stop();
    release();
    await startPipeline();
    await settled();
    expect((await ledger()).map(({ state }) => state)).toEqual(["refused", "applied"]);
    expect(await shipToName("a")).toBe("earlier");
  });

  it("files away at the next start what was decided and not filed", async () => {
    await take(["a_20261105_080000.xml", stop("a")]);
    const [entry] = await ledger();
    await pipeline.stop();
    const { renameSync } = await import("node:fs");
    renameSync(locations.fromLedger(entry?.location ?? ""), inbound("a_20261105_080000.xml"));
    rmSync(join(locations.receiptsDirectory("ACME"), "a_20261105_080000.receipt.xml"));
    await store.write("site", async (tx) => {
      await tx.updateTable("files").set({ is_filed: 0 }).execute();
    });
    await startPipeline();
    await settled();
    expect(existsSync(locations.fromLedger(entry?.location ?? ""))).toBe(true);
    expect(receipt("a_20261105_080000.receipt.xml")).toContain("<Status>10</Status>");
    expect((await ledger()).map(({ isFiled }) => isFiled)).toEqual([true]);
  });

  it("never replaces the receipt of a later file of the name by a refusal, nor after a crash", async () => {
    const name = "a_20261105_080000.xml";
    await take([name, stop("a", "whole")]);
    const early = {
      ...place(name, stop("a", "half").slice(0, -9), "folder", inbound(".again/0123-x")),
      receivedAt: 1,
    };
    await pipeline.arriveAll([early]);
    await settled();
    const [whole, half] = await ledger();
    expect([whole?.state, half?.state]).toEqual(["applied", "refused"]);
    expect(receipt("a_20261105_080000.receipt.xml")).toContain("<Status>10</Status>");
    const beside = locations.fromLedger(half?.location ?? "").replace(/\.xml$/, ".receipt.xml");
    expect(readFileSync(beside, "utf8")).toContain("<Status>99</Status>");
    await pipeline.stop();
    await store.write("site", async (tx) => {
      await tx.updateTable("files").set({ is_filed: 0 }).execute();
    });
    await startPipeline();
    await settled();
    expect(receipt("a_20261105_080000.receipt.xml")).toContain("<Status>10</Status>");
  });

  it("keeps files back whose stop has an earlier file that is seen and not whole yet, and no others", async () => {
    const release = pipeline.keepBack(companyId, "a_20261105_080000.xml");
    const names = [
      "a_20261105_070000.xml",
      "a_20261105_080000.xml",
      "a_20261105_090000.xml",
      "b_20261105_090000.xml",
    ];
    await pipeline.arriveAll(names.map((name) => place(name, stop(name.slice(0, 1)))));
    const waiting = async () =>
      (await ledger()).filter(({ state }) => state === "waiting").map(({ name }) => name);
    await waitToPass(async () => expect(await waiting()).toEqual(["a_20261105_090000.xml"]));
    release();
    await settled();
    expect((await ledger()).map(({ state }) => state)).toEqual(Array(4).fill("applied"));
  });
});
