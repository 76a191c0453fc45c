/** The tables of fields in docs/specification name the fields that the program reads, with their types and lengths. */
import { Kind, type TSchema } from "@sinclair/typebox";
import { describe, expect, test } from "vitest";
import { Reservation, SlotRequest } from "../../src/domain/appointments/appointment.ts";
import { BusinessPartner } from "../../src/domain/order/business-partner.ts";
import { Accessorial, Comment, CustomAttribute } from "../../src/domain/stop/comment.ts";
import { Customer } from "../../src/domain/order/customer.ts";
import { DocSignatory, DocumentObject } from "../../src/domain/documents/document-object.ts";
import { maxLengthOf } from "../../src/domain/fields/field-limits.ts";
import { Load, LoadAssignment, LoadHeader } from "../../src/domain/load/load.ts";
import { Order } from "../../src/domain/order/order.ts";
import { Address, AddressAndContact, Contact, Party, Schedule } from "../../src/domain/stop/party.ts";
import {
  GeoStamp,
  GpsPosition,
  ReportedDetail,
  RouteEvent,
  StopEventData,
} from "../../src/domain/execution/route-event.ts";
import { CartonContent, Confirmed, StopDetail } from "../../src/domain/stop/stop-detail.ts";
import { Stop, StopAssignment } from "../../src/domain/stop/stop.ts";
import { User } from "../../src/domain/users/user.ts";
import { functionElement, stopElements } from "../../src/documents/elements/stop-elements.ts";
import type { StopElement } from "../../src/documents/elements/stop-element.ts";
import { legacyLoadFields } from "../../src/operations/legacy/legacy-load-shape.ts";
import { legacyStopFields } from "../../src/operations/legacy/legacy-stop-shape.ts";
import { spansOf, specificationPage, tableUnder } from "../support/markdown.ts";

interface Definition {
  readonly required?: readonly string[] | undefined;
  readonly properties: Readonly<Record<string, TSchema>>;
}

const pages: Readonly<Record<string, Readonly<Record<string, Definition>>>> = {
  resources: {
    Address,
    Contact,
    Comment,
    CustomAttribute,
    Accessorial,
    Document: DocumentObject,
    DocSignatory,
    Party,
    Schedule,
    AddressAndContact,
    "Load header": LoadHeader,
    "Load assignment": LoadAssignment,
    Load,
    Stop,
    "Stop assignment": StopAssignment,
    StopDetail,
    Carton: CartonContent,
    Confirmed,
    Order,
    Customer,
    "Business partner": BusinessPartner,
    User,
  },
  appointments: { "Slot request": SlotRequest, Reservation },
  events: {
    "Route event": RouteEvent,
    "GPS position": GpsPosition,
    GeoStamp,
    "Stop event data": StopEventData,
    "Reported detail": ReportedDetail,
  },
};

const definitions = Object.entries(pages).flatMap(([page, headings]) =>
  Object.entries(headings).map(([heading, definition]) => ({ page, heading, definition })),
);

const formats: Readonly<Record<string, string>> = {
  "local-date-time": "date-time",
  "local-or-instant": "date-time",
  "date-or-date-time": "date",
  "time-zone": "time zone",
  "duration-text": "text",
};

/** What a union is of, those of unions within it among them. */
function alternativesOf(schema: TSchema): readonly TSchema[] {
  const alternatives: unknown = schema["anyOf"];
  return Array.isArray(alternatives) ? (alternatives as TSchema[]).flatMap(alternativesOf) : [schema];
}

function wordOfAlternatives(alternatives: readonly TSchema[]): string {
  const types = new Set(alternatives.map(({ type }) => String(type)));
  if (alternatives.some((one) => one["const"] === "")) return "coordinate";
  if (types.has("null")) return "contact text";
  if (types.has("string") && types.has("number"))
    return alternatives.some((one) => one["minimum"] === 0) ? "amount" : "text or number";
  return types.has("boolean") ? "boolean" : "text";
}

