import { expect, test } from "vitest";
import { DropgateError, type ErrorCode } from "../../lib/errors.ts";
import {
  type BodyToMap,
  type ImportIntegrations,
  importThroughService,
  type ServiceImport,
} from "./service-import.ts";

const base = { companyId: 1, companyCode: "ACME", body: undefined };

/** One integration `erp` of ACME that takes JSON, and `planner` that takes XML; they give what they are asked about. */
const integrations: ImportIntegrations = {
  find: (name, code) =>
    code === "ACME" && (name === "erp" || name === "planner")
      ? { input: name === "erp" ? "json" : "xml" }
      : undefined,
  mapToText: async ({ bytes, ...body }) => JSON.stringify({ ...body, bytes: Buffer.from(bytes).toString() }),
};

function run(input: Partial<ServiceImport>, deps = { integrations }): Promise<unknown> {
  return importThroughService(
    deps,
    { ...base, serviceName: "erp", ...input },
    {
      importKind: "stops",
      run: async ({ body }) => body,
    },
  );
}

function failWith(code: ErrorCode, message: string): Promise<unknown> {
  return importThroughService(
    { integrations },
    { ...base, serviceName: "erp" },
    {
      importKind: "stops",
      run: () =>
        Promise.reject(
          new DropgateError(code, message, { faults: [{ code, message, path: "stops[3].to" }] }),
        ),
    },
  );
}

test("default imports the body itself, and asks no integration", async () => {
  const none: ImportIntegrations = {
    find: () => undefined,
    mapToText: () => Promise.reject(new Error("asked")),
  };
  expect(await run({ serviceName: "default", body: { stops: [] } }, { integrations: none })).toEqual({
    stops: [],
  });
});

test("an integration gets the bytes as they came, with company and kind", async () => {
  const bytes = Buffer.from("<a/>");
  const sent = { form: "xml", bytes } as const;
  const mapped = (await run({
    serviceName: "planner",
    sent,
    jsonLimits: { maxDepth: 7, maxValues: 9 },
  })) as BodyToMap;
  expect(mapped).toEqual({
    serviceName: "planner",
    companyCode: "ACME",
    importKind: "stops",
    bytes: "<a/>",
    maxDepth: 7,
    maxValues: 9,
  });
});

test("a body that was parsed is given as JSON", async () => {
  const mapped = (await run({ body: { a: 1 } })) as BodyToMap;
  expect(mapped.bytes).toBe('{"a":1}');
});

test.each([
  ["a name that no integration has", { serviceName: "mine" }, "unknownService"],
  ["one of another company", { companyCode: "OTHER" }, "unknownService"],
  ["default in another case", { serviceName: "Default" }, "unknownService"],
  ["XML for one that takes JSON", { sent: { form: "xml", bytes: Buffer.from("<a/>") } }, "mediaType"],
  [
    "JSON for one that takes XML",
    { serviceName: "planner", sent: { form: "json", bytes: Buffer.from("{}") } },
    "mediaType",
  ],
] as const)("%s is refused", async (_what, input, code) => {
  await expect(run(input)).rejects.toMatchObject({ code });
});

test("without integrations every other name is unknown", async () => {
  await expect(
    importThroughService({}, { ...base, serviceName: "erp" }, { importKind: "asn", run: async () => 1 }),
  ).rejects.toMatchObject({ code: "unknownService" });
});

test("faults of the document say that they are about what the integration made", async () => {
  const [fault] = (await failWith("tooLong", "stops[3].to is too long. Shorten it.").catch(
    (error: DropgateError) => error.faults,
  )) as DropgateError["faults"];
  expect(fault).toEqual({
    code: "tooLong",
    path: "stops[3].to",
    message:
      "stops[3].to is too long. Shorten it. (In the document that the integration erp made of the body.)",
  });
});

test("one entry where a list was meant gets the remedy for the expression", async () => {
  await expect(failWith("wrongType", "stops is not a list. Send a list of stops.")).rejects.toThrow(
    "Write [ ] around it in the expression.",
  );
});

test("being overloaded is not about the document", async () => {
  await expect(failWith("overloaded", "stopping")).rejects.toThrow(/^stopping$/);
});
