/** Turns an entity's definition into a compiled check that answers with faults: code, JSON path, fault, remedy. */
import { Kind, type TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { type ErrorCode, type Fault, maxKeptFaults } from "../../lib/errors.ts";
import { alternativesOf, charactersIn, lengthOfNumber, notNegativePattern } from "./fields.ts";
import { identifierForm, identifierPattern } from "./identifier-text.ts";
import { readInstant } from "../time/local-time.ts";

/** `/to/address/zip` under `stops[3]` is `stops[3].to.address.zip`. */
function jsonPath(base: string, pointer: string): string {
  let path = base;
  for (const segment of pointer.split("/").slice(1)) {
    const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
    if (/^\d+$/.test(name)) path += `[${name}]`;
    else path += path === "" ? name : `.${name}`;
  }
  return path;
}

function maximumOf(schema: TSchema): number | undefined {
  return typeof schema["maxLength"] === "number" ? schema["maxLength"] : undefined;
}

const kindNames: Readonly<Record<string, string>> = {
  String: "text",
  BoundedText: "text",
  Number: "a number",
  BoundedNumber: "a number",
  Boolean: "true or false",
  Object: "an object",
  Array: "a list",
  Null: "null",
};

/** The range of a number that has one. */
function rangeOf({ minimum, maximum }: TSchema): string {
  if (typeof minimum !== "number") return "";
  return typeof maximum === "number" ? ` from ${minimum} to ${maximum}` : `, ${minimum} or more`;
}

function expectedOf(schema: TSchema): string {
  // A message about a wrong value need not say that the value may be absent.
  const named = alternativesOf(schema).filter((one) => one["type"] !== "null" && one["const"] !== "");
  const names = named.map((one) =>
    "const" in one
      ? JSON.stringify(one["const"])
      : `${kindNames[String(one[Kind])] ?? "another type"}${rangeOf(one)}`,
  );
  return names.join(" or ");
}

function foundOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  const shown = JSON.stringify(value) ?? "nothing";
  return shown.length > 60 ? `${shown.slice(0, 57)}...` : shown;
}

/** The length of what is held to a length. */
function lengthOf(value: unknown): number | undefined {
  if (typeof value === "string") return charactersIn(value);
  return typeof value === "number" ? lengthOfNumber(value) : undefined;
}

/** The maximum that the value breaks, whether its schema is a string or offers a string among others. */
function brokenMaximum(error: ValueError): number | undefined {
  const length = lengthOf(error.value);
  if (length === undefined) return undefined;
  return alternativesOf(error.schema)
    .map(maximumOf)
    .find((maximum) => maximum !== undefined && length > maximum);
}

const formatRemedies: Readonly<Record<string, { code: ErrorCode; remedy: string }>> = {
  "local-date-time": { code: "badDate", remedy: "Send a real local date-time such as 2026-11-05T08:00:00." },
  "date-or-date-time": { code: "badDate", remedy: "Send a real date such as 2026-11-05." },
  "local-or-instant": {
    code: "badDate",
    remedy: "Send a real date-time such as 2026-11-05T08:00:00, local or with Z or an offset.",
  },
  "time-zone": {
    code: "badDate",
    remedy: "Send an IANA time zone such as America/New_York, or EST, CET, UTC.",
  },
  "time-of-day": { code: "badDate", remedy: "Send a time such as 08:00:00." },
  "numeric-text": { code: "wrongType", remedy: "Send a number, such as 15." },
  "duration-text": { code: "wrongType", remedy: "Send minutes as a number of 0 or more, such as 15." },
};

/** What the words for a fault need of it, beside its path. */
type Finding = Pick<ValueError, "schema" | "value" | "message">;

function isAbsent({ type, schema, value }: ValueError): boolean {
  if (type === ValueErrorType.ObjectRequiredProperty || type === ValueErrorType.StringMinLength) return true;
  return value === "" && typeof schema["minLength"] === "number";
}

