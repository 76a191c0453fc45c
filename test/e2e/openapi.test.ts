/**
 * The API document against the real program: every example that it gives is sent, and every answer has to be what it
 * says. The operations are taken from the document, so that a new one is tried as soon as it is there.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../src/endpoints/http/routes.ts";
import { curl, type HttpReply, http } from "../support/clients.ts";
import { lenient, Site } from "../support/daemon.ts";
import {
  type ApiDocument,
  createSchemaCheck,
  type Listed,
  mediaOf,
  operationsOf,
  readBodyValue,
  responseOf,
} from "../support/openapi-checks.ts";
import { waitFor } from "../support/wait-for.ts";

/** The company of the examples. */
const company = "DEMO";
const userName = "example";

let site: Site;
let document: ApiDocument;
let listed: ReadonlyMap<string, Listed>;

beforeAll(async () => {
  const regions = [
    {
      ...{ name: "Springfield", zone: "America/Chicago", zipPrefixes: ["627"] },
      windows: [{ from: "08:00", to: "12:00", capacity: { appointments: 5 } }],
    },
  ];
  site = await Site.make({
    security: lenient,
    companies: { [company]: { appointments: { regions } } },
  });
  await site.mustRun("company", "add", company);
  await site.addUser(userName, ["DI_Integration", "MemberAdmin"], company);
  await site.start();
  document = (await (await fetch(`${site.http}/openapi.json`)).json()) as ApiDocument;
  listed = new Map(operationsOf(document).map((one) => [one.operation.operationId, one]));
});
afterAll(() => site.end());

type Values = Readonly<Record<string, string>>;

/** Imports the load of the examples and waits until it has been applied: nothing is to get between what follows. */
async function importedLoad(): Promise<Values> {
  const { importId } = JSON.parse((await mustSend("importLoads")).body) as { importId: string };
  await waitFor("the end of the import", async () => {
    const { status } = JSON.parse((await send("getImportInfo", { importId })).body) as { status: string };
    return status !== "InProgress";
  });
  return { importId };
}

async function loadIsThere(): Promise<void> {
  if ((await send("getLoadDetail")).status !== 200) await importedLoad();
}

async function documentGuid(): Promise<Values> {
  const { Stop } = JSON.parse((await mustSend("getStopDetail")).body) as {
    Stop: { stop: { documents: readonly { reference: string }[] } };
  };
  return { guid: Stop.stop.documents[0]?.reference ?? "none" };
}

/** Imports the load that drivers report of, with its driver, and waits until it is there. */
async function assignedRoute(): Promise<Values> {
  const loads = [{ loadHeader: { loadNbr: "L-1002" }, loadAssignment: { driverUserName: "rmiller" } }];
  const body = JSON.stringify({ companyCode: company, loads });
  const signIn = { userName, password: site.password };
  await http(site, `/v5/load/update/default/${company}`, { ...signIn, body, type: "application/json" });
  await waitFor("the load", async () => (await send("getLoadDetail", { loadNbr: "L-1002" })).status === 200);
  return {};
}

/** The first slot that is free for the example. */
async function freeSlot(): Promise<Values> {
  const { apptRequest } = JSON.parse((await mustSend("listTimeSlots")).body) as {
    apptRequest: { timeSlots: readonly { timeSlotId: string }[] };
  };
  return { timeSlotId: apptRequest.timeSlots[0]?.timeSlotId ?? "none" };
}

/** Values of the path or body that only the program knows, for the examples that need some. */
const knownValues: Readonly<Record<string, () => Promise<Values>>> = {
  getLegacyDocument: documentGuid,
  reserveTimeSlot: freeSlot,
  getImportInfo: importedLoad,
  reportRouteEvent: assignedRoute,
  reportGpsPosition: assignedRoute,
};

/** Sends the example of an operation that another's is about; of the load, which may not come twice, when it is not there. */
async function prepare(name: string): Promise<void> {
  if (name === "importLoads") await loadIsThere();
  else await mustSend(name);
}

function find(name: string): Listed {
  const found = listed.get(name);
  if (found === undefined) throw new Error(`the document has no operation ${name}`);
  return found;
}

