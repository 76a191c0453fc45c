/** Legacy JSON retrieval of loads, and of stops that are on loads (specification/legacy-services.md#json-retrieval). */
import { beforeEach, describe, expect, test } from "vitest";
import { setCompany } from "../../src/operations/users/company-admin.ts";
import { findLegacyLoads } from "../../src/operations/legacy/legacy-loads.ts";
import { findLegacyStops } from "../../src/operations/legacy/legacy-stops.ts";
import { cancelLoad } from "../../src/operations/loads/cancel-load.ts";
import { codeOf, GatewayStore, load } from "../support/gateway-store.ts";

let site: GatewayStore;

beforeEach(async () => {
  site = await GatewayStore.open();
  await site.addDriver({ userName: "ann", fullName: "Ann Hill" });
  await site.importLoads(
    {
      loadHeader: {
        loadNbr: "L1",
        reference: "REF1",
        originCity: "Ulm",
        weight: "12.5",
        earliestStartDttm: "2026-11-05T08:00:00",
        totalPallets: "3",
      },
      stops: [{ stopNbr: "S1" }, { stopNbr: "S2" }],
      loadAssignment: { driverUserName: "ann" },
    },
    load("L2", ["S3"]),
    load("L3"),
  );
  await site.call(cancelLoad, { ...site.at, body: { loadNbr: "L3", reasonCode: "R" } });
});

const parameters = (query: Record<string, string>) =>
  Object.entries(query).map(([name, value]) => ({ name, value }));
async function find(query: Record<string, string>) {
  const input = { ...site.at, parameters: parameters(query) };
  const { json, total } = await site.call(findLegacyLoads, input, new AbortController().signal);
  return { loads: JSON.parse(json) as Record<string, unknown>[], total };
}
const numbers = async (query: Record<string, string>) =>
  (await find(query)).loads.map(({ loadNbr }) => loadNbr);

describe("loads", () => {
  test("have the shape of a stop's load header, with times as legacy clients read them", async () => {
    const { loads } = await find({ loadNbr: "L1" });
    expect(loads).toEqual([
      {
        loadId: expect.any(Number),
        loadNbr: "L1",
        status: "30",
        originCity: "Ulm",
        totalStops: 2,
        reference: "REF1",
        weight: { value: 12.5 },
        companyId: { companyId: expect.any(Number), companyName: "ACME" },
        assignedDriver: "Ann Hill",
        earliestStartDttm: "Nov 5, 2026 8:00:00 AM",
        totalPallets: 3,
      },
    ]);
  });

  test("tell name and address of the company, as far as they are set, and are found by them", async () => {
    const { store } = site;
    const profile = {
      name: "Acme Ltd",
      addr1: "1 Dock Road",
      city: "Ulm",
      state: "BW",
      zip: "89073",
      country: "DE",
    };
    await setCompany({ store }, "acme", { ...profile, addr2: "Gate 4" });
    await setCompany({ store }, "ACME", { addr2: "" });
    const { loads } = await find({ loadNbr: "L1" });
    expect(loads[0]?.["companyId"]).toEqual({
      ...{ companyId: expect.any(Number), companyName: "Acme Ltd", address1: "1 Dock Road" },
      ...{ city: "Ulm", state: "BW", zip: "89073" },
    });
    expect(await numbers({ companyName: "Acme Ltd" })).toEqual(["L1", "L2"]);
    expect(await numbers({ address1: "2 Dock Road" })).toEqual([]);
  });

  test.each([
    [{}, ["L1", "L2"]],
    [{ status: "99" }, ["L3"]],
    [{ loadStatus: "30" }, ["L1"]],
    [{ reference: "REF1" }, ["L1"]],
    [{ ORIGINCITY: "Ulm" }, ["L1"]],
    [{ assignedDriver: "Ann Hill", totalStops: "2" }, ["L1"]],
    [{ limit: "1", offset: "1" }, ["L2"]],
    [{ loadNbr: "L9" }, []],
    [{ status: "never" }, []],
  ])("%j finds %j; cancelled ones only when asked for", async (query, found) => {
    expect(await numbers(query as Record<string, string>)).toEqual(found);
  });

  test("an unknown name is 910", async () => {
    expect(await codeOf(find({ colour: "red" }))).toBe("unknownFilter");
    expect(await codeOf(find({ stopNbr: "S1" }))).toBe("unknownFilter");
  });
});

describe("stops", () => {
  async function findStops(query: Record<string, string>) {
    const input = { ...site.at, parameters: parameters(query) };
    const { json } = await site.call(findLegacyStops, input, new AbortController().signal);
    return JSON.parse(json) as { stopNbr: string; loadId?: { loadHeader: Record<string, unknown> } }[];
  }

  test("tell the load they are on, and are found by its number and by other fields of it", async () => {
    const [stop] = await findStops({ stopNbr: "S1" });
    expect(stop?.loadId?.loadHeader).toMatchObject({ loadNbr: "L1", status: "30", totalStops: 2 });
    expect((await findStops({ loadNbr: "L1" })).map(({ stopNbr }) => stopNbr)).toEqual(["S1", "S2"]);
    expect((await findStops({ loadReference: "REF1" })).map(({ stopNbr }) => stopNbr)).toEqual(["S1", "S2"]);
  });
});
