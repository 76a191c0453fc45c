/** Customer messages of a company: what they say, when, and by which servers they are sent (docs/messages.md). */
import { Type } from "@sinclair/typebox";
import { messageEvents } from "../../domain/messages/message-event.ts";
import { choice, flag, integer, map, optional, secret, section, text } from "../reader/setting.ts";
import { attemptTimeout, authorities, connections } from "./server-section.ts";

function line(maxLength: number, options: { description: string; example?: string; default?: string }) {
  return text({
    maxLength,
    pattern: "^[^\\u0000-\\u001f\\u007f]+$",
    form: "text on one line, without control characters",
    ...options,
  });
}

/** Line breaks and tabs may be in it. */
function template(maxLength: number, options: { description: string; example: string }) {
  return text({
    maxLength,
    pattern: "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$",
    form: "text without control characters",
    ...options,
  });
}

function timeOfDay(description: string, example: string) {
  return text({
    description,
    example,
    maxLength: 5,
    pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$",
    form: "a time of day such as 21:00, in quotes",
  });
}

function maxAge(description: string, rest: { default?: number } = {}) {
  return integer({ range: [1, 10_080], description, ...rest });
}

const sending = { connections: connections(2, "messages"), timeoutMs: attemptTimeout };

const address = {
  maxLength: 254,
  pattern: "^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+$",
  form: "an e-mail address such as orders@example.com, without a name",
};

const emailServer = section(
  {
    host: text({
      maxLength: 253,
      pattern: "^[A-Za-z0-9:][A-Za-z0-9.:_-]*$",
      form: "the name or address of a server, without port",
      example: "smtp.example.com",
      description: "Name or address of the SMTP server.",
    }),
    port: optional(integer)({
      default: 587,
      range: [1, 65_535],
      description: "Port of the server; 465 with implicit TLS, when none is set.",
    }),
    tls: choice(["starttls", "implicit", "none"], {
      default: "starttls",
      description:
        "starttls: the connection is encrypted with STARTTLS, or nothing is sent; implicit: from the first byte; none: never.",
    }),
    allowPlain: flag({
      default: false,
      description:
        "Take tls: none with a server on another machine: everything, the password too, can be read on the way.",
    }),
    ca: authorities("mail-ca.pem"),
    user: Type.Optional(line(200, { description: "User for signing in.", example: "dropgate" })),
    password: optional(secret)({
      description: "Password of the user.",
      example: "env:DROPGATE_SMTP_PASSWORD",
    }),
    from: text({ ...address, description: "Sender.", example: "deliveries@example.com" }),
    fromName: optional(line)(100, {
      description: "Name of the sender, as customers see it.",
      example: "ACME deliveries",
    }),
    replyTo: optional(text)({ ...address, description: "Where answers go.", example: "service@example.com" }),
    ...sending,
  },
  { description: "The SMTP server that e-mails are handed to." },
);

const headerName = { keyPattern: "^[A-Za-z][A-Za-z0-9-]{0,60}$", keyForm: "the name of a header field" };

