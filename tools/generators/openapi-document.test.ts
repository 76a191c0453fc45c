import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import {
  type ApiDocument,
  createSchemaCheck,
  mediaOf,
  operationsOf,
  responseOf,
  readBodyValue,
} from "../../test/support/openapi-checks.ts";
import { errorCatalogue } from "../../src/lib/errors.ts";
import { documentBelow } from "../../src/endpoints/http/openapi/api-page.ts";
import { createOpenApiDocument, documentedPath } from "./openapi-document.ts";
import { operations as described } from "../../src/endpoints/http/routes.ts";

const byName = new Map(described.map((route) => [route.name, route]));

function make(basePath = ""): ApiDocument {
  // As clients get it.
  const text = JSON.stringify(documentBelow({ paths: {}, ...createOpenApiDocument(described) }, basePath));
  return JSON.parse(text) as ApiDocument;
}

/** The file that the service answers with. */
const file = join(import.meta.dirname, "../../config/openapi.json");
const fileText = `${JSON.stringify(createOpenApiDocument(described), null, 2)}\n`;

const document = make();
const operations = operationsOf(document);
const check = createSchemaCheck(document);

function eachNode(value: unknown, visit: (node: Readonly<Record<string, unknown>>) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) visit(value as Readonly<Record<string, unknown>>);
  for (const inner of Object.values(value)) eachNode(inner, visit);
}

