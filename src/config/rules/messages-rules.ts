/** Rules of customer messages: templates, zones, and settings that do not go together. */
import { messageChannels, messageEvents } from "../../domain/messages/message-event.ts";
import { messageFieldNames } from "../../domain/messages/message-fields.ts";
import { templatesOf } from "../../domain/messages/message-settings.ts";
import { readTemplate } from "../../domain/messages/message-template.ts";
import { isLoopbackHost } from "../reader/address-range.ts";
import { checkPair, checkTimes, checkWebServer, ofEachCompany, type RuleFault, when } from "./rule-fault.ts";
import type { Config, EmailConfig, MessagesConfig, SmsConfig } from "../schema.ts";

/** What can stand in the request of a text message. */
const smsRequestFields: ReadonlySet<string> = new Set(["to", "text", "id"]);
const smsHeaderFields: ReadonlySet<string> = new Set(["id"]);

function checkTemplate(text: string, known: ReadonlySet<string>, path: string): RuleFault[] {
  const reading = readTemplate(text, known);
  return reading.kind === "read" ? [] : [{ path, message: reading.fault }];
}

/** Checks how an SMTP server is reached and signed in to. */
export function checkEmail(email: EmailConfig, path: string): RuleFault[] {
  const isOpen = email.tls === "none" && !email.allowPlain && !isLoopbackHost(email.host);
  return [
    ...checkPair(email, path, ["user", "password"]),
    ...when(isOpen, {
      path: `${path}.tls`,
      message:
        "none sends everything in plain text over the network; use starttls or implicit, or set allowPlain on a network that you trust",
    }),
  ];
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false; // a SyntaxError is how JSON says so
  }
}

function checkSmsBody({ body, method, format, url }: SmsConfig, path: string): RuleFault[] {
  const names = readTemplate(`${url} ${body ?? ""}`, smsRequestFields);
  const missing = names.kind === "read" ? ["to", "text"].filter((name) => !names.names.has(name)) : [];
  return [
    ...(body === undefined ? [] : checkTemplate(body, smsRequestFields, `${path}.body`)),
    ...when(method === "GET" && body !== undefined, {
      path: `${path}.body`,
      message: "is not sent with GET; put {{to}} and {{text}} into url, or take POST",
    }),
    ...when(format === "json" && body !== undefined && !isJson(body), {
      path: `${path}.body`,
      message: 'is no JSON; put placeholders in quotes ("{{text}}"), or take format: form',
    }),
    ...when(missing.length > 0, {
      path,
      message: `has no ${missing.map((name) => `{{${name}}}`).join(" and no ")} in url or body; put it there`,
    }),
  ];
}

/** Header fields that the request has of itself. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...["authorization", "connection", "content-length", "content-type", "host", "transfer-encoding"],
  ...["idempotency-key", "x-dropgate-delivery"],
]);

function checkSmsHeaders({ headers, secretHeaders }: SmsConfig, path: string): RuleFault[] {
  const names = [
    ...Object.keys(headers).map((name) => ({ name, at: `${path}.headers.${name}` })),
    ...Object.keys(secretHeaders).map((name) => ({ name, at: `${path}.secretHeaders.${name}` })),
  ];
  const seen = new Set<string>();
  const faults = Object.entries(headers).flatMap(([name, value]) =>
    checkTemplate(value, smsHeaderFields, `${path}.headers.${name}`),
  );
  for (const { name, at } of names) {
    const key = name.toLowerCase();
    if (ownHeaders.has(key)) faults.push({ path: at, message: `${name} is set by dropgate; remove it` });
    if (seen.has(key)) faults.push({ path: at, message: `${name} is set in headers too; keep one` });
    seen.add(key);
  }
  return faults;
}

function checkSms(sms: SmsConfig, path: string): RuleFault[] {
  return [
    ...checkTemplate(sms.url, smsRequestFields, `${path}.url`),
    ...checkWebServer(sms, path),
    ...checkSmsBody(sms, path),
    ...checkSmsHeaders(sms, path),
  ];
}

function isLocale(locale: string): boolean {
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(locale).length > 0;
  } catch {
    return false; // a RangeError is how Intl says that it is none
  }
}

function checkLocalTimes({ zone, locale, quietHours }: MessagesConfig, path: string): RuleFault[] {
  return [
    ...checkTimes({ zone }, path),
    ...when(!isLocale(locale), {
      path: `${path}.locale`,
      message: `\`${locale}\` is not a known locale; write one such as en-GB or de-DE`,
    }),
    ...when(quietHours !== undefined && quietHours.from === quietHours.to, {
      path: `${path}.quietHours.to`,
      message:
        "is the same time as from, so that nothing would ever be sent; correct it, or remove quietHours",
    }),
  ];
}

function checkEvents(messages: MessagesConfig, path: string): RuleFault[] {
  return messageEvents.flatMap((name) => {
    const event = messages.events[name];
    if (event === undefined) return [];
    const at = `${path}.events.${name}`;
    const unsendable = messageChannels.filter(
      (channel) => event[channel] !== undefined && messages[channel] === undefined,
    );
    return [
      ...templatesOf(event).flatMap(([part, text]) =>
        checkTemplate(text, messageFieldNames, `${at}.${part}`),
      ),
      ...unsendable.map((channel) => ({
        path: `${at}.${channel}`,
        message: `cannot be sent: ${path}.${channel} says by which server; set it, or remove this`,
      })),
    ];
  });
}

/** What cannot work in the messages of the companies. */
export function checkMessages(config: Config): RuleFault[] {
  return ofEachCompany(config, "messages", (messages, path) => [
    ...(messages.email === undefined ? [] : checkEmail(messages.email, `${path}.email`)),
    ...(messages.sms === undefined ? [] : checkSms(messages.sms, `${path}.sms`)),
    ...checkLocalTimes(messages, path),
    ...checkEvents(messages, path),
  ]);
}

/** What will not work as it is. */
export function warnOfMessages(config: Config): RuleFault[] {
  return ofEachCompany(config, "messages", ({ events }, path) => {
    const used = messageEvents.flatMap((name) => events[name] ?? []);
    const isNone = !used.some((event) => messageChannels.some((channel) => event[channel] !== undefined));
    return when(isNone, {
      path: `${path}.events`,
      message: "has no message, so nothing is sent; add templates, or remove messages",
    });
  });
}
