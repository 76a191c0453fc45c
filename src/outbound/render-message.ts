/**
 * Makes a message from what is kept of its event and from the template in force, or says why it is not sent: it has become
 * too old, it is not wanted any more, or it has to wait for the end of quiet hours.
 */
import { hash } from "node:crypto";
import { readAddress, veiledAddress } from "../domain/messages/message-address.ts";
import { isAgedByArrivalNews, messageEventOf } from "../domain/messages/message-event.ts";
import { type MessageFacts, messageValues } from "../domain/messages/message-fields.ts";
import type { EventMessages, MessageSettings } from "../domain/messages/message-settings.ts";
import { escapeHtml, fillTemplate, oneLine, shortened } from "../domain/messages/message-template.ts";
import { notConfiguredFault } from "../domain/outbound/delivery-state.ts";
import { endOfQuietHours } from "../domain/messages/quiet-hours.ts";
import type { Clock } from "../lib/clock.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Reader } from "../store/database/database.ts";
import { isOptedOut } from "../store/outbound/message-opt-outs.ts";
import { hasLaterArrivalNews, type StoredMessage } from "../store/outbound/messages.ts";
import type {
  DeliveryToRender,
  RenderOrWithhold,
  RenderedDelivery,
  WithheldDelivery,
} from "./delivery-to-render.ts";
import type { CustomerMessage } from "./target.ts";
import { minuteMs } from "../lib/durations.ts";

export interface MessageRendererDeps {
  readonly store: { readonly read: Reader };
  readonly clock: Clock;
  /** Undefined when the company has no messages in the configuration. */
  readonly settings: (companyCode: string) => MessageSettings | undefined;
}

/** What is due later than the longest wait of the schedule is taken for a mistake of the clock; so it is put off in steps. */
const longestStepMs = 6 * 60 * minuteMs;
const longestSubject = 200;
const longestName = 100;

function dropped(fault: string, message: string): WithheldDelivery {
  return { kind: "dropped", fault, message };
}

/** Values of the facts on one line each; all names of the list are there. */
function valuesOf(facts: MessageFacts, locale: string): ReadonlyMap<string, string> {
  return new Map([...messageValues(facts, locale)].map(([name, value]) => [name, oneLine(value)]));
}

type Texts = Pick<CustomerMessage, "subject" | "text" | "html">;

function textsOf(
  { channel, facts }: StoredMessage,
  messages: EventMessages,
  settings: MessageSettings,
): Texts | undefined {
  const values = valuesOf(facts, settings.locale);
  const { email, sms } = messages;
  if (channel === "sms") {
    if (sms === undefined) return undefined;
    return { subject: "", text: shortened(fillTemplate(sms.text, values).trim(), settings.smsMaxCharacters) };
  }
  if (email === undefined) return undefined;
  const { html } = email;
  return {
    subject: shortened(oneLine(fillTemplate(email.subject, values)), longestSubject),
    text: fillTemplate(email.text, values),
    ...(html === undefined ? {} : { html: fillTemplate(html, values, escapeHtml) }),
  };
}

function tooOld(minutes: number): WithheldDelivery {
  const message = `it could not be sent within ${minutes} minutes (dropWhenOlderThanMinutes), and would only mislead now`;
  return dropped("tooOld", message);
}

/** Whether it is late, or the hours are quiet. */
function withheldByTime(
  { createdAt, facts }: StoredMessage,
  { maxAgeMinutes, settings, now }: { maxAgeMinutes: number; settings: MessageSettings; now: number },
): WithheldDelivery | undefined {
  const lastAt = createdAt + maxAgeMinutes * minuteMs;
  if (now > lastAt) return tooOld(maxAgeMinutes);
  const { quietHours } = settings;
  const end = quietHours === undefined ? undefined : endOfQuietHours(now, quietHours, facts.zone);
  if (end === undefined) return undefined;
  if (end <= lastAt) return { kind: "postponed", dueAt: Math.min(end, now + longestStepMs) };
  const until = isoTime(end);
  return dropped(
    "tooOld",
    `quiet hours end at ${until}, when it is older than ${maxAgeMinutes} minutes (dropWhenOlderThanMinutes)`,
  );
}

function rendered(row: DeliveryToRender, message: CustomerMessage): RenderedDelivery {
  const bytes = Buffer.from(JSON.stringify(message));
  return {
    delivery: { id: row.guid, companyCode: row.companyCode, files: [], message },
    sha256: hash("sha256", bytes, "hex"),
    size: bytes.length,
  };
}

function messageTo(to: string, { channel, createdAt, facts }: StoredMessage, texts: Texts): CustomerMessage {
  const name = oneLine(facts.contact?.contactName ?? "");
  const toName = name === "" ? {} : { toName: shortened(name, longestName) };
  return { channel, to, ...toName, ...texts, date: createdAt };
}

async function render(deps: MessageRendererDeps, row: DeliveryToRender): ReturnType<RenderOrWithhold> {
  const { message: stored, companyCode } = row;
  if (stored === undefined) throw new Error(`message ${row.subjectId} is not in the database`);
  const { channel, address, companyId } = stored;
  const settings = deps.settings(companyCode);
  const event = messageEventOf(stored.eventCode);
  const messages = event === undefined ? undefined : settings?.events[event];
  if (settings === undefined || messages?.[channel] === undefined)
    return dropped(notConfiguredFault, "the configuration has no template for it any more");
  const maxAgeMinutes = messages.dropWhenOlderThanMinutes ?? settings.dropWhenOlderThanMinutes;
  if (await isOptedOut(deps.store.read, { companyId, address }))
    return dropped("optedOut", "the address is on the company's list of those that want no messages");
  const to = readAddress(channel, address);
  if (to === undefined)
    return dropped(
      "invalidAddress",
      `${veiledAddress(address)} is no ${channel} address that can be sent to`,
    );
  if (isAgedByArrivalNews(stored.eventCode) && (await hasLaterArrivalNews(deps.store.read, stored)))
    return dropped("superseded", "a later message announces a newer arrival, or that the driver has come");
  const withheld = withheldByTime(stored, { maxAgeMinutes, settings, now: deps.clock.now() });
  if (withheld !== undefined) return withheld;
  const texts = textsOf(stored, messages, settings);
  if (texts === undefined)
    return dropped(notConfiguredFault, "the configuration has no template for it any more");
  if (texts.text.trim() === "") return dropped("empty", "its text is empty, with the values that there are");
  return rendered(row, messageTo(to, stored, texts));
}

/** The renderer of messages. The same message for the same row, as long as its template stays the same. */
export function createMessageRenderer(deps: MessageRendererDeps): RenderOrWithhold {
  return (row) => render(deps, row);
}