function addressOf({ path, operation }: Listed, values: Values): string {
  const query: string[] = [];
  let address = path;
  for (const { name, in: place, example } of operation.parameters ?? []) {
    const value = values[name] ?? example;
    if (place === "path") address = address.replace(`{${name}}`, encodeURIComponent(String(value)));
    else if (value !== undefined) query.push(`${name}=${encodeURIComponent(String(value))}`);
  }
  return query.length === 0 ? address : `${address}?${query.join("&")}`;
}

/** Sends the example of an operation as it stands in the document. */
async function send(name: string, values: Values = {}): Promise<HttpReply> {
  const one = find(name);
  const [content] = Object.entries(one.operation.requestBody?.content ?? {});
  const signIn = { userName, password: site.password, method: one.method };
  if (content === undefined) return await http(site, addressOf(one, values), signIn);
  const [type, { example }] = content;
  const known = (name: string, value: unknown) => values[name] ?? value;
  const body = typeof example === "string" ? example : JSON.stringify(example, known);
  return await http(site, addressOf(one, values), { ...signIn, body, type });
}

async function mustSend(name: string): Promise<HttpReply> {
  const reply = await send(name);
  expect(reply.status, `${name}: ${reply.body}`).toBe(200);
  return reply;
}

/** What the answer has that the document does not say. */
function faultsOf(name: string, reply: HttpReply): string[] {
  const { operation } = find(name);
  const media = mediaOf(responseOf(document, operation, reply.status));
  const type = reply.headers.get("content-type") ?? "";
  const isOfType = media !== undefined && type.startsWith(media.type.split(";")[0] ?? "");
  if (!isOfType) return [`the answer is ${type}, not ${media?.type}`];
  return createSchemaCheck(document)(media.schema ?? {}, readBodyValue(type, reply.body));
}

test("every operation is listed", () => {
  const described = operations.map(({ name }) => name);
  expect([...listed.keys()].toSorted()).toEqual(described.toSorted());
});

describe("the example of the API document for", () => {
  test.each(operations.map(({ name, after = [] }) => [name, after] as const))(
    "%s is answered as the document says",
    async (name, after) => {
      for (const before of after) await prepare(before);
      const values = { ...(await knownValues[name]?.()) };
      const reply = await send(name, values);
      expect(reply.status, reply.body.slice(0, 1_000)).toBe(200);
      expect(faultsOf(name, reply)).toEqual([]);
      expect(reply.headers.get("x-request-id")).toBeTruthy();
    },
  );
});

describe("refusals are as the API document says", () => {
  test("a wrong password for every operation that asks for a sign-in", async () => {
    for (const [name, one] of listed) {
      if (one.operation.security.length === 0) continue;
      const path = addressOf(one, {});
      const reply = await http(site, path, { userName, password: "wrong", method: one.method });
      expect(reply.status, name).toBe(401);
      expect(faultsOf(name, reply), name).toEqual([]);
    }
  });

  test("a number that is not there for every operation that reads one", async () => {
    for (const name of ["getStopDetail", "getLoadDetail", "getOrderDetail", "getCustomerDetail"]) {
      const numbers = { stopNbr: "0", loadNbr: "0", orderNbr: "0", accountNumber: "0" };
      const reply = await send(name, numbers);
      const { Reasons } = JSON.parse(reply.body) as { Reasons: readonly { reasonCode: number }[] };
      const examples = mediaOf(responseOf(document, find(name).operation, 404))?.examples ?? {};
      expect([reply.status, ...Reasons.map(({ reasonCode }) => String(reasonCode))]).toEqual([
        404,
        ...Object.keys(examples),
      ]);
    }
  });
});

test("the page and the document ask for no sign-in, and nothing lies beside them", async () => {
  for (const [path, type] of [
    ["/docs", "text/html"],
    ["/openapi.json", "application/json"],
  ] as const) {
    const answer = await fetch(`${site.http}${path}`);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, expect.stringContaining(type)]);
  }
  const beside = await curl(site, [
    "--path-as-is",
    "-w",
    "%{http_code}",
    `${site.http}/docs/../package.json`,
  ]);
  expect(beside.stdout).toMatch(/400$/);
});
