/** Route events and positions over real HTTP, as the driver application sends them; the states are tested in test/integration. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { http } from "../support/clients.ts";
import { company, lenient, Site } from "../support/daemon.ts";
import { eventCodes, getJson, importLoads, outcome, post } from "../support/gateway-client.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make({
    security: lenient,
    events: { etaIntervalMs: 0 },
  });
  for (const driver of ["ann", "bob"]) await site.addUser(driver, ["DI_Driver"]);
  await site.start();
});
afterAll(() => site.end());

const stampAt = (time: string, rest: object = {}) => ({
  eventDTTM: `2026-11-05T${time}:00`,
  eventTz: "America/Chicago",
  ...rest,
});

interface Told {
  readonly at: string;
  readonly as?: string;
  readonly place?: object;
  readonly stop?: object;
}

function report(routeNbr: string, eventCode: string, { at, as = "ann", place, stop }: Told): Promise<string> {
  const geoStamp = stampAt(at, place);
  const data = stop === undefined ? {} : { stopEventData: stop };
  return outcome(post(site, "/v5/event/route", { eventCode, geoStamp, routeNbr, ...data }, { userName: as }));
}

function position(routeNbr: string, at: string, place: object, as = "ann"): Promise<string> {
  return outcome(post(site, "/v5/event/gps", { geoStamp: stampAt(at, place), routeNbr }, { userName: as }));
}

function plan(loadNbr: string, stops: readonly object[], header: object = {}) {
  return {
    loadHeader: {
      loadNbr,
      originAddr1: "1 Depot Road",
      originLatitude: 39.7,
      originLongitude: -89.6,
      ...header,
    },
    stops,
    loadAssignment: { driverUserName: "ann" },
  };
}

describe("a driver's day", () => {
  const signature = Buffer.from("signature of the shop").toString("base64");

  test("from the start to the depot, with positions, quantities, a signature and an exception", async () => {
    const shop = { addr1: "5 First Street", latitude: 39.8, longitude: -89.6 };
    const first = {
      stopNbr: "E1",
      to: { address: shop, schedule: { timeZone: "America/New_York" } },
      stopDetails: [{ stopDetailSeq: 1, productIdentifier: "APL", quantity: 4 }],
    };
    const second = { stopNbr: "E2", to: { address: { addr1: "6 Second Street" } } };
    await importLoads(site, [plan("E-1", [first, second], { returnToDepot: "ALWAYS" })]);
    expect(await report("E-1", "route.initiated", { at: "06:00" })).toBe("200");
    expect(await report("E-1", "route.origin.arrival", { at: "06:05" })).toBe("200");
    expect(await report("E-1", "route.origin.depart", { at: "06:10" })).toBe("200");
    expect(await position("E-1", "06:20", { latitude: "39.75", longitude: "-89.6" })).toBe("200");
    // 5.56 km times 1.3 at 45 km/h are 9 minutes and 38 seconds; New York is an hour ahead of Chicago.
    const onTheWay = await getJson(site, `/v5/stop/info/E1/${company}`);
    expect(onTheWay).toMatchObject({
      Stop: { stopExecutionInfo: { stopStatus: "38", to: { plannedEtaDTTM: "2026-11-05T07:29:38" } } },
    });
    expect(await position("E-1", "06:30", { latitude: 39.8, longitude: -89.6 })).toBe("200");
    expect(await report("E-1", "stop.dropoff.arrival", { at: "06:31", stop: { stopNbr: "E1" } })).toBe("200");
    const confirmation = {
      stopNbr: "E1",
      autoDepart: true,
      stopDetails: [{ productIdentifier: "APL", confirmedQty: 3, exceptionReasonCode: "SHORT" }],
      documents: [{ documentName: "signature.png", documentType: "SIGNATURE", documentData: signature }],
    };
    expect(await report("E-1", "stop.dropoff.confirmation", { at: "06:40", stop: confirmation })).toBe("200");
    const closing = { stopNbr: "E2", exceptionCode: "CLOSED", exceptionDesc: "nobody there" };
    expect(await report("E-1", "stop.dropoff.closed", { at: "07:00", stop: closing })).toBe("200");
    expect(await report("E-1", "route.depot.arrival", { at: "07:30" })).toBe("200");
    const detail = await getJson(site, `/v5/load/info/E-1/${company}`);
    expect(detail).toMatchObject({
      Load: {
        loadExecutionInfo: {
          loadStatus: 90,
          actualStartDTTM: "2026-11-05T06:00:00",
          actualEndDTTM: "2026-11-05T07:30:00",
          actualEndTimeZone: "America/Chicago",
        },
        stops: [
          {
            stop: { stopDetails: [{ confirmed: { confirmedQty: 3, exceptionReasonCode: "SHORT" } }] },
            stopExecutionInfo: {
              stopStatus: "90",
              to: { arrivalDTTM: "2026-11-05T06:31:00", departureDTTM: "2026-11-05T06:40:00", duration: 9 },
            },
          },
          { stopExecutionInfo: { stopStatus: "80", exceptions: [{ exceptionCode: "CLOSED" }] } },
        ],
      },
    });
    expect(await eventCodes(site, "loadNbr=E-1")).toEqual([
      ...[7000, 7001, 7028, 7028, 7004, 7006, 7007, 7009, 7014, 7008, 7021, 7005],
    ]);
  });

  test("the signature is there for the legacy retrieval, by its reference", async () => {
    const { body } = await http(site, `/api/stop/${company}?stopNbr=E1`);
    const [stop] = JSON.parse(body) as readonly { documents: readonly { reference: string }[] }[];
    const document = await http(site, `/api/document/${stop?.documents[0]?.reference}/${company}`);
    expect(document.body).toBe("signature of the shop");
  });

  test("what was reported survives a restart, and comes again without effect", async () => {
    const before = await getJson(site, `/v5/load/info/E-1/${company}`);
    const events = await eventCodes(site, "loadNbr=E-1");
    await site.stop();
    await site.start();
    expect(await report("E-1", "route.initiated", { at: "06:00" })).toBe("200");
    expect(await report("E-1", "stop.dropoff.arrival", { at: "06:31", stop: { stopNbr: "E1" } })).toBe("200");
    expect(await getJson(site, `/v5/load/info/E-1/${company}`)).toEqual(before);
    expect(await eventCodes(site, "loadNbr=E-1")).toEqual(events);
  });
});

describe("refusals", () => {
  test("of each kind, with its status", async () => {
    await importLoads(site, [plan("R-1", [{ stopNbr: "R1" }]), { loadHeader: { loadNbr: "R-2" } }]);
    const at = "08:00";
    expect(await report("R-1", "route.nowhere", { at })).toBe("400 980");
    expect(await report("R-1", "stop.dropoff.arrival", { at })).toBe("400 903");
    expect(await report("R-1", "x".repeat(51), { at })).toBe("400 1401");
    expect(await report("R".repeat(31), "route.initiated", { at })).toBe("400 1401");
    expect(await report("NONE", "route.initiated", { at })).toBe("404 920");
    expect(await report("R-1", "route.initiated", { at, as: "bob" })).toBe("403 932");
    expect(await report("R-1", "route.origin.depart", { at })).toBe("409 981");
    expect(await report("R-2", "route.initiated", { at, as: "host" })).toBe("400 1505");
    expect(await report("R-1", "route.initiated", { at })).toBe("200");
    expect(await report("R-1", "stop.dropoff.arrival", { at, stop: { stopNbr: "E1" } })).toBe("409 982");
    expect(await position("R-1", at, {})).toBe("400 901 901");
    expect(await position("NONE", at, { latitude: 1, longitude: 1 })).toBe("404 920");
    expect(await position("R-1", at, { latitude: 1, longitude: 1 }, "bob")).toBe("403 932");
    const body = {
      companyCode: "OTHER",
      geoStamp: stampAt(at),
      routeNbr: "R-1",
      eventCode: "route.initiated",
    };
    expect(await outcome(post(site, "/v5/event/route", body))).toBe("400 905");
  });

  test("a driver takes an unassigned load by initiating it, also under v6", async () => {
    const body = { eventCode: "route.initiated", geoStamp: stampAt("09:00"), routeNbr: "R-2" };
    expect(await outcome(post(site, "/v6/event/route", body, { userName: "bob" }))).toBe("200");
    const detail = await getJson(site, `/v5/load/info/R-2/${company}`);
    expect(detail).toMatchObject({ Load: { loadAssignment: { driverUserName: "bob" } } });
    expect(await report("R-2", "route.origin.arrival", { at: "09:01" })).toBe("403 932");
  });
});

test("the same event from many connections at once has one effect", async () => {
  await importLoads(site, [plan("M-1", [{ stopNbr: "M1" }, { stopNbr: "M2" }])]);
  await report("M-1", "route.initiated", { at: "06:00" });
  const arrival = () => report("M-1", "stop.dropoff.arrival", { at: "06:30", stop: { stopNbr: "M1" } });
  const answers = await Promise.all(Array.from({ length: 20 }, arrival));
  expect(new Set(answers)).toEqual(new Set(["200"]));
  expect((await eventCodes(site, "stopNbr=M1")).filter((code) => code === 7007)).toEqual([7007]);
});
