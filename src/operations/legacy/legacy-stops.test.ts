import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { plainStop } from "../../../test/support/plain-stop.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import type { StopStatus } from "../../domain/stop/stop-status.ts";
import { insertCompany } from "../../store/accounts/companies.ts";
import type { Store } from "../../store/database/database.ts";
import { openFreshStore } from "../../../test/support/fresh-store.ts";
import { itOnSqlite } from "../../../test/support/store-dialect.ts";
import { everyRow } from "../../store/database/row-batches.ts";
import { countStops, eachStopBatch } from "../../store/stops/stop-queries.ts";
import { saveStop } from "../../store/stops/stops.ts";
import { legacyDateTime } from "./legacy-shape.ts";
import { findLegacyStops } from "./legacy-stops.ts";

let folder = "";
let store: Store;
let companyId = 0;
let otherId = 0;

async function keep(stop: Stop, status: StopStatus = "10", company = companyId): Promise<void> {
  const text = (value: string | number | undefined) => (value === undefined ? null : String(value));
  await store.write("site", (tx) =>
    saveStop(tx, {
      ...plainStop,
      companyId: company,
      stopNbr: stop.stopNbr,
      status,
      shipmentNbr: text(stop.shipmentNbr),
      sealNbr: text(stop.sealNbr),
      bol: text(stop.bol),
      reference1: text(stop.reference1),
      reference2: text(stop.reference2),
      body: JSON.stringify(stop),
    }),
  );
}

