/**
 * Reads the body of a route event, and takes the content of its documents out. It touches no database and stores nothing, so
 * that a reader thread can read a large body: decoding and hashing 20 MB of base64 would block the process for a fifth of a
 * second.
 */
import { type DocumentContent, splitDocuments } from "../../domain/documents/document-content.ts";
import { isFields } from "../../domain/fields/fields-of-json.ts";
import { normaliseReport, RouteEvent, type StopEventData } from "../../domain/execution/route-event.ts";
import {
  isRouteEventCode,
  type RouteEventCode,
  routeEventCodes,
  routeEventRule,
} from "../../domain/execution/route-event-rules.ts";
import type { Fault } from "../../lib/errors.ts";
import type { JsonLimits } from "../../lib/json-text.ts";
import { type BodyInput, createBodyReader, refusal } from "../request-body.ts";

const readBody = createBodyReader(RouteEvent);

/** An event as it was sent, without the content of its documents. */
export interface SentEvent {
  readonly code: RouteEventCode;
  readonly body: RouteEvent;
  /** Of events of a stop. */
  readonly data: StopEventData | undefined;
  readonly contents: readonly DocumentContent[];
  /** 902 for invalid base64: reported only to those who may report of the load. */
  readonly faults: readonly Fault[];
}

export interface LargeEvent extends Omit<BodyInput, "body"> {
  /** Transferred: empty afterwards. */
  readonly bytes: Uint8Array;
  readonly limits: JsonLimits;
}

/** The reader threads, as far as events need them. */
export interface EventReaders {
  readEvent(large: LargeEvent): Promise<SentEvent>;
}

/** The body in canonical form. Throws 903 when `geoStamp` is missing. */
export function canonicalReport<Input extends BodyInput>(input: Input): Input {
  const body = normaliseReport(input.body);
  if (isFields(body) && (body["geoStamp"] === undefined || body["geoStamp"] === null)) {
    const message = "geoStamp is missing. Send an object with eventDTTM and eventTz.";
    throw refusal([{ code: "emptyList", path: "geoStamp", message }]);
  }
  return { ...input, body };
}

/** Throws 980 for an unknown code, 903 for an event of a stop without its data, or all faults of the body. */
export function readRouteEvent(input: BodyInput): SentEvent {
  const body = readBody(canonicalReport(input));
  const { eventCode: code, stopEventData: sent } = body;
  if (!isRouteEventCode(code)) {
    const message = `eventCode ${code} is unknown. Send one of ${routeEventCodes.join(", ")}.`;
    throw refusal([{ code: "unknownEvent", path: "eventCode", message }]);
  }
  const nothing = { data: undefined, contents: [], faults: [] };
  if (routeEventRule(code).kind === "load") return { code, body, ...nothing };
  if (sent === undefined) {
    const message = `stopEventData is missing. ${code} is about a stop: send an object with its stopNbr.`;
    throw refusal([{ code: "emptyList", path: "stopEventData", message }]);
  }
  const { entity: data, contents, faults } = splitDocuments(sent, "stopEventData");
  return { code, body: { ...body, stopEventData: data }, data, contents, faults };
}
