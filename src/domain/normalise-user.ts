/** The canonical form of a user as it came: padded dates (decisions 2.2). */
import { type Fields, isFields, rewrite } from "./fields-of-json.ts";
import { normaliseDate, normaliseLocalDateTime } from "./local-time.ts";

/** Hosts send a day of birth as a date too: it becomes the beginning of that day. */
function readDateTime(text: string): string | undefined {
  const date = normaliseDate(text);
  return date === undefined ? normaliseLocalDateTime(text) : `${date}T00:00:00`;
}

/** A new object; nothing is changed in place. What cannot be read is left as it is, so that the check names it. */
export function normaliseUser(value: unknown): unknown {
  if (!isFields(value)) return value;
  const user: Fields = { ...value };
  rewrite(user, "dob", readDateTime);
  rewrite(user, "licenseExpirationDttm", readDateTime);
  return user;
}
