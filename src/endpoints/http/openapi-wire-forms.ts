/**
 * What is taken on the wire besides the canonical forms that definitions describe (decisions 2.2): a client that sends
 * what the API document allows is not refused for its form, and nothing that is taken is ruled out by the document.
 */
import { roles } from "../../domain/role.ts";
import type { Json } from "./openapi-json.ts";

const dateForm = "\\d{4}-\\d{1,2}-\\d{1,2}";
const timeForm = "\\d{1,2}:\\d{1,2}:\\d{1,2}(\\.\\d{1,9})?Z?";

const numericText: Json = {
  type: "string",
  pattern: "^\\s*[+-]?(\\d+(\\.\\d*)?|\\.\\d+)\\s*$",
  description: "A number as text.",
};

/** What stands for the formats of `domain/fields.ts`. */
export const wireFormats: Readonly<Record<string, Json>> = {
  "local-date-time": {
    pattern: `^${dateForm}T${timeForm}$`,
    description:
      "A real local date-time, `YYYY-MM-DDThh:mm:ss`; its zone travels in another field. Parts without leading zeros " +
      "are taken and padded, a fraction of a second and a `Z` are taken and dropped.",
  },
  "date-or-date-time": {
    pattern: `^${dateForm}(T${timeForm})?$`,
    description:
      "A real date, `YYYY-MM-DD`, or a full date-time with or without `Z`. Parts without leading zeros are taken and padded.",
  },
  "time-zone": {
    pattern: "^[A-Za-z][A-Za-z0-9_+\\-/]{0,63}$",
    description:
      "An IANA time zone such as `America/Chicago`, or an abbreviation such as `EST`, `CET`, `UTC`.",
  },
  "time-of-day": {
    pattern: "^\\d{1,2}:\\d{1,2}(:\\d{1,2})?$",
    description:
      "A time of day, `hh:mm:ss`; parts without leading zeros and without seconds are taken and padded.",
  },
  "numeric-text": numericText,
};

type Form = (own: Json) => Json;

const oneOrList: Form = (own) => ({
  anyOf: [own, own["items"]],
  description: "A list; a single entry without one is taken as a list of one.",
});

const withToInside: Form = (own) => ({
  ...own,
  description:
    "Where it comes from. `to` may stand inside it instead of beside it; it is given back beside it.",
});

const dateTimeOrNone: Form = (own) => ({
  anyOf: [own, { type: "string", const: "" }, { type: "null" }],
  description: "A local date-time; empty or null is the same as none.",
});

const dateOrDateTimeOrNull: Form = () => ({
  anyOf: [{ type: "string", pattern: `^${dateForm}(T${timeForm})?$` }, { type: "null" }],
  description: "A local date-time, or a date, which means the beginning of that day.",
});

const duration: Form = () => ({
  anyOf: [{ type: "number" }, numericText, { type: "string", const: "" }, { type: "null" }],
  description:
    "Expected duration in minutes. `estDuration` and `estimatedDuration` are one value, taken as a number or as text and " +
    "given back as `estimatedDuration`, text.",
});

const content: Form = (own) => ({
  ...own,
  contentEncoding: "base64",
  description: "The content of the file. It is not given back; fetch it by `reference`.",
});

const writeOnly: Form = (own) => ({ ...own, writeOnly: true, description: "Never given back." });

const roleName: Json = { type: "string", enum: [...roles] };
const roleEntry = (role: Json): Json => ({ type: "object", required: ["role"], properties: { role } });

const userRoles: Form = () => ({
  type: "array",
  items: roleEntry({ anyOf: [roleName, { type: "array", items: roleEntry(roleName) }] }),
  description: 'Nested, `[{"role":[{"role":"DI_Driver"}]}]`, or flat, `[{"role":"DI_Driver"}]`.',
});

/** Fields that are taken in more forms than their definition has, by component. */
export const wireProperties: Readonly<Record<string, Readonly<Record<string, Form>>>> = {
  Stop: { from: withToInside, comments: oneOrList },
  Order: { from: withToInside, comments: oneOrList },
  StopDetail: { comments: oneOrList },
  OrderDetail: { comments: oneOrList },
  LoadHeader: { comments: oneOrList },
  Schedule: { estDuration: duration, estimatedDuration: duration },
  Document: { documentData: content },
  TimeSlotRequest: { apptStartDate: dateTimeOrNone },
  User: {
    dob: dateOrDateTimeOrNull,
    licenseExpirationDttm: dateOrDateTimeOrNull,
    password: writeOnly,
    userRoles,
  },
};