const full: Stop = {
  stopNbr: "S1",
  stopSeq: "01",
  shipmentNbr: "SH1",
  bol: "B1",
  sealNbr: 123,
  reference1: "R1",
  totalPallets: "2",
  totalCartons: 12,
  to: {
    address: {
      name: "Shop",
      addr1: "1 Road",
      addr2: "b",
      city: "York",
      state: "NY",
      zip: "01234",
      country: "US",
    },
    schedule: { timeFrom: "2026-11-05T08:00:00", timeTo: "2026-11-05T12:30:05", timeZone: "EST" },
    signatureRequired: true,
  },
  billTo: { name: "Payer", addr1: "2 Road", city: "Rome", state: "GA", zip: "30161", country: "US" },
  stopDetails: [
    {
      product: "P1",
      productIdentifier: "0001",
      quantity: 5,
      quantityUOM: "cartons",
      weight: "1.50",
      volume: 3,
    },
    { product: "P2" },
  ],
  documents: [{ documentName: "d.pdf", documentData: "AAAA", reference: "g-1" }],
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "legacy-stops-"));
  store = await openFreshStore(folder);
  companyId = await store.write(
    "site",
    async (tx) => (await insertCompany(tx, { code: "ACME", createdAt: 1 })).company.id,
  );
  otherId = await store.write(
    "site",
    async (tx) => (await insertCompany(tx, { code: "Beta", createdAt: 1 })).company.id,
  );
  await keep(full);
  await keep(
    { stopNbr: "S2", sealNbr: "456", stopSeq: "A", stopDetails: [{ product: "P2", quantity: "5" }] },
    "20",
  );
  await keep({ stopNbr: "S3", sealNbr: "456", reference2: "R1" }, "99");
  await keep({ stopNbr: "S4", sealNbr: "456" }, "10", otherId);
});
afterAll(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

async function find(query: string): Promise<{ total: number; stops: Record<string, unknown>[] }> {
  const parameters = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
  const { json, total } = await findLegacyStops({ store }, { companyId, companyCode: "ACME", parameters });
  return { total, stops: JSON.parse(json) };
}
const numbersOf = async (query: string) => (await find(query)).stops.map(({ stopNbr }) => stopNbr);

describe("the legacy shape", () => {
  it("has every field of the interface, and loadId only on a load", async () => {
    expect((await find("stopNbr=S1")).stops).toEqual([
      {
        stopNbr: "S1",
        status: "10",
        stopSeq: 1,
        shipmentNbr: "SH1",
        bol: "B1",
        signatureRequired: true,
        shipToName: "Shop",
        shipToAddr1: "1 Road",
        shipToAddr2: "b",
        shipToCity: "York",
        shipToState: "NY",
        shipToZip: "01234",
        billToName: "Payer",
        billToAddr1: "2 Road",
        billToCity: "Rome",
        billToState: "GA",
        billToZip: "30161",
        billToCountry: "US",
        earliestStartDttm: "Nov 5, 2026 8:00:00 AM",
        latestStartDttm: "Nov 5, 2026 12:30:05 PM",
        totalPallets: 2,
        totalCartons: 12,
        sealNbr: 123,
        reference1: "R1",
        documents: [{ documentName: "d.pdf", reference: "g-1" }],
        stopDetails: [
          {
            product: "P1",
            productIdentifier: "0001",
            quantity: { uom: "cartons", value: 5 },
            weight: { value: 1.5 },
            volume: { value: 3 },
          },
          { product: "P2" },
        ],
      },
    ]);
  });

  it("gives amounts of details as numbers, whatever way they came in", async () => {
    const [stop] = (await find("stopNbr=S2")).stops;
    expect(stop).toMatchObject({ stopDetails: [{ product: "P2", quantity: { value: 5 } }] });
  });

  it("leaves out what is not known, and text where a number is promised", async () => {
    const [stop] = (await find("stopNbr=S2")).stops;
    expect(Object.keys(stop ?? {})).toEqual(["stopNbr", "status", "sealNbr", "documents", "stopDetails"]);
  });

  it.each([
    ["2026-01-31T00:00:00", "Jan 31, 2026 12:00:00 AM"],
    ["2026-12-01T12:00:09", "Dec 1, 2026 12:00:09 PM"],
    ["2026-06-10T23:59:59", "Jun 10, 2026 11:59:59 PM"],
    ["2026-06-10T11:05:00", "Jun 10, 2026 11:05:00 AM"],
  ])("writes %s as %s", (iso, text) => expect(legacyDateTime(iso)).toBe(text));
});

describe("filters", () => {
  it.each([
    ["", ["S1", "S2"]],
    ["sealNbr=456", ["S2"]],
    ["SEALNBR=456", ["S2"]],
    ["stopSealNbr=456", ["S2"]],
    ["sealNbr=456&stopSealNbr=123", ["S1", "S2"]],
    ["sealNbr=456&status=99", ["S3"]],
    ["sealNbr=456&status=99&status=20", ["S2", "S3"]],
    ["stopStatus=10", ["S1"]],
    ["status=99&reference2=R1", ["S3"]],
    ["reference1=R1", ["S1"]],
    ["stopReference1=R1&bol=B1&shipmentNbr=SH1", ["S1"]],
    ["bol=B1&bol=B2&sealNbr=456", []],
    ["stopNbr=s1", []],
    ["stopNbr=S1%27%20or%201=1", []],
    ["shipToCity=York", ["S1"]],
    ["shiptocity=york", []],
    ["stopSeq=1", ["S1"]],
    ["stopSeq=001", ["S1"]],
    ["signatureRequired=TRUE", ["S1"]],
    ["product=P2", ["S1", "S2"]],
    ["stopProduct=P1&status=10", ["S1"]],
    ["quantity=5&uom=cartons", ["S1"]],
    ["quantity=5", ["S1", "S2"]],
    ["value=1.50", ["S1"]],
    ["reference=g-1", ["S1"]],
    ["earliestStartDttm=Nov+5,+2026+8:00:00+AM", ["S1"]],
    ["loadNbr=L1", []],
    ["loadStatus=30", []],
    ["assignedDriver=x&stopNbr=S1", []],
    ["sealNbr=", []],
  ])("%s finds %j", async (query, expected) => {
    expect(await numbersOf(query)).toEqual(expected);
  });

  it.each([
    "x=1",
    "stopX=1",
    "loadSealNbr=1",
    "stop=1",
    "load=1",
    "__proto__=1",
    "constructor=1",
    "documents=1",
    "loadId.loadNbr=1",
  ])("%s is refused with 910", async (query) => {
    await expect(find(query)).rejects.toMatchObject({ code: "unknownFilter" });
  });

  it("names each unknown one", async () => {
    await expect(find("x=1&stopNbr=S1&y=2")).rejects.toMatchObject({
      faults: [
        { code: "unknownFilter", path: "x" },
        { code: "unknownFilter", path: "y" },
      ],
    });
  });
});

describe("paging", () => {
  it.each(["limit=0", "limit=5001", "limit=x", "limit=-1", "offset=-1", "offset=1e3", "offset="])(
    "%s is refused with 902",
    async (query) => {
      await expect(find(query)).rejects.toMatchObject({ code: "wrongType" });
    },
  );

  it("gives one page and the count of all, by an index as by a search", async () => {
    const bodies = Array.from({ length: 730 }, (_, index) => ({
      stopNbr: `N${1000 + index}`,
      shipmentNbr: "MANY",
    }));
    await Promise.all(bodies.map((body) => keep({ ...body, to: { address: { city: "Many" } } }, "20")));
    for (const filter of ["shipmentNbr=MANY", "shipToCity=Many"]) {
      const first = await find(filter);
      expect([first.total, first.stops.length, first.stops[0]?.["stopNbr"]]).toEqual([730, 500, "N1000"]);
      const last = await find(`${filter}&LIMIT=100&offset=700`);
      expect([last.total, last.stops.length, last.stops.at(-1)?.["stopNbr"]]).toEqual([730, 30, "N1729"]);
      expect(await find(`${filter}&offset=730`)).toEqual({ total: 730, stops: [] });
    }
  });

  it("of large stops lets others have their turn, by an index as by a search", async () => {
    const large = "x".repeat(600_000);
    const bodies = Array.from({ length: 6 }, (_, index) => ({
      ...{ stopNbr: `L${index}`, sealNbr: "LARGE", large },
      to: { address: { city: "Large" } },
    }));
    for (const body of bodies) await keep(body);
    for (const filter of ["sealNbr=LARGE", "sealNbr=LARGE&shipToCity=Large"]) {
      let turns = 0;
      const timer = setInterval(() => (turns += 1), 0);
      const page = await find(`${filter}&limit=4&offset=1`);
      clearInterval(timer);
      expect([page.total, ...page.stops.map(({ stopNbr }) => stopNbr)]).toEqual([6, "L1", "L2", "L3", "L4"]);
      expect(turns).toBeGreaterThan(2);
    }
  });

  it("refuses an answer that is too large, with what to do", async () => {
    const product = "p".repeat(1_000_000);
    const stopDetails = Array.from({ length: 20 }, () => ({ product }));
    for (let index = 0; index < 7; index += 1) await keep({ stopNbr: `H${index}`, bol: "HUGE", stopDetails });
    await expect(find("bol=HUGE")).rejects.toMatchObject({
      code: "tooLarge",
      message: expect.stringContaining("Ask for fewer results"),
    });
    expect((await find("bol=HUGE&limit=1")).total).toBe(7);
  });

  it("lets others have their turn during a search, and ends with the client", async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    const controller = new AbortController();
    const parameters = [{ name: "shipToCity", value: "Many" }];
    const search = findLegacyStops(
      { store },
      { companyId, companyCode: "ACME", parameters },
      controller.signal,
    );
    await search;
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
    controller.abort(new Error("gone"));
    await expect(
      findLegacyStops({ store }, { companyId, companyCode: "ACME", parameters }, controller.signal),
    ).rejects.toThrow("gone");
  });
});