const instantRemedy =
  "It is an instant, and no time zone stands beside it to make it local. Send the local time without Z or offset, or its " +
  "zone too where there is a field for it: timeZone of the schedule, loadTimeZone of the load, eventTz of the event; in XML " +
  "TimeZone, PickupTimeZone.";

/** A value of the right type whose text does not say what it has to. */
function faultOfFormat({ schema, value }: Finding, path: string): Fault {
  const name = String(schema["format"]);
  const format = formatRemedies[name];
  const found = `${path} has the value ${foundOf(value)}`;
  if (typeof value === "string" && name === "local-date-time" && readInstant(value) !== undefined)
    return { code: "badDate", path, message: `${found}. ${instantRemedy}` };
  const message = `${found}, which is not valid. ${format?.remedy ?? ""}`;
  return { code: format?.code ?? "wrongType", path, message: message.trimEnd() };
}

/** A number where a date is wanted could mean seconds, milliseconds or days. */
const numberForDate =
  " Dates as numbers are not taken: their unit cannot be told. (In Jackson, disable WRITE_DATES_AS_TIMESTAMPS.)";

function faultOfType({ schema, value, message: words }: Finding, path: string): Fault {
  const format = formatRemedies[String(schema["format"])];
  const found = `${path} has the value ${foundOf(value)}`;
  if (format?.code === "badDate") {
    const why = typeof value === "number" ? numberForDate : "";
    return { code: "badDate", path, message: `${found}. ${format.remedy}${why}` };
  }
  if (alternativesOf(schema).some(({ pattern }) => pattern === notNegativePattern) && isNegative(value))
    return { code: "wrongType", path, message: `${found}, which is below 0. Send 0 or more.` };
  const isOfRange = words.startsWith("Expected number to be") && schema["minimum"] === undefined;
  const range = isOfRange ? ` within range (${words})` : "";
  return { code: "wrongType", path, message: `${found}. Send ${expectedOf(schema)}${range}.` };
}

function isNegative(value: unknown): boolean {
  return (typeof value === "number" || typeof value === "string") && Number(value) < 0;
}

function faultOf(error: ValueError, path: string): Fault {
  if (isAbsent(error)) {
    return { code: "missing", path, message: `${path} is missing. Send a value for it.` };
  }
  if (error.type === ValueErrorType.ArrayMinItems) {
    return { code: "emptyList", path, message: `${path} is empty. Send at least one entry.` };
  }
  const maximum = brokenMaximum(error);
  if (maximum !== undefined) {
    const message = `${path} is ${lengthOf(error.value)} characters long, more than its maximum of ${maximum}. Shorten it.`;
    return { code: "tooLong", path, message };
  }
  if (error.type === ValueErrorType.StringFormat) return faultOfFormat(error, path);
  if (error.schema["pattern"] === identifierPattern && typeof error.value === "string") {
    const message = `${path} has the value ${foundOf(error.value)}. Send a number with ${identifierForm}.`;
    return { code: "wrongType", path, message };
  }
  return faultOfType(error, path);
}

/**
 * Makes a check of an entity's definition. The check answers with one fault for each wrong field, at most 50, and
 * with an empty list for a good value. Fields that the definition does not name are left alone.
 */
export function createEntityCheck(schema: TSchema): (value: unknown, path: string) => Fault[] {
  // At the first value: a start, of a command too, needs few of the definitions that its modules hold.
  let compiled: TypeCheck<TSchema> | undefined;
  return (value, path) => {
    compiled ??= TypeCompiler.Compile(schema);
    if (compiled.Check(value)) return [];
    const faults = new Map<string, Fault>();
    for (const error of compiled.Errors(value)) {
      const at = jsonPath(path, error.path);
      // A missing property is reported a second time as a value of the wrong type: the first report is the true one.
      if (!faults.has(at)) faults.set(at, faultOf(error, at === "" ? "the document" : at));
      if (faults.size >= maxKeptFaults) break;
    }
    return [...faults.values()];
  };
}
