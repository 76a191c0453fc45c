/** The reason of an act, as its form has sent it. */
import { words } from "../words/words.ts";
import { longestReason } from "./forms.ts";

export interface ReadReason {
  /** As it was given, without spaces around it. */
  readonly reason: string;
  /** What is wrong with it, for its field; undefined when nothing is. */
  readonly fault: string | undefined;
}

/** Reads the field `reason` of a form. */
export function readReason(form: URLSearchParams): ReadReason {
  // Browsers send each line break as two characters, and count it as one.
  const reason = (form.get("reason") ?? "").replaceAll("\r\n", "\n").trim();
  if (reason === "") return { reason, fault: words.kit.reasonMissing };
  return {
    reason,
    fault: reason.length > longestReason ? words.kit.reasonTooLong(longestReason) : undefined,
  };
}
