/** Appointments over HTTP on the real program: success, every refusal, every limit, the last place, restarts, reloads. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type HttpAsk, type HttpReply, http } from "../support/clients.ts";
import { company, lenient, Site, user } from "../support/daemon.ts";
import { eventCodes, getJson, outcome, post, reasonCodes } from "../support/gateway-client.ts";
import { waitFor } from "../support/wait-for.ts";

let site: Site;

const hours = Array.from({ length: 10 }, (_, at) => String(8 + at).padStart(2, "0"));

/** Windows of an hour each; a place in each, ten in the others of the region beside. */
function regionsOf(appointments: number) {
  const windows = hours.map((hour, at) => ({
    ...{ from: `${hour}:00`, to: `${String(9 + at).padStart(2, "0")}:00` },
    capacity: { appointments, quantity: 100 },
  }));
  return [
    { name: "East", zone: "America/New_York", countries: ["US"], windows },
    { name: "Rest", zone: "Europe/Berlin", windows },
  ];
}

function settingsOf(appointments: number) {
  return { companies: { [company]: { appointments: { horizonDays: 5, regions: regionsOf(appointments) } } } };
}

beforeAll(async () => {
  site = await Site.make({
    http: { maxBodyBytes: 100_000, maxConnectionsPerAddress: 200 },
    security: lenient,
    ...settingsOf(1),
  });
  await site.mustRun("company", "add", "OTHER");
  await site.addUser("viewer", ["DI_Inquiry"]);
  await site.addUser("stranger", ["DI_Integration"], "OTHER");
  await site.start();
});
afterAll(() => site.end());

const home = { addr1: "8 Elm Lane", city: "Springfield", state: "IL", zip: "62704", country: "US" };

interface Slot {
  readonly timeSlotId: string;
  readonly startDateTime: string;
  readonly endDateTime: string;
  readonly timeZone: string;
}

interface Listing {
  readonly serviceRegion: string;
  readonly timeSlots: readonly Slot[];
}

async function slots(request: object = {}): Promise<readonly Slot[]> {
  const reply = await post(site, "/v5/appointment/slots", { apptRequest: { ...home, ...request } });
  expect(reply.status, reply.body).toBe(200);
  return (JSON.parse(reply.body) as { apptRequest: Listing }).apptRequest.timeSlots;
}

/** A slot that nobody has taken, of a later day: each test has its own. */
async function freeSlot(): Promise<string> {
  const slot = (await slots()).at(-1);
  if (slot === undefined) throw new Error("no slot is free");
  return slot.timeSlotId;
}

function reserve(reservation: object): Promise<HttpReply> {
  const all = { orderId: "Not Available", quantity: 1, ...home, ...reservation };
  return post(site, "/v5/appointment/reserve", { apptReservation: all });
}

async function importOrder(orderNbr: string): Promise<void> {
  const reply = await post(site, "/v6/order/update/default", {
    companyCode: company,
    orders: [{ orderNbr }],
  });
  expect(reply.status).toBe(200);
}

