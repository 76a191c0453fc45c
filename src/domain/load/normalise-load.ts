/**
 * The canonical form of a load as it came: its header's times and comments, and its stops
 * (specification/gateway.md#input).
 */
import { createCanonicalForm } from "../fields/canonical-form.ts";
import { type Fields, isFields } from "../fields/fields-of-json.ts";
import { Load } from "./load.ts";
import { firstZone, rewriteInstants } from "../time/local-instant.ts";
import { normaliseComments, normaliseStop } from "../stop/normalise-stop.ts";
import { sentLoad } from "../fields/shown-form.ts";

const canonicalHeader = createCanonicalForm(Load.properties.loadHeader);
const canonicalAssignment = createCanonicalForm(Load.properties.loadAssignment);

function normaliseHeader(value: unknown): unknown {
  if (!isFields(value)) return value;
  const sent: Fields = { ...value };
  normaliseComments(sent);
  const header = canonicalHeader(sent);
  if (!isFields(header)) return header;
  const local: Fields = { ...header };
  rewriteInstants(local, ["earliestStartDttm", "latestStartDttm"], firstZone(local["loadTimeZone"]));
  return local;
}

/** A new object; nothing is changed in place. What cannot be read is left as it is, so that the check names it. */
export function normaliseLoad(value: unknown): unknown {
  if (!isFields(value)) return value;
  const load: Fields = { ...sentLoad(value) };
  for (const name of ["loadHeader", "stops", "loadAssignment"]) if (load[name] === null) delete load[name];
  const header = normaliseHeader(load["loadHeader"]);
  if ("loadHeader" in load) load["loadHeader"] = header;
  if ("loadAssignment" in load) load["loadAssignment"] = canonicalAssignment(load["loadAssignment"]);
  const stops = load["stops"];
  const zone = isFields(header) ? header["loadTimeZone"] : undefined;
  if (Array.isArray(stops)) load["stops"] = stops.map((stop: unknown) => normaliseStop(stop, zone));
  return load;
}
