/** What the API document says of an operation besides what its route says already. */
import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../../../lib/errors.ts";
import { jsonType } from "../server/answer.ts";
import type { CompanyRoute, PublicRoute } from "../server/route.ts";
import { Success } from "./api-schemas.ts";

/** The groups of operations, in the order in which they are shown. */
export const apiTags = {
  Loads: "Loads (routes): sequences of stops, given to carriers and drivers.",
  Stops: "Stops: destinations for deliveries, pickups and service.",
  ASNs: "Advance shipment notices: stops that are expected at the depot.",
  Orders: "Customer orders; each owns the stop of the same number.",
  Customers: "Customers with their addresses.",
  Appointments: "Time slots with capacity, and their reservation.",
  "Business partners": "Carriers to which loads and stops are assigned.",
  Users: "Users and drivers.",
  Imports: "What became of imports that are applied in the background.",
  Events: "Recorded events of stops and loads.",
  Legacy: "The legacy web services: XML stops, JSON retrieval, documents.",
  Service: "The service itself; no sign-in.",
} as const;

export interface ApiAnswer {
  readonly description: string;
  /** JSON when there is none. */
  readonly contentType?: string;
  /** There is no content when there is none. */
  readonly schema?: TSchema;
  /** Text for anything but JSON; undefined for binary content. */
  readonly example?: unknown;
  /** Descriptions of headers by name. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiQueryParameter {
  readonly name: string;
  readonly description: string;
  readonly schema: TSchema;
  readonly example?: unknown;
}

export interface ApiDescription {
  readonly tag: keyof typeof apiTags;
  readonly description: string;
  readonly request?: { readonly schema: TSchema; readonly example: unknown };
  readonly parameters?: readonly ApiQueryParameter[];
  /** The answer with status 200. */
  readonly answer: ApiAnswer;
  /** Answers of other statuses that are no refusals. */
  readonly otherAnswers?: Readonly<Record<number, ApiAnswer>>;
  /** Operations whose examples make what this one's example is about, in the order in which they are sent. */
  readonly after?: readonly string[];
  /** Refusals besides those that every route of its kind can answer with. */
  readonly errors: readonly ErrorCode[];
}

export type PublicOperation = PublicRoute & ApiDescription;
export type CompanyOperation = CompanyRoute & ApiDescription;
/** A route that is in the API document: every one but files of the page that shows it. */
export type Operation = PublicOperation | CompanyOperation;

/** What is wrong with bodies that name a company and carry fields. */
export const bodyErrors = ["missing", "wrongType", "companyDiffers", "tooLong"] as const;

/** What every import can be refused for. */
export const importErrors = [...bodyErrors, "emptyList", "badDate"] as const;

/** What imports of stops can be refused for, in orders too. */
export const stopImportErrors = [
  ...importErrors,
  ...(["unknownService", "partnerNotFound", "stopInTransit", "finalState"] as const),
] as const;

/** The answer of writes. */
export const success: ApiAnswer = {
  description: "Done, and kept.",
  schema: Success,
  example: { status: "Success" },
};

/** An answer in JSON. */
export function jsonAnswerOf(description: string, schema: TSchema, example: unknown): ApiAnswer {
  return { description, contentType: jsonType, schema, example };
}

/** An answer in text. */
export function textAnswerOf(description: string, contentType: string, example: string): ApiAnswer {
  return { description, contentType, schema: Type.String(), example };
}

/** A parameter of the query that may be any text. */
export function textFilter(name: string, description: string, example?: string): ApiQueryParameter {
  return { name, description, schema: Type.String(), ...(example === undefined ? {} : { example }) };
}
