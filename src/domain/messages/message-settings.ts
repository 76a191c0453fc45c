/** What the configuration says of a company's customer messages. */
import {
  type MessageChannel,
  type MessageEvent,
  messageChannels,
  messageEventCodes,
  messageEvents,
} from "./message-event.ts";
import { fieldNamesThatTellEta, messageFieldNames } from "./message-fields.ts";
import { readTemplate } from "./message-template.ts";
import type { QuietHours } from "./quiet-hours.ts";
import { minuteMs } from "../../lib/durations.ts";

export interface EmailTemplate {
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

export interface SmsTemplate {
  readonly text: string;
}

export interface EventMessages {
  readonly email?: EmailTemplate;
  readonly sms?: SmsTemplate;
  /** Instead of that of the company. */
  readonly dropWhenOlderThanMinutes?: number;
}

export interface MessageSettings {
  /** Of stops that name none. */
  readonly zone: string;
  /** How dates and times are written. */
  readonly locale: string;
  readonly dropWhenOlderThanMinutes: number;
  readonly etaMovedMinutes: number;
  readonly smsMaxCharacters: number;
  readonly quietHours?: QuietHours;
  readonly events: Readonly<Partial<Record<MessageEvent, EventMessages>>>;
}

/** The part that state changes need to put messages in the queue. */
export interface MessagePlan {
  /** By codes; those without a message are not in it. */
  readonly events: Readonly<
    Record<string, { readonly channels: readonly MessageChannel[]; readonly tellsEta: boolean }>
  >;
  readonly etaMovedMs: number;
  readonly zone: string;
}

/** The templates of one message, with what they are for. */
export function templatesOf(messages: EventMessages): readonly (readonly [path: string, text: string])[] {
  const { email, sms } = messages;
  const all: (readonly [string, string | undefined])[] = [
    ["email.subject", email?.subject],
    ["email.text", email?.text],
    ["email.html", email?.html],
    ["sms.text", sms?.text],
  ];
  return all.flatMap(([path, text]) => (text === undefined ? [] : [[path, text] as const]));
}

function tellsEta(messages: EventMessages): boolean {
  return templatesOf(messages).some(([, text]) => {
    const reading = readTemplate(text, messageFieldNames);
    return reading.kind === "read" && fieldNamesThatTellEta.some((name) => reading.names.has(name));
  });
}

/** The plan of these settings: undefined without any message. */
export function messagePlanOf(
  settings: MessageSettings,
  channels: readonly MessageChannel[],
): MessagePlan | undefined {
  const events: Record<string, MessagePlan["events"][string]> = {};
  for (const event of messageEvents) {
    const messages = settings.events[event];
    if (messages === undefined) continue;
    const used = messageChannels.filter(
      (channel) => channels.includes(channel) && messages[channel] !== undefined,
    );
    if (used.length === 0) continue;
    events[String(messageEventCodes[event])] = { channels: used, tellsEta: tellsEta(messages) };
  }
  if (Object.keys(events).length === 0) return undefined;
  return { events, etaMovedMs: settings.etaMovedMinutes * minuteMs, zone: settings.zone };
}
