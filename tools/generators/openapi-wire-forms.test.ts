import { describe, expect, it } from "vitest";
import { type ApiDocument, createSchemaCheck } from "../../test/support/openapi-checks.ts";
import { createCanonicalForm } from "../../src/domain/fields/canonical-form.ts";
import { Customer, validateCustomer } from "../../src/domain/order/customer.ts";
import { validateLoad } from "../../src/domain/load/load.ts";
import { normaliseLoad } from "../../src/domain/load/normalise-load.ts";
import { normaliseStop } from "../../src/domain/stop/normalise-stop.ts";
import { validateStop } from "../../src/domain/stop/stop.ts";
import { User, validateUser } from "../../src/domain/users/user.ts";
import { createOpenApiDocument } from "./openapi-document.ts";
import { operations } from "../../src/endpoints/http/routes.ts";

const document = JSON.parse(JSON.stringify(createOpenApiDocument(operations))) as ApiDocument;
const check = createSchemaCheck(document);

type Reader = (value: unknown) => readonly unknown[];

const readers: Readonly<Record<string, Reader>> = {
  Stop: (value) => validateStop(normaliseStop(value), ""),
  Load: (value) => validateLoad(normaliseLoad(value), ""),
  Customer: (value) => validateCustomer(createCanonicalForm(Customer)(value), ""),
  User: (value) => validateUser(createCanonicalForm(User)(value), ""),
};

function isTaken(name: string, value: unknown): boolean {
  const reader = readers[name];
  if (reader === undefined) throw new Error(`nothing reads a ${name}`);
  return reader(value).length === 0;
}

function isAllowed(name: string, value: unknown): boolean {
  return check({ $ref: `#/components/schemas/${name}` }, value).length === 0;
}

const schedule = (fields: object) => ({ stopNbr: "1", to: { schedule: fields } });
const detail = (fields: object) => ({ stopNbr: "1", stopDetails: [fields] });
const hours = (timeFrom: string) => ({ accountNumber: "1", addresses: [{ operatingHours: { timeFrom } }] });

describe("what is taken on the wire is allowed by the API document", () => {
  it.each<[string, string, object]>([
    ["an unpadded date-time", "Stop", schedule({ timeFrom: "2020-4-5T8:0:0" })],
    [
      "an instant with a fraction beside its zone",
      "Stop",
      schedule({ timeFrom: "2020-04-05T08:00:00.5Z", timeZone: "CET" }),
    ],
    ["a date-time without seconds", "Stop", schedule({ timeFrom: "2020-04-05T08:00" })],
    ["an offset beside its zone", "Stop", schedule({ timeTo: "2020-04-05T08:00:00+0200", timeZone: "CET" })],
    ["no times", "Stop", schedule({ timeFrom: "", timeTo: null, timeZone: "", estDuration: "" })],
    ["nothing", "Stop", { stopNbr: "1", to: null, comments: null, markAsReceived: null, weight: null }],
    ["no header fields", "Load", { loadHeader: { loadNbr: "1", depot: null, weight: null }, stops: null }],
    ["blanks around a number", "Load", { loadHeader: { loadNbr: " A 1 " } }],
    ["letters of two units each", "Stop", { stopNbr: "😀".repeat(20) }],
    ["a duration as a number", "Stop", schedule({ estDuration: 15 })],
    ["a duration as text", "Stop", schedule({ estDuration: " 15.5 " })],
    ["a duration by its other name", "Stop", schedule({ estimatedDuration: 15 })],
    ["an empty duration", "Stop", schedule({ estimatedDuration: "", estDuration: null })],
    ["an abbreviated zone", "Stop", schedule({ timeZone: "EST" })],
    ["to inside from", "Stop", { stopNbr: "1", from: { address: {}, to: { address: { city: "X" } } } }],
    ["one comment without a list", "Stop", { stopNbr: "1", comments: { commentType: 7 } }],
    ["one comment of a detail", "Stop", detail({ comments: { commentType: "A" } })],
    ["a date with Z", "Stop", detail({ orderDate: "2020-4-5T8:0:0Z" })],
    ["a plain date", "Stop", detail({ invoiceDate: "2020-04-05" })],
    ["numbers as text and as numbers", "Stop", { stopNbr: "1", stopSeq: "3", weight: 2.5 }],
    [
      "a coordinate that is empty",
      "Stop",
      { stopNbr: "1", to: { address: { latitude: "", longitude: null } } },
    ],
    ["fields that nobody knows", "Stop", { stopNbr: "1", colour: { of: "box" } }],
    ["one comment of a load", "Load", { loadHeader: { loadNbr: "1", comments: { commentType: 7 } } }],
    ["hours without zeros and seconds", "Customer", hours("8:30")],
    ["a day of birth as a date", "User", { userName: "u", dob: "1990-1-2" }],
    ["a number with a blank inside", "Stop", { stopNbr: "A 1.ä" }],
    ["a negative number", "Stop", { stopNbr: "1", proNumber: -123_456_789 }],
    ["no day of birth", "User", { userName: "u", dob: null }],
    ["flat roles", "User", { userName: "u", userRoles: [{ role: "DI_Driver" }] }],
    ["nested roles", "User", { userName: "u", userRoles: [{ role: [{ role: "DI_Driver" }] }] }],
    ["groups as a list", "User", { userName: "u", assignedGroups: ["C1", "C2"] }],
  ])("%s", (_what, name, value) => {
    expect([isTaken(name, value), isAllowed(name, value)]).toEqual([true, true]);
  });
});

describe("what is refused for its form is ruled out by the API document", () => {
  it.each<[string, string, object]>([
    ["a stop without a number", "Stop", { stopSeq: 1 }],
    ["a number that is too long", "Stop", { stopNbr: "x".repeat(21) }],
    ["a number that reads as a path", "Stop", { stopNbr: "A/B" }],
    ["a number of dots", "Stop", { stopNbr: ".." }],
    ["a number with a control character", "Stop", { stopNbr: "A\u0085" }],
    ["a number of blanks", "Load", { loadHeader: { loadNbr: "  " } }],
    ["an amount below nothing", "Stop", { stopNbr: "1", totalCartons: -1 }],
    ["an amount below nothing as text", "Stop", { stopNbr: "1", totalCartons: "-0.5" }],
    ["a count below nothing", "Stop", { stopNbr: "1", deliveryAttempt: -1 }],
    ["a duration below nothing", "Stop", schedule({ estimatedDuration: "-5" })],
    ["a user name that is too long", "User", { userName: "u".repeat(101) }],
    ["a negative number that is too long", "Stop", { stopNbr: "1", proNumber: -1_234_567_890 }],
    ["a text that is no date", "Stop", schedule({ timeFrom: "tomorrow" })],
    ["a duration in words", "Stop", schedule({ estDuration: "an hour" })],
    ["a detail that is none", "Stop", { stopNbr: "1", stopDetails: ["box"] }],
    ["a latitude beyond the pole", "Stop", { stopNbr: "1", to: { address: { latitude: 91 } } }],
    ["a comment that is text", "Stop", { stopNbr: "1", comments: "ring" }],
    ["a role that is none", "User", { userName: "u", userRoles: [{ role: "Boss" }] }],
    ["a password that is too short", "User", { userName: "u", password: "short" }],
    ["an hour that is none", "Customer", hours("at eight")],
  ])("%s", (_what, name, value) => {
    expect([isTaken(name, value), isAllowed(name, value)]).toEqual([false, false]);
  });
});
