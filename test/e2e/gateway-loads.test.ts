/** Loads, stops and ASNs over real HTTP: success, refusals and limits of each operation. The states are tested in test/integration. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http, importPartner } from "../support/clients.ts";
import { company, lenient, Site } from "../support/daemon.ts";
import { eventCodes, getJson, importLoads, outcome, post, reasonCodes } from "../support/gateway-client.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make({ security: lenient });
  await site.addUser("ann", ["DI_Driver"]);
  await site.start();
  await importPartner(site, "C1");
});
afterAll(() => site.end());

const stops = (...list: readonly object[]) => ({ companyCode: company, stops: list });
const loads = (...list: readonly object[]) => ({ companyCode: company, loads: list });
const load = (loadNbr: string, ...stopNbrs: readonly string[]) => ({
  loadHeader: { loadNbr },
  stops: stopNbrs.map((stopNbr) => ({ stopNbr })),
});

describe("a load's way", () => {
  test("import, detail, carrier, driver, cancel, events", async () => {
    expect(await importLoads(site, [load("W1", "WS1", "WS2")])).toMatchObject({ status: "Success" });
    expect(await outcome(post(site, "/v5/load/assign/carrier/W1", { carrierCode: "C1" }))).toBe("200");
    expect(await outcome(post(site, "/v6/load/assign/driver/W1", { driverUserName: "ann" }))).toBe("200");
    const detail = await getJson(site, `/v5/load/info/W1/${company}`);
    expect(detail).toMatchObject({
      Load: {
        loadHeader: { loadNbr: "W1" },
        loadExecutionInfo: { loadStatus: 30 },
        loadAssignment: { carrierCode: "C1", driverUserName: "ann" },
        stops: [{ stop: { stopNbr: "WS1" }, stopExecutionInfo: { stopStatus: "20" } }, {}],
      },
    });
    const cancel = { loadNbr: "W1", reasonCode: "R1" };
    expect(await outcome(post(site, "/v5/load/cancel", cancel))).toBe("409 960");
    expect(await outcome(post(site, "/v5/load/unassign/driver", { loadNbr: "W1" }))).toBe("200");
    expect(await outcome(post(site, "/v5/load/unassign/carrier/W1", { carrierCode: "C1" }))).toBe("200");
    expect(await outcome(post(site, "/v5/load/cancel", cancel))).toBe("200");
    expect(await eventCodes(site, "loadNbr=W1")).toEqual([7000, 7028, 7028, 7001, 7002, 7033]);
    const legacy = await http(site, `/api/load/${company}?loadNbr=W1&status=99`);
    expect(JSON.parse(legacy.body)).toMatchObject([{ loadNbr: "W1", status: "99" }]);
    expect(legacy.headers.get("x-total-count")).toBe("1");
  });

  test("what is refused in the background stands in import/info, and the others are applied", async () => {
    const info = await importLoads(site, [
      load("P1", "PS1"),
      { loadHeader: { loadNbr: "P2" }, loadAssignment: { carrierCode: "C9" } },
    ]);
    expect(info).toMatchObject({
      status: "PartialSuccess",
      loads: [
        { loadNbr: "P1", status: "Success" },
        { loadNbr: "P2", status: "Failed", Reasons: [{ reasonCode: 925 }] },
      ],
    });
    expect((await http(site, `/v5/load/info/P2/${company}`)).status).toBe(404);
  });

  test.each([
    ["/v5/load/assign/carrier/NONE", { carrierCode: "C1" }, "404 920"],
    ["/v5/load/unassign/carrier/NONE", { carrierCode: "C1" }, "404 920"],
    ["/v5/load/assign/driver/NONE", { driverUserName: "ann" }, "404 920"],
    ["/v5/load/assign/driver", { driverUserName: "ann" }, "400 901"],
    ["/v5/load/assign/driver/P1", {}, "400 1505"],
    ["/v5/load/assign/driver/P1", { driverUserName: "eve" }, "404 926"],
    ["/v5/load/unassign/driver/P1", {}, "409 964"],
    ["/v5/load/assign/carrier/P1", { carrierCode: "C9" }, "404 925"],
    ["/v5/load/assign/carrier/P1", { carrierCode: "x".repeat(11) }, "400 1401"],
    ["/v5/load/assign/carrier/P1", { companyCode: "OTHER", carrierCode: "C1" }, "400 905"],
    [
      "/v5/load/assign/driver/P1",
      {
        driverEmail: "e".repeat(51),
        driverName: "n".repeat(51),
        assignmentCriteria: "a".repeat(11),
        driverCdl: "c".repeat(11),
        driverUserName: "u".repeat(51),
      },
      "400 1401 1401 1401 1401 1401",
    ],
    ["/v5/load/cancel", { loadNbr: "NONE", reasonCode: "R" }, "404 920"],
    ["/v5/load/cancel", { loadNbr: "P1" }, "400 901"],
    ["/v5/load/cancel", [], "400 902"],
    ["/v5/load/update/other", loads(load("N1")), "404 908"],
    ["/v5/load/update/default", loads(), "400 903"],
    ["/v5/load/update/default", { loads: [load("N1")] }, "400 901"],
    ["/v5/load/update/default", loads({ stops: [] }), "400 901"],
    ["/v5/load/update/default", loads(load("N".repeat(21))), "400 1401"],
    ["/v5/load/update/default", loads(...Array.from({ length: 501 }, (_, at) => load(`M${at}`))), "413 909"],
    [
      "/v5/load/update/default",
      loads({
        loadHeader: { loadNbr: "N1", earliestStartDttm: "never" },
        stops: [{ stopNbr: "S", to: { schedule: { timeZone: "Mars" } } }],
      }),
      "400 904 904",
    ],
  ] as const)("%s answers %j with %s", async (path, body, expected) => {
    expect(await outcome(post(site, path, body))).toBe(expected);
  });

  test("an import that nobody made is 920", async () => {
    const reply = await http(site, `/v5/import/info/b7e1c0de-0000-4000-8000-000000000000/${company}`);
    expect([reply.status, ...reasonCodes(reply)]).toEqual([404, 920]);
  });
});

describe("stops and ASNs", () => {
  test("import, detail, carrier, rejection", async () => {
    const stop = { stopNbr: "T1", to: { schedule: { timeFrom: "2026-11-06T08:00:00" } } };
    expect(await outcome(post(site, "/v5/stop/update/default", stops(stop)))).toBe("200");
    expect(await outcome(post(site, "/v5/stop/assign/carrier/T1", { carrierCode: "C1" }))).toBe("200");
    const detail = await getJson(site, `/v6/stop/info/T1/${company}`);
    expect(detail).toMatchObject({ Stop: { stop: { stopAssignment: { carrierCode: "C1" } } } });
    expect(await outcome(post(site, "/v5/stop/unassign/carrier/T1", { carrierCode: "C1" }))).toBe("200");
    expect(await outcome(post(site, "/v5/asn/cancel", { stopNbr: "T1", reasonCode: "R" }))).toBe("409 962");
    expect(await outcome(post(site, "/v5/stop/cancel", { stopNbr: "T1", reasonCode: "R" }))).toBe("200");
    expect(await outcome(post(site, "/v5/stop/cancel", { stopNbr: "T1", reasonCode: "R" }))).toBe("409 961");
    expect(await outcome(post(site, "/v5/asn/update/default", stops({ stopNbr: "T2" })))).toBe("200");
    expect(await outcome(post(site, "/v5/asn/cancel", { stopNbr: "T2", reasonCode: "R" }))).toBe("200");
    expect(await eventCodes(site, "stopNbr=T2")).toEqual([7059]);
  });

  test.each([
    ["/v5/stop/update/default", stops(), "400 903"],
    ["/v5/stop/update/other", stops({ stopNbr: "U1" }), "404 908"],
    ["/v5/asn/update/default", stops({ stopNbr: "U1" }, { stopNbr: 7 }), "400 902"],
    ["/v5/stop/update/default", stops({ stopNbr: "U1" }, { stopNbr: "U".repeat(21) }), "400 1401"],
    ["/v5/stop/assign/carrier/NONE", { carrierCode: "C1" }, "404 921"],
    ["/v5/stop/unassign/carrier/NONE", { carrierCode: "C1" }, "404 921"],
    ["/v5/stop/cancel", { stopNbr: "NONE", reasonCode: "R" }, "404 921"],
    [
      "/v5/stop/cancel",
      { stopNbr: "S".repeat(21), reasonCode: "R".repeat(11), reasonComments: "c".repeat(501) },
      "400 1401 1401 1401",
    ],
    ["/v5/asn/cancel", { stopNbr: "NONE", reasonCode: "R" }, "404 921"],
  ] as const)("%s answers %j with %s", async (path, body, expected) => {
    expect(await outcome(post(site, path, body))).toBe(expected);
    expect((await http(site, `/v5/stop/info/U1/${company}`)).status).toBe(404);
  });

  test("5,001 stops are over the limit, 5,000 are taken while others are answered", async () => {
    const many = (count: number) =>
      stops(...Array.from({ length: count }, (_, at) => ({ stopNbr: `V${at}` })));
    expect(await outcome(post(site, "/v5/stop/update/default", many(5_001)))).toBe("413 909");
    const importing = post(site, "/v5/stop/update/default", many(5_000));
    const probe = await http(site, `/v5/stop/info/__probe__/${company}`);
    expect(probe.status).toBe(404);
    expect((await importing).status).toBe(200);
    expect((await http(site, `/api/stop/${company}?stopNbr=V4999`)).headers.get("x-total-count")).toBe("1");
  });
});
