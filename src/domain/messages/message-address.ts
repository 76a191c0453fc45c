/** Addresses of customers as hosts send them: which can be used, and which are equal. */
import type { MessageChannel } from "./message-event.ts";

const longestEmail = 254;
/** One address of plain letters: no name, no list, no comment, nothing that a server could read in two ways. */
const emailForm =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const phoneForm = /^\+?[0-9]{5,20}$/;

function readEmail(text: string): string | undefined {
  const isOne = text.length <= longestEmail && text.indexOf("@") <= 64 && emailForm.test(text);
  return isOne ? text : undefined;
}

function readPhone(text: string): string | undefined {
  const digits = text.replaceAll(/[\s()./-]/g, "");
  return phoneForm.test(digits) ? digits : undefined;
}

/** The address as it is sent to: an e-mail address, or a number of digits with or without +. Undefined when it is none. */
export function readAddress(channel: MessageChannel, text: string): string | undefined {
  const trimmed = text.trim();
  return channel === "email" ? readEmail(trimmed) : readPhone(trimmed);
}

/** Addresses with the same key are the same: case does not count, nor how a number is grouped. */
export function addressKey(text: string): string {
  const trimmed = text.trim();
  return trimmed.includes("@") ? trimmed.toLowerCase() : trimmed.replaceAll(/[\s()./-]/g, "");
}

/** The address for the log and lists: enough to find it for somebody who knows it. */
export function veiledAddress(text: string): string {
  const at = text.lastIndexOf("@");
  return at > 0 ? `${text.slice(0, 1)}…${text.slice(at)}` : `…${text.slice(-3)}`;
}
