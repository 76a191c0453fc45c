/** What serializers of other languages send by default, over HTTP to a running daemon (test/fixtures/clients). */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { http } from "../support/clients.ts";
import { company, Site } from "../support/daemon.ts";
import { getJson } from "../support/gateway-client.ts";

let site: Site;

beforeAll(async () => {
  site = await Site.make();
  await site.start();
});

afterAll(async () => {
  await site.end();
});

async function send(name: string) {
  const text = readFileSync(new URL(`../fixtures/clients/${name}.body`, import.meta.url), "utf8");
  const body = text.replace('"DEMO"', JSON.stringify(company));
  return await http(site, `/v5/stop/update/default/${company}`, { body, type: "application/json" });
}

interface Shown {
  readonly Stop: { readonly stop: unknown };
}

async function stopOf(stopNbr: string): Promise<unknown> {
  return (await getJson<Shown>(site, `/v5/stop/info/${stopNbr}/${company}`)).Stop.stop;
}

const schedule = (timeFrom: string, timeTo?: string) => ({
  to: {
    schedule: {
      ...{ timeFrom, timeZone: "Europe/Berlin" },
      ...(timeTo === undefined ? {} : { timeTo }),
    },
  },
});

test.each<[string, string, object]>([
  [
    "jackson-lists",
    "JACKSON-1",
    { ...schedule("2026-11-05T08:00:00"), stopDetails: [{ quantity: 2, orderDate: "2026-11-04" }] },
  ],
  ["jackson-iso", "JACKSON-2", schedule("2026-11-05T09:00:00")],
  ["jackson-iso", "JACKSON-1", schedule("2026-11-05T08:00:00")],
  [
    "php",
    "PHP-1",
    {
      ...schedule("2026-11-05T08:00:00", "2026-11-05T10:00:00"),
      ...{ reference1: "a/b", markfor: {}, stopDetails: [] },
      comments: [{ commentType: 1, commentDescription: "Türcode \u{1F511}" }],
    },
  ],
  ["php", "PHP-2", { stopDetails: [], to: { contact: {}, schedule: {} } }],
  [
    "python",
    "PYTHON-1",
    {
      ...schedule("2026-11-05T08:00:00", "2026-11-05T10:00:00"),
      ...{ totalPrice: 1e16, weight: 0.1 + 0.2, stopDetails: [{ orderDate: "2026-11-04" }] },
    },
  ],
  [
    "javascript",
    "NODE-1",
    {
      to: {
        address: { latitude: null, longitude: 0 },
        schedule: { timeFrom: "2026-11-05T02:00:00", timeTo: "2026-11-05T03:30:15" },
      },
      stopDetails: [{ orderDate: "2026-11-04T00:00:00.000Z" }],
    },
  ],
  [
    "newtonsoft",
    "NEWTONSOFT-1",
    {
      ...schedule("2026-11-05T09:00:00", "2026-11-05T10:00:00"),
      from: { schedule: {} },
      stopDetails: [{ orderDate: "2026-11-04T00:00:00", invoiceDate: "2026-11-04T00:00:00+01:00" }],
    },
  ],
  [
    "system-text-json",
    "STJ-1",
    {
      to: {
        address: { name: "Müller & Söhne \u{1F511}", addr1: "1+2 <side>", latitude: null },
        schedule: { timeFrom: "2026-11-05T08:00:00", timeTo: "2026-11-05T11:00:00" },
      },
    },
  ],
])("%s is taken: stop %s", async (name, stopNbr, expected) => {
  const reply = await send(name);
  expect([reply.status, reply.body]).toEqual([200, '{"status":"Success"}']);
  expect(await stopOf(stopNbr)).toMatchObject(expected);
});

test("what was null is not given back, but for contacts and coordinates", async () => {
  expect((await send("newtonsoft")).status).toBe(200);
  expect(JSON.stringify(await stopOf("NEWTONSOFT-1"))).not.toContain("null");
  expect((await send("jackson-lists")).status).toBe(200);
  const stop = JSON.stringify(await stopOf("JACKSON-1"));
  expect(stop.replaceAll(/"(latitude|longitude)":null/g, "")).not.toContain("null");
});

test.each([
  ["jackson-epoch", 904, /timeFrom has the value 1793865600000\. .*WRITE_DATES_AS_TIMESTAMPS/],
  ["php-date-object", 904, /timeFrom has the value an object\. Send a real local date-time such as/],
  ["python-blank", 904, /timeFrom has the value "2026-11-05 08:00:00".* such as 2026-11-05T08:00:00/],
  ["python-nan", 900, /^the body is not JSON: .*NaN/],
])("%s is refused with %d and its reason", async (name, reasonCode, description) => {
  const reply = await send(name);
  expect([reply.status, JSON.parse(reply.body)]).toEqual([
    400,
    { Reasons: [{ reasonCode, description: expect.stringMatching(description) }] },
  ]);
});
