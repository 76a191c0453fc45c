/** The canonical form of a load as it came: its header's dates and comments, and its stops (decisions 2.2). */
import { type Fields, isFields, rewrite } from "./fields-of-json.ts";
import { normaliseLocalDateTime } from "./local-time.ts";
import { normaliseComments, normaliseStop } from "./normalise-stop.ts";

function normaliseHeader(value: unknown): unknown {
  if (!isFields(value)) return value;
  const header: Fields = { ...value };
  rewrite(header, "earliestStartDttm", normaliseLocalDateTime);
  rewrite(header, "latestStartDttm", normaliseLocalDateTime);
  if ("comments" in header) header["comments"] = normaliseComments(header["comments"]);
  return header;
}

/** A new object; nothing is changed in place. What cannot be read is left as it is, so that the check names it. */
export function normaliseLoad(value: unknown): unknown {
  if (!isFields(value)) return value;
  const load: Fields = { ...value };
  if ("loadHeader" in load) load["loadHeader"] = normaliseHeader(load["loadHeader"]);
  const stops = load["stops"];
  if (Array.isArray(stops)) load["stops"] = stops.map(normaliseStop);
  return load;
}