/** The word that the pages have for a type ("Types" in the resources). */
function wordOf(schema: TSchema): string {
  const alternatives = alternativesOf(schema);
  if (alternatives.length > 1) return wordOfAlternatives(alternatives);
  const { type, format, minimum } = schema;
  if (type === "string") return formats[String(format)] ?? "text";
  if (type === "number") return minimum === 0 ? "count" : "number";
  if (["array", "object", "boolean"].includes(String(type))) return String(type);
  throw new Error(`there is no word for a field of the kind ${schema[Kind]}`);
}

function ofProgram({ properties, required = [] }: Definition): Record<string, string> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      `${wordOf(schema)}${required.includes(name) ? ", required" : ""}`,
    ]),
  );
}

const words =
  /^(text or number|contact text|date-time|time zone|text|amount|count|number|boolean|date|coordinate|object|array)\b/;

function ofPage(page: string, heading: string): Record<string, string> {
  const rows = tableUnder(specificationPage(page), heading).flatMap(([names = "", type = ""]) =>
    spansOf(names).map((name) => [name, type] as const),
  );
  return Object.fromEntries(
    rows.map(([name, type]) => [
      name,
      `${words.exec(type)?.[0] ?? type}${/\brequired\b/.test(type) ? ", required" : ""}`,
    ]),
  );
}

describe.each(definitions)("$page.md, $heading", ({ page, heading, definition }) => {
  test("has the fields that the program reads, with their types", () => {
    expect(ofPage(page, heading)).toEqual(ofProgram(definition));
  });
});

describe("limits.md, Lengths of fields", () => {
  const rows = tableUnder(specificationPage("limits"), "Lengths of fields");
  const own = new Map(
    rows.flatMap(([names = "", maximum]) => spansOf(names).map((name) => [name, Number(maximum)])),
  );
  const others = Number(rows.find(([names]) => names === "every other text")?.[1]);

  test("has each length once", () => {
    expect(rows.flatMap(([names = ""]) => spansOf(names)).length).toBe(own.size);
  });

  test("says the length of every field of the program", () => {
    const fields = definitions.flatMap(({ definition }) => Object.keys(definition.properties));
    const names = [...new Set([...fields, ...own.keys(), "companyCode", "eventCode", "driverCdl"])];
    expect(Object.fromEntries(names.map((name) => [name, own.get(name) ?? others]))).toEqual(
      Object.fromEntries(names.map((name) => [name, maxLengthOf(name)])),
    );
  });
});

function namesOf(element: StopElement): string[] {
  const attribute = element.shape === "value" ? element.attribute : undefined;
  const own = [element.name, ...(attribute === undefined ? [] : [attribute.name])];
  if (element.shape === "object") return [...own, ...element.children.flatMap(namesOf)];
  if (element.shape === "value") return own;
  const content = element.item.content === undefined ? [] : namesOf(element.item.content);
  return [...own, element.item.name, ...content, ...element.item.children.flatMap(namesOf)];
}

/** The name that an element has unless the page says another. */
function isNamedAfterField(element: StopElement): boolean {
  if (element.shape !== "value") return false;
  const { name, path } = element;
  return name === `${path.charAt(0).toUpperCase()}${path.slice(1)}`;
}

test("stop-document.md, Elements, has each element of Stop with a name of its own, and none that there is not", () => {
  const named = tableUnder(specificationPage("stop-document"), "Elements").flatMap(([names = ""]) =>
    spansOf(names),
  );
  const top = [functionElement, ...stopElements];
  const unsaid = top.filter((element) => !named.includes(element.name) && !isNamedAfterField(element));
  expect(unsaid.map(({ name }) => name)).toEqual([]);
  const known = new Set([...top.flatMap(namesOf), "01", "02", "PU", "DO"]);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

describe("legacy-services.md", () => {
  test.each([
    ["Stop", legacyStopFields],
    ["Load", legacyLoadFields],
  ])("%s has the fields of the results", (heading, fields) => {
    const named = tableUnder(specificationPage("legacy-services"), heading).flatMap(([names = ""]) =>
      spansOf(names),
    );
    expect(named.toSorted()).toEqual(Object.keys(fields).toSorted());
  });
});