describe("over both versions of the gateway", () => {
  test("slots are listed and reserved, and the order has its time", async () => {
    await importOrder("E1");
    for (const version of ["v5", "v6"]) {
      const listing = await post(site, `/${version}/appointment/slots`, {
        apptRequest: { ...home, orderId: "E1" },
      });
      const { apptRequest } = JSON.parse(listing.body) as { apptRequest: Listing };
      expect(apptRequest).toMatchObject({ ...home, orderId: "E1", serviceRegion: "East" });
      const slot = apptRequest.timeSlots.at(-1);
      const reserved = await post(site, `/${version}/appointment/reserve`, {
        companyCode: company.toLowerCase(),
        apptReservation: { ...home, timeSlotId: slot?.timeSlotId, orderId: "E1", weight: "3.5" },
      });
      expect([reserved.status, JSON.parse(reserved.body)]).toEqual([
        200,
        {
          apptReservation: {
            ...home,
            orderId: "E1",
            apptStatus: "CONFIRMED",
            apptTTL: 30,
            serviceRegion: "East",
          },
        },
      ]);
      const { Order } = await getJson<{ Order: readonly Record<string, unknown>[] }>(
        site,
        `/v6/order/info/E1/${company}`,
      );
      const schedule = {
        ...{ timeFrom: `${slot?.startDateTime}:00`, timeTo: `${slot?.endDateTime}:00` },
        timeZone: "America/New_York",
      };
      expect(Order[0]).toMatchObject({ orderNbr: "E1", to: { schedule }, orderStatus: "10" });
      expect(Order[0]?.["appointment"]).toMatchObject({
        timeSlotId: slot?.timeSlotId,
        serviceRegion: "East",
      });
    }
    expect(await eventCodes(site, "stopNbr=E1")).toEqual([8101, 8102, 8102]);
    const { Events } = await getJson<{ Events: readonly Record<string, unknown>[] }>(
      site,
      `/v5/event/list/${company}?stopNbr=E1`,
    );
    expect(Events.at(-1)).toMatchObject({
      eventName: "Stop Scheduling Confirmed",
      timeZone: "America/New_York",
      serviceRegion: "East",
    });
  });

  test("the place of a deleted order is free again, and so is that of a stop deleted by the XML service", async () => {
    const before = await slots();
    for (const number of ["E2", "E3"]) {
      await importOrder(number);
      expect((await reserve({ timeSlotId: await freeSlot(), orderId: number })).status).toBe(200);
    }
    expect(await slots()).toHaveLength(before.length - 2);
    expect((await post(site, "/v6/order/cancel", { orderNbr: "E2", reasonCode: "R" })).status).toBe(200);
    const body = "<Stop><Function>02</Function><StopNbr>E3</StopNbr></Stop>";
    expect((await http(site, `/api/stop/${company}`, { body, type: "application/xml" })).body).toContain(
      "<Status>10<",
    );
    expect(await slots()).toEqual(before);
    expect(await eventCodes(site, "stopNbr=E2")).toEqual([8102, 7059, 8103]);
    expect(await eventCodes(site, "stopNbr=E3")).toEqual([8102, 7059, 8103]);
  });

  test("the region goes by the address, and a company without regions has no slots", async () => {
    const berlin = await slots({ country: "DE" });
    expect(berlin[0]?.timeZone).toBe("Europe/Berlin");
    const other = await http(site, "/v5/appointment/slots/OTHER", {
      ...{ userName: "stranger", type: "application/json", body: JSON.stringify({ apptRequest: home }) },
    });
    expect(JSON.parse(other.body)).toEqual({ apptRequest: { ...home, serviceRegion: "", timeSlots: [] } });
    const foreign = await http(site, "/v5/appointment/reserve/OTHER", {
      ...{ userName: "stranger", type: "application/json" },
      body: JSON.stringify({
        apptReservation: { timeSlotId: berlin[0]?.timeSlotId, orderId: "Not Available", quantity: 1 },
      }),
    });
    expect([foreign.status, ...reasonCodes(foreign)]).toEqual([404, 971]);
  });
});

describe("the last place", () => {
  test.each(["held for no order yet", "of an order"])(
    "%s goes to exactly one of 50 requests at once",
    async (kind) => {
      const timeSlotId = await freeSlot();
      const numbers = Array.from({ length: 50 }, (_, at) => `P${at}`);
      if (kind === "of an order") for (const number of numbers) await importOrder(number);
      const replies = await Promise.all(
        numbers.map((number) => {
          const orderId = kind === "of an order" ? number : "Not Available";
          return reserve({ timeSlotId, orderId, addr1: number });
        }),
      );
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
      const refused = replies.filter(({ status }) => status !== 200);
      expect(refused.map((reply) => [reply.status, ...reasonCodes(reply)])).toEqual(
        Array(49).fill([409, 972]),
      );
      expect((await slots()).some((slot) => slot.timeSlotId === timeSlotId)).toBe(false);
      if (kind === "held for no order yet") return;
      // The one that got it has it, and no other believes to have it.
      const events = await Promise.all(numbers.map((number) => eventCodes(site, `stopNbr=${number}`)));
      expect(events.flat()).toEqual([8102]);
      const winner = replies.findIndex(({ status }) => status === 200);
      expect(events[winner]).toEqual([8102]);
    },
  );
});

const paths = ["/v5/appointment/slots", "/v5/appointment/reserve"] as const;

describe.each(paths)("%s", (path) => {
  const body = path.endsWith("slots") ? { apptRequest: {} } : { apptReservation: {} };

  function ask(content: unknown, more: HttpAsk = {}, at = `${path}/${company}`): Promise<HttpReply> {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    return http(site, at, { body: text, type: "application/json", ...more });
  }

  test("is for its company and its role, takes JSON by POST and no query", async () => {
    const refused = [
      outcome(ask(body, { password: "wrong" })),
      outcome(ask(body, { userName: "stranger" })),
      outcome(ask(body, { userName: "viewer" })),
      outcome(ask(body, {}, `${path}/OTHER`)),
      outcome(ask(body, {}, `${path}/${company}?colour=red`)),
      outcome(http(site, `${path}/${company}`)),
      outcome(ask(body, { type: "text/plain" })),
      outcome(ask("{")),
      outcome(ask({ filler: "x".repeat(100_001) })),
      outcome(ask([])),
      outcome(ask({})),
      outcome(ask({ ...body, companyCode: "OTHER" }, { userName: user })),
    ];
    const codes = await Promise.all(refused);
    expect(codes.slice(0, 11)).toEqual([
      ...["401 930", "401 930", "403 932", "401 930", "400 910", "405 941"],
      ...["415 942", "400 900", "413 909", "400 902", "400 903"],
    ]);
    expect(codes[11]).toMatch(/^400 905/);
  });
});

