/**
 * The data of a stop's event beside its step: exceptions, quantities and documents (docs/http-api.md, "Route events").
 */
import { isDeepStrictEqual } from "node:util";
import { given } from "../../lib/given.ts";
import type { DocumentObject } from "../../domain/documents/document-object.ts";
import type { StopEventData } from "../../domain/execution/route-event.ts";
import type { StopEventRule } from "../../domain/execution/route-event-rules.ts";
import type { StopDetail } from "../../domain/stop/stop-detail.ts";
import type { StopException, StopExecution } from "../../domain/execution/stop-execution.ts";
import { confirmDetails } from "./confirmed-details.ts";

function exceptionOf(code: string | number | undefined, text: string | undefined): StopException {
  return given({ exceptionCode: code?.toString(), exceptionDesc: text });
}

/**
 * A closed stop has its reason; hosts search for it among the exceptions. Both are kept where one would hide the other.
 */
export function exceptionsOf(data: StopEventData, rule: StopEventRule): readonly StopException[] {
  const { exceptionCode, exceptionDesc, reasonCode, reasonComments } = data;
  if ((exceptionCode ?? exceptionDesc ?? reasonCode ?? reasonComments) === undefined) return [];
  const exception = exceptionOf(exceptionCode, exceptionDesc);
  const reason = rule.step === "closed" ? exceptionOf(reasonCode, reasonComments) : {};
  const merged = { ...reason, ...exception };
  const isHidden = !isDeepStrictEqual({ ...merged, ...reason }, merged);
  const all = isHidden ? [exception, reason] : [merged];
  return all.filter((one) => Object.keys(one).length > 0);
}

/** Only the data that is new. */
export function notAmong<T>(known: readonly T[], brought: readonly T[]): readonly T[] {
  return brought.filter((one) => !known.some((other) => isDeepStrictEqual(one, other)));
}

/** The documents of the event that the stop does not have from an event before. */
export function newDocuments(execution: StopExecution, data: StopEventData): readonly DocumentObject[] {
  return notAmong(execution.documents ?? [], data.documents ?? []);
}

type Confirmations = NonNullable<StopExecution["confirmed"]>;

/** Known values stay. */
function filledUp(known: Confirmations, late: Confirmations): Confirmations {
  const filled: Record<string, Confirmations[string]> = { ...late, ...known };
  for (const place of Object.keys(late)) filled[place] = { ...late[place], ...known[place] };
  return filled;
}

export interface Brought {
  readonly data: StopEventData;
  readonly rule: StopEventRule;
  /** Those of the stop, for events that confirm some. */
  readonly details: readonly StopDetail[];
}

/**
 * `step`: the event has its effect now. `late`: its departure was known before (`autoDepart`). `again`: the same event was
 * reported before, and may come any number of times, also after a later one has corrected it.
 */
export type Occasion = "step" | "late" | "again";

function confirmedAfter(
  { confirmed: known = {} }: StopExecution,
  { data, details }: Brought,
  occasion: Occasion,
): Confirmations {
  const { stopDetails = [] } = data;
  if (stopDetails.length === 0) return known;
  if (occasion !== "again") return confirmDetails(known, details, stopDetails);
  return filledUp(known, confirmDetails({}, details, stopDetails));
}

/** The execution with the event's data; throws 901 and 902 for details that the stop does not have. */
export function withReported(execution: StopExecution, brought: Brought, occasion: Occasion): StopExecution {
  const { data, rule } = brought;
  const known = execution.exceptions ?? [];
  const reported = exceptionsOf(data, rule);
  const exceptions = occasion === "step" ? reported : notAmong(known, reported);
  const documents = newDocuments(execution, data);
  const confirmed = confirmedAfter(execution, brought, occasion);
  return {
    ...execution,
    ...(exceptions.length === 0 ? {} : { exceptions: [...known, ...exceptions] }),
    ...(documents.length === 0 ? {} : { documents: [...(execution.documents ?? []), ...documents] }),
    ...(Object.keys(confirmed).length === 0 ? {} : { confirmed }),
  };
}

/** A document as recorded events show it. */
export function shortDocument({
  documentData: _content,
  docSignatories: _signatories,
  ...rest
}: DocumentObject) {
  return rest;
}