describe("the API document", () => {
  it("is up to date with the records of the operations", () => {
    if (process.env["UPDATE_GENERATED"] === "1") writeFileSync(file, fileText);
    expect(readFileSync(file, "utf8")).toBe(fileText);
  });

  it.each(["", "/rest/x"])("is valid OpenAPI 3.1 below the base path %j", async (basePath) => {
    const validator = new Validator();
    expect(await validator.validate({ ...make(basePath) })).toEqual({ valid: true });
    expect(validator.version).toBe("3.1");
  });

  it("is what the linter can refuse", async () => {
    const broken = { ...make(), paths: { "/x": { get: { responses: "none" } } } };
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it("lists every route once, under its documented version", () => {
    const listed = operations.map(({ method, path, operation }) => [operation.operationId, method, path]);
    const expected = described.map((route) => [route.name, route.method, documentedPath(route)]);
    expect(listed.toSorted()).toEqual(expected.toSorted());
    expect(byName.get("getOrderDetail")?.version).toBe("v6");
  });

  it("tells of carriers that are not there, wherever an import may name one", () => {
    for (const name of ["importStops", "importAsns", "importOrders"]) {
      const found = operations.find(({ operation }) => operation.operationId === name);
      const response = found === undefined ? undefined : responseOf(document, found.operation, "404");
      expect(JSON.stringify(response)).toContain("`925`");
    }
  });

  it("says of each operation who may, what goes in and what comes out", () => {
    for (const { operation } of operations) {
      const route = byName.get(operation.operationId);
      const roles = route?.access === "public" ? ["No sign-in"] : (route?.access ?? ["?"]);
      for (const role of roles) expect(operation.description, operation.operationId).toContain(role);
      expect(operation.security).toEqual(route?.access === "public" ? [] : [{ basic: [] }]);
      const inPath = operation.parameters?.filter((one) => one.in === "path").map(({ name }) => name) ?? [];
      expect(inPath).toEqual([...(route?.path ?? "").matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      expect(Object.keys(operation.requestBody?.content ?? {})).toEqual(route?.media);
      expect(operation.responses["200"]).toBeDefined();
    }
  });

  it("has examples that obey its own schemas", () => {
    for (const { operation } of operations) {
      const requests = Object.entries(operation.requestBody?.content ?? {});
      for (const [type, { schema = {}, example }] of requests) {
        expect(example, `request of ${operation.operationId}`).toBeDefined();
        if (type === "application/json")
          expect(check(schema, example), `request of ${operation.operationId}`).toEqual([]);
        else expect(XMLValidator.validate(String(example))).toBe(true);
      }
      const media = mediaOf(responseOf(document, operation, 200));
      if (media?.example === undefined) continue;
      const value =
        typeof media.example === "string" ? readBodyValue(media.type, media.example) : media.example;
      expect(check(media.schema ?? {}, value), `answer of ${operation.operationId}`).toEqual([]);
    }
  });

  it("gives each refusal the status of its reason, and its meaning", () => {
    const special = new Set(["403 930", "408 900"]);
    const entries = Object.values(errorCatalogue);
    const statuses = new Map(entries.map(({ reasonCode, httpStatus }) => [reasonCode, httpStatus]));
    for (const { operation } of operations) {
      for (const status of Object.keys(operation.responses)) {
        const response = responseOf(document, operation, status);
        for (const [reason, { value, summary }] of Object.entries(mediaOf(response)?.examples ?? {})) {
          if (special.has(`${status} ${reason}`)) continue;
          expect(statuses.get(Number(reason)), `${operation.operationId} ${reason}`).toBe(Number(status));
          expect(response.description).toContain(`\`${reason}\` ${summary}`);
          expect(JSON.stringify(value)).toContain(reason);
        }
      }
    }
  });

  it("documents the refusals of each operation, in the form that its clients read", () => {
    const find = (name: string) => operations.find(({ operation }) => operation.operationId === name);
    const detail = find("getStopDetail")?.operation;
    const legacy = find("submitLegacyStop")?.operation;
    if (detail === undefined || legacy === undefined) throw new Error("an operation is missing");
    expect(Object.keys(detail.responses)).toEqual(["200", "400", "401", "403", "404", "429", "500", "503"]);
    expect(Object.keys(mediaOf(responseOf(document, detail, 404))?.examples ?? {})).toEqual(["921"]);
    expect(mediaOf(responseOf(document, legacy, 415))).toMatchObject({ type: "application/xml" });
    for (const status of ["401", "415"]) {
      const media = mediaOf(responseOf(document, legacy, status));
      for (const { value } of Object.values(media?.examples ?? {}))
        expect(check(media?.schema ?? {}, readBodyValue("application/xml", String(value)))).toEqual([]);
    }
  });

  it("says each entity once, leaves fields open, and has no reference that leads nowhere", () => {
    const names = ["Stop", "StopDetail", "Address", "Party", "Load", "LoadHeader", "Order", "Customer"];
    const components = document.components.schemas;
    expect(Object.keys(components)).toEqual(
      expect.arrayContaining([...names, "User", "BusinessPartner", "Reasons"]),
    );
    const withField = (name: string) => {
      let count = 0;
      eachNode(document, (node) => {
        if (Object.hasOwn(Object(node["properties"]), name)) count += 1;
      });
      return count;
    };
    expect(["addr1", "commentType", "stopAccessorials", "originCity"].map(withField)).toEqual([
      // Appointments have an address of their own; the origin is told by the legacy retrieval too.
      2, 1, 1, 2,
    ]);
    eachNode(document, (node) => {
      if ("additionalProperties" in node) expect(node["additionalProperties"]).not.toBe(false);
      // Formats of our own mean nothing to anybody else.
      expect(typeof node["format"]).not.toBe("string");
      const reference = node["$ref"];
      if (typeof reference !== "string") return;
      const [, , kind = "", name = ""] = reference.split("/");
      expect(Object.hasOwn(document.components[kind as "schemas"], name), reference).toBe(true);
    });
  });

  it("names the base path as its server, and the root for paths without a version", () => {
    const below = make("/rest/x");
    expect(below.servers).toEqual([{ url: "/rest/x" }]);
    expect(below.paths["/api/stop/{companyCode}"]).toMatchObject({
      servers: [{ url: "/" }, { url: "/rest/x" }],
    });
    expect(document.servers).toEqual([{ url: "/" }]);
  });
});
