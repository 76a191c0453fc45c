/**
 * The forms that requests may have besides the canonical ones of the definitions (specification/gateway.md#input). The
 * document allows what the gateway takes, and no more, but for the habits of single serializers
 * (`domain/fields/canonical-form.ts`: an empty text for a number, a list for a date): such alternatives would spoil the
 * clients that are generated from the document.
 */
import { roles } from "../../src/domain/users/role.ts";

/** A part of the API document: an object as it stands in JSON. */
export type Json = Readonly<Record<string, unknown>>;

const dateForm = "\\d{4}-\\d{1,2}-\\d{1,2}";
const timeForm = "\\d{1,2}:\\d{1,2}(:\\d{1,2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}(:?\\d{2})?)?";
const localTimeForm = "\\d{1,2}:\\d{1,2}(:\\d{1,2}(\\.\\d{1,9})?)?";
const controls = "\\u0000-\\u001f\\u007f-\\u009f";

/** `identifierPattern` with blanks at both ends, which are no part of the number. */
export const wireIdentifierPattern = `^\\s*(?!\\.{1,2}\\s*$)[^\\s/\\\\${controls}]([^/\\\\${controls}]*[^\\s/\\\\${controls}])?\\s*$`;

const numericText: Json = {
  type: "string",
  pattern: "^\\s*[+-]?(\\d+(\\.\\d*)?|\\.\\d+)\\s*$",
  description: "A number as text.",
};

const durationText: Json = {
  type: "string",
  pattern: "^\\s*(\\+?(\\d+(\\.\\d*)?|\\.\\d+)\\s*)?$",
  description: "Minutes as text; empty is the same as none.",
};

/** What the document has in place of the formats of `domain/fields/fields.ts`. */
export const wireFormats: Readonly<Record<string, Json>> = {
  "local-date-time": {
    pattern: `^(\\s*|\\s*${dateForm}T${timeForm}\\s*)$`,
    description:
      "A real local date-time, `YYYY-MM-DDThh:mm:ss`; its zone travels in another field. With `Z` or an offset it is an " +
      "instant, which becomes local in that zone. Parts without leading zeros are padded, a fraction of a second is dropped. " +
      "Empty is the same as none.",
  },
  "local-or-instant": {
    pattern: `^(\\s*|\\s*${dateForm}T${timeForm}\\s*)$`,
    description:
      "A date-time, `YYYY-MM-DDThh:mm:ss`, local to the region that serves the address, or an instant, with `Z` or an " +
      "offset. Empty is the same as none.",
  },
  "date-or-date-time": {
    pattern: `^(\\s*|\\s*${dateForm}(T${timeForm})?\\s*)$`,
    description:
      "A real date, `YYYY-MM-DD`, or a full date-time with or without `Z` or an offset, which is kept. Parts without leading " +
      "zeros are padded. Empty is the same as none.",
  },
  "time-zone": {
    pattern: "^\\s*([A-Za-z][A-Za-z0-9_+\\-/]{0,63}\\s*)?$",
    description:
      "An IANA time zone such as `America/Chicago`, or an abbreviation such as `EST`, `CET`, `UTC`.",
  },
  "time-of-day": {
    pattern: "^(\\s*|\\s*\\d{1,2}:\\d{1,2}(:\\d{1,2}(\\.\\d{1,9})?)?\\s*)$",
    description:
      "A time of day, `hh:mm:ss`; parts without leading zeros and without seconds are taken and padded.",
  },
  "numeric-text": numericText,
  "duration-text": durationText,
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

/** No zone stands beside these. */
const dayOrDateTime: Form = () => ({
  type: "string",
  pattern: `^(\\s*|\\s*${dateForm}(T${localTimeForm})?\\s*)$`,
  description:
    "A local date-time, or a date, which means the beginning of that day. Empty is the same as none.",
});

const duration: Form = () => ({
  anyOf: [{ type: "number", minimum: 0 }, durationText, { type: "null" }],
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

/** By component, the fields that may have more forms than their definition. */
export const wireProperties: Readonly<Record<string, Readonly<Record<string, Form>>>> = {
  Stop: { from: withToInside, comments: oneOrList },
  Order: { from: withToInside, comments: oneOrList },
  StopDetail: { comments: oneOrList },
  OrderDetail: { comments: oneOrList },
  LoadHeader: { comments: oneOrList },
  Schedule: { estDuration: duration, estimatedDuration: duration },
  Document: { documentData: content },
  User: {
    dob: dayOrDateTime,
    licenseExpirationDttm: dayOrDateTime,
    password: writeOnly,
    userRoles,
  },
};
