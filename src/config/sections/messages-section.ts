/** Customer messages of a company: what they say, when, and by which servers they are sent (docs/messages.md). */
import { Type } from "@sinclair/typebox";
import { messageEvents } from "../../domain/messages/message-event.ts";
import { choice, integer, map, optional, secret, section, text } from "../reader/setting.ts";
import { timeOfDay } from "./calendar-settings.ts";
import { emailServer, line, sending } from "./email-server.ts";
import { allowPlainUrl, authorities, webSecrets } from "./server-section.ts";

/** Line breaks and tabs may be in it. */
function template(description: string, maxLength: number, options: { example: string }) {
  const pattern = "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]+$";
  return text(description, { maxLength, pattern, form: "text without control characters", ...options });
}

function maxAge(description: string, standard: number) {
  return integer(description, { range: [1, 10_080], default: standard });
}

const headerName = {
  keyName: "<HEADER>",
  keyPattern: "^[A-Za-z][A-Za-z0-9-]{0,60}$",
  keyForm: "the name of a header field",
};

const smsService = section("The web service that text messages are handed to.", {
  url: text("Address of the service; {{to}}, {{text}} and {{id}} in it are escaped.", {
    maxLength: 2_000,
    pattern: "^https?://[^\\s/?#@\\\\{}]+([/?][^\\s#]*)?$",
    form: "an address such as https://sms.example.com/send?to={{to}}, without user, password and #",
    example: "https://sms.example.com/v1/messages",
  }),
  method: choice("How it is called.", ["POST", "GET"], { default: "POST" }),
  format: choice("How values in the body are escaped, and the content type of the body.", ["json", "form"], {
    default: "json",
  }),
  body: optional(template)(
    'What is posted: {{to}} is the number, {{text}} the text, {{id}} the id of the message, the same at each attempt. With json, values stand in quotes: "{{to}}".',
    10_000,
    { example: '{"to": "{{to}}", "text": "{{text}}", "id": "{{id}}"}' },
  ),
  headers: map(
    "Header fields of the request; {{id}} can stand in them.",
    line("Value of the header field.", 1_000, { example: "ACME" }),
    { ...headerName, example: "X-Sender" },
  ),
  secretHeaders: map(
    "Header fields whose values are secret.",
    secret("Value of the header field, by reference.", { example: "env:DROPGATE_SMS_KEY" }),
    { ...headerName, example: "X-Api-Key" },
  ),
  user: Type.Optional(line("User for HTTP Basic.", 200, { example: "dropgate" })),
  ...webSecrets("SMS"),
  ca: authorities("mail-ca.pem"),
  allowPlain: allowPlainUrl,
  maxCharacters: integer("A longer text is cut, with … at its end. 459 are three parts of a text message.", {
    default: 459,
    range: [20, 1_600],
  }),
  ...sending,
});

const emailTemplate = section("E-mail; without it, none is sent.", {
  subject: line("Subject.", 500, { example: "Your delivery {{tracking.reference}}" }),
  text: template("The message as plain text.", 20_000, {
    example: "We expect to be with you on {{eta.date}} at {{eta.time}}.",
  }),
  html: optional(template)("The message as HTML besides; values are escaped.", 100_000, {
    example: "<p>We expect to be with you at <b>{{eta.time}}</b>.</p>",
  }),
});

const smsTemplate = section("Text message; without it, none is sent.", {
  text: template("The message.", 2_000, {
    example: "Delivery {{tracking.reference}}: we expect to be with you at {{eta.time}}.",
  }),
});

const event = section("The messages of one event.", {
  email: Type.Optional(emailTemplate),
  sms: Type.Optional(smsTemplate),
  dropWhenOlderThanMinutes: Type.Optional(maxAge("messages.dropWhenOlderThanMinutes for this message.", 720)),
});

export const messagesSection = section(
  "Messages to customers, by e-mail and text message. Without this section nothing is sent.",
  {
    email: Type.Optional(emailServer),
    sms: Type.Optional(smsService),
    zone: line("Time zone (IANA) of stops that name none.", 64, { default: "UTC", example: "Europe/Berlin" }),
    locale: line("How dates and times are written in messages (BCP 47).", 35, {
      default: "en-GB",
      example: "de-DE",
    }),
    quietHours: optional(section)("Hours in which nothing is sent; what falls in them waits for their end.", {
      from: timeOfDay("Beginning, by the clocks of the stop's zone.", "21:00"),
      to: timeOfDay("End; when it is not later than from, on the next day.", "07:00"),
    }),
    dropWhenOlderThanMinutes: maxAge(
      "A message that could not be sent so long after its event is dropped rather than sent late.",
      120,
    ),
    etaMovedMinutes: integer(
      "The message etaMoved is sent when the planned arrival is more than this away from the one in the last message.",
      { default: 15, range: [1, 1_440] },
    ),
    events: map(
      "The messages to customers by the codes of recorded events; 7004 sends one for each stop of the load, etaMoved one when the planned arrival moves. An event that is not named causes no message.",
      event,
      {
        keyName: "<EVENT>",
        keyPattern: `^(${messageEvents.join("|")})$`,
        keyForm: `one of ${messageEvents.join(", ")}`,
        example: "etaMoved",
      },
    ),
  },
);
