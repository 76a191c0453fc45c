/**
 * The events that cause messages to customers (specification/outbound.md#messages-to-customers), and the channels of
 * these.
 */
import { recordedEvents } from "../outbound/recorded-events.ts";

/** The planned time of arrival has moved: no recorded event, so it has a code that none of those has. */
export const etaMovedCode = 0;

/** The events that can cause a message, by their names in the configuration. */
export const messageEventCodes = {
  "7004": recordedEvents.loadInitiated.code,
  "7007": recordedEvents.stopArrival.code,
  "7009": recordedEvents.stopDelivery.code,
  "7021": recordedEvents.stopClosed.code,
  "8101": recordedEvents.schedulingInitiated.code,
  "8102": recordedEvents.schedulingConfirmed.code,
  etaMoved: etaMovedCode,
} as const;

/** These say more of the arrival than an earlier planned one: it has moved again, or the driver has come. */
export const arrivalNews: readonly number[] = [
  etaMovedCode,
  recordedEvents.stopArrival.code,
  recordedEvents.stopDelivery.code,
  recordedEvents.stopClosed.code,
];

/** Whether a message of this event is out of date as soon as another one announces the arrival anew. */
export function isAgedByArrivalNews(code: number): boolean {
  return code === etaMovedCode;
}

export type MessageEvent = keyof typeof messageEventCodes;

export const messageEvents = Object.keys(messageEventCodes) as readonly MessageEvent[];

/** The name of an event in the configuration, by its code; undefined for one that causes no messages. */
export function messageEventOf(code: number): MessageEvent | undefined {
  return messageEvents.find((name) => messageEventCodes[name] === code);
}

export const messageChannels = ["email", "sms"] as const;
export type MessageChannel = (typeof messageChannels)[number];

/** The name of the target of a channel. No target of the configuration can have it: those have no dot. */
export function messageTargetName(channel: MessageChannel): string {
  return `messages.${channel}`;
}

/** The channel of a target by its name; undefined for a target of files. */
export function channelOfTarget(name: string): MessageChannel | undefined {
  return messageChannels.find((channel) => messageTargetName(channel) === name);
}