const smsService = section(
  {
    url: text({
      maxLength: 2_000,
      pattern: "^https?://[^\\s/?#@\\\\{}]+([/?][^\\s#]*)?$",
      form: "an address such as https://sms.example.com/send?to={{to}}, without user, password and #",
      example: "https://sms.example.com/v1/messages",
      description: "Address of the service; {{to}}, {{text}} and {{id}} in it are escaped.",
    }),
    method: choice(["POST", "GET"], { default: "POST", description: "How it is called." }),
    format: choice(["json", "form"], {
      default: "json",
      description: "How values in the body are escaped, and the content type of the body.",
    }),
    body: optional(template)(10_000, {
      description:
        'What is posted: {{to}} is the number, {{text}} the text, {{id}} the id of the message, the same at each attempt. With json, values stand in quotes: "{{to}}".',
      example: '{"to": "{{to}}", "text": "{{text}}", "id": "{{id}}"}',
    }),
    headers: map(line(1_000, { description: "Value of the header field.", example: "ACME" }), {
      ...headerName,
      keyName: "<HEADER>",
      example: "X-Sender",
      description: "Header fields of the request; {{id}} can stand in them.",
    }),
    secretHeaders: map(
      secret({ description: "Value of the header field, by reference.", example: "env:DROPGATE_SMS_KEY" }),
      {
        ...headerName,
        keyName: "<HEADER>",
        example: "X-Api-Key",
        description: "Header fields whose values are secret.",
      },
    ),
    user: Type.Optional(line(200, { description: "User for HTTP Basic.", example: "dropgate" })),
    password: optional(secret)({
      description: "Password of the user.",
      example: "env:DROPGATE_SMS_PASSWORD",
    }),
    bearerToken: optional(secret)({
      description: "Token that is sent as `Authorization: Bearer`, instead of user and password.",
      example: "env:DROPGATE_SMS_TOKEN",
      isAlternative: true,
    }),
    ca: authorities("mail-ca.pem"),
    allowPlain: flag({
      default: false,
      description: "Take a url with http://: everything, the password too, can be read on the way.",
    }),
    maxCharacters: integer({
      default: 459,
      range: [20, 1_600],
      description: "A longer text is cut, with … at its end. 459 are three parts of a text message.",
    }),
    ...sending,
  },
  { description: "The web service that text messages are handed to." },
);

const emailTemplate = section(
  {
    subject: line(500, { description: "Subject.", example: "Your delivery {{tracking.reference}}" }),
    text: template(20_000, {
      description: "The message as plain text.",
      example: "We expect to be with you on {{eta.date}} at {{eta.time}}.",
    }),
    html: optional(template)(100_000, {
      description: "The message as HTML besides; values are escaped.",
      example: "<p>We expect to be with you at <b>{{eta.time}}</b>.</p>",
    }),
  },
  { description: "E-mail; without it, none is sent." },
);

const smsTemplate = section(
  {
    text: template(2_000, {
      description: "The message.",
      example: "Delivery {{tracking.reference}}: we expect to be with you at {{eta.time}}.",
    }),
  },
  { description: "Text message; without it, none is sent." },
);

const event = section(
  {
    email: Type.Optional(emailTemplate),
    sms: Type.Optional(smsTemplate),
    dropWhenOlderThanMinutes: Type.Optional(
      maxAge("messages.dropWhenOlderThanMinutes for this message.", { default: 720 }),
    ),
  },
  { description: "The messages of one event." },
);

export const messagesSection = section(
  {
    email: Type.Optional(emailServer),
    sms: Type.Optional(smsService),
    zone: line(64, {
      default: "UTC",
      example: "Europe/Berlin",
      description: "Time zone (IANA) of stops that name none.",
    }),
    locale: line(35, {
      default: "en-GB",
      example: "de-DE",
      description: "How dates and times are written in messages (BCP 47).",
    }),
    quietHours: optional(section)(
      {
        from: timeOfDay("Beginning, by the clocks of the stop's zone.", "21:00"),
        to: timeOfDay("End; when it is not later than from, on the next day.", "07:00"),
      },
      { description: "Hours in which nothing is sent; what falls in them waits for their end." },
    ),
    dropWhenOlderThanMinutes: maxAge(
      "A message that could not be sent so long after its event is dropped rather than sent late.",
      { default: 120 },
    ),
    etaMovedMinutes: integer({
      default: 15,
      range: [1, 1_440],
      description:
        "The message etaMoved is sent when the planned arrival is more than this away from the one in the last message.",
    }),
    events: map(event, {
      keyName: "<EVENT>",
      keyPattern: `^(${messageEvents.join("|")})$`,
      keyForm: `one of ${messageEvents.join(", ")}`,
      example: "etaMoved",
      description:
        "The messages to customers by the codes of recorded events; 7004 sends one for each stop of the load, etaMoved one when the planned arrival moves. An event that is not named causes no message.",
    }),
  },
  { description: "Messages to customers, by e-mail and text message. Without this section nothing is sent." },
);