describe("the database", () => {
  itOnSqlite.each([
    "stopNbr",
    "status",
    "shipmentNbr",
    "sealNbr",
    "bol",
    "reference1",
    "reference2",
  ] as const)("finds, counts and searches stops by %s through an index", async (field) => {
    const column = field === "status" ? "stop_status" : field.replace("Nbr", "_nbr");
    const seen: CompiledQuery[] = [];
    const db = store.read;
    const executor = db.getExecutor();
    const executeQuery = executor.executeQuery.bind(executor);
    const spy = vi.spyOn(executor, "executeQuery").mockImplementation((query) => {
      seen.push(query);
      return executeQuery(query);
    });
    for (const values of [["x-a"], ["x-a", "x-b"]]) {
      const selection = { companyId, fields: { [field]: values } };
      await countStops(db, selection);
      for await (const batch of eachStopBatch(db, selection, everyRow)) expect(batch).toEqual([]);
    }
    spy.mockRestore();
    expect(seen).toHaveLength(4);
    for (const { sql, parameters } of seen) {
      const { rows } = await store.read.executeQuery(
        CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
      );
      expect(JSON.stringify(rows)).toMatch(
        new RegExp(`SEARCH stops USING .*\\(company_id=\\? AND ${column}=\\?`),
      );
    }
  });
});