describe("a listing is refused", () => {
  test.each<[string, object, string]>([
    ["for a date that is none", { apptStartDate: "tomorrow" }, "400 904"],
    ["for a negative amount", { weight: -1 }, "400 902"],
    ["for an address that is no text", { addr1: {} }, "400 902"],
    ["for an order's number of 21 characters", { orderId: "1".repeat(21) }, "400 1401"],
    ["for a partner's code of 11 characters", { partnerCode: "1".repeat(11) }, "400 1401"],
    ["for a town of 2,001 characters", { city: "x".repeat(2_001) }, "400 1401"],
    ["for an amount that is a list", { volume: [] }, "400 902"],
  ])("%s", async (_, change, expected) => {
    expect(await outcome(post(site, paths[0], { apptRequest: { ...home, ...change } }))).toBe(expected);
  });

  test("but not for what is at its limit", async () => {
    const request = { orderId: "1".repeat(20), partnerCode: "1".repeat(10), city: "x".repeat(2_000) };
    expect(await slots(request)).not.toEqual([]);
    expect(await slots({ quantity: 100 })).not.toEqual([]);
    expect(await slots({ quantity: 101 })).toEqual([]);
  });
});

describe("a reservation is refused", () => {
  test("without an amount, for a slot that is unknown or of elsewhere, for an order that is unknown", async () => {
    const timeSlotId = await freeSlot();
    expect(await outcome(reserve({ timeSlotId, quantity: undefined }))).toBe("400 970");
    expect(await outcome(reserve({ timeSlotId: "none" }))).toBe("404 971");
    expect(await outcome(reserve({ timeSlotId, country: "DE" }))).toBe("404 971");
    expect(await outcome(reserve({ timeSlotId, orderId: "NONE" }))).toBe("404 922");
    expect(await outcome(reserve({ timeSlotId, quantity: 101 }))).toBe("409 972");
    expect(await outcome(reserve({ timeSlotId, quantity: 1e10 }))).toBe("400 902");
    expect(await outcome(reserve({ timeSlotId: undefined, orderId: "" }))).toBe("400 901 901");
    expect(await outcome(reserve({ timeSlotId, orderId: "1".repeat(21) }))).toBe("400 1401");
    expect((await slots()).at(-1)?.timeSlotId).toBe(timeSlotId);
  });

  test("for an order that is deleted or under way", async () => {
    const timeSlotId = await freeSlot();
    await importOrder("E5");
    await post(site, "/v6/order/cancel", { orderNbr: "E5", reasonCode: "R" });
    expect(await outcome(reserve({ timeSlotId, orderId: "E5" }))).toBe("409 907");
    await site.addUser("dora", ["DI_Driver"]);
    const loads = [
      {
        loadHeader: { loadNbr: "L1" },
        stops: [{ stopNbr: "E6" }],
        loadAssignment: { driverUserName: "dora" },
      },
    ];
    expect((await post(site, "/v5/load/update/default", { companyCode: company, loads })).status).toBe(200);
    await waitFor("the load", async () => (await http(site, `/v5/load/info/L1/${company}`)).status === 200);
    const geoStamp = { eventDTTM: new Date().toISOString().slice(0, 19), eventTz: "UTC" };
    for (const eventCode of ["route.initiated", "route.origin.depart"]) {
      const reply = await post(site, "/v5/event/route", { eventCode, geoStamp, routeNbr: "L1" });
      expect(reply.status, reply.body).toBe(200);
    }
    expect(await outcome(reserve({ timeSlotId, orderId: "E6" }))).toBe("409 906");
  });
});

test("holds and appointments outlive kill -9, and a reload changes what is offered at once", async () => {
  const before = await slots();
  const held = before.at(-1)?.timeSlotId;
  expect((await reserve({ timeSlotId: held })).status).toBe(200);
  await site.kill();
  await site.start();
  const after = await slots();
  expect(after.map(({ timeSlotId }) => timeSlotId)).toEqual(
    before.map((slot) => slot.timeSlotId).slice(0, -1),
  );
  await site.reconfigure(settingsOf(2));
  site.daemon.process.kill("SIGHUP");
  await site.daemon.waitForLog(({ msg }) => msg === "configuration reloaded");
  expect((await slots()).some(({ timeSlotId }) => timeSlotId === held)).toBe(true);
  expect((await reserve({ timeSlotId: held })).status).toBe(200);
  expect(await outcome(reserve({ timeSlotId: held }))).toBe("409 972");
});
