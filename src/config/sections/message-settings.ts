import { isSameCompanyCode } from "../../domain/users/company-code.ts";
import { type MessageChannel, messageChannels } from "../../domain/messages/message-event.ts";
import type { MessageSettings } from "../../domain/messages/message-settings.ts";
import type { Config, MessagesConfig } from "../schema.ts";

/** Where a text message ends when no service is configured, which sends none. */
const anyLength = 459;

/** What the configuration says of a company's messages, by its code without regard to case; undefined without any. */
export function messagesConfigOf(
  { companies }: Pick<Config, "companies">,
  companyCode: string,
): MessagesConfig | undefined {
  const code = Object.keys(companies).find((candidate) => isSameCompanyCode(candidate, companyCode));
  return code === undefined ? undefined : companies[code]?.messages;
}

/** The channels that have a server. */
export function messageChannelsOf(messages: MessagesConfig): readonly MessageChannel[] {
  return messageChannels.filter((channel) => messages[channel] !== undefined);
}

/** Templates, times and limits of a company's messages. */
export function messageSettingsOf(
  config: Pick<Config, "companies">,
  companyCode: string,
): MessageSettings | undefined {
  const messages = messagesConfigOf(config, companyCode);
  if (messages === undefined) return undefined;
  const { email: _, sms, ...settings } = messages;
  return { ...settings, smsMaxCharacters: sms?.maxCharacters ?? anyLength };
}
