/** What an answer over HTTP means for a delivery (specification/outbound.md#retries). */
import type { DeliveryOutcome } from "../../outbound/target.ts";
import type { FailedOutcome } from "../../domain/outbound/delivery-fault.ts";
import { failedBy, quoted } from "../../remote/transfer-fault.ts";

export interface HttpAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly location: string | undefined;
  /** The beginning of the body. */
  readonly text: string;
}

interface AnswerContext {
  /** Method and address, without what may be secret. */
  readonly what: string;
  readonly secrets: readonly (string | undefined)[];
  readonly nowMs: number;
}

/** Later statuses of these say that the whole site is in trouble, not this delivery. */
const siteTrouble: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const tooEarly: ReadonlySet<number> = new Set([408, 425]);

/** Milliseconds that a `Retry-After` asks for, as seconds or as a date; undefined when it says neither. Never negative. */
export function retryAfterMs(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Three letters first: a date as HTTP writes it, and nothing else that Date would guess at.
  const at = /^[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

function wordsFor({ status, location }: HttpAnswer, { secrets }: AnswerContext): string {
  if (status === 401 || status === 403)
    return "the sign-in is refused; check user, password, token or certificate";
  if (status >= 300 && status < 400) {
    const where = location === undefined ? "" : ` to ${quoted(location, secrets)}`;
    return `it redirects${where}; that is not followed, put the final address into \`url\``;
  }
  if (status >= 500) return "the server has a fault";
  if (status === 429) return "it asks for fewer requests";
  if (tooEarly.has(status)) return "it could not take the request now";
  return "it refuses this file";
}

function failed(answer: HttpAnswer, context: AnswerContext): FailedOutcome {
  const { status } = answer;
  const said = quoted(answer.text, context.secrets);
  const words = wordsFor(answer, context);
  const message = `${context.what} answered ${status}: ${words}.${said === "" ? "" : ` It said: ${said}`}`;
  const wait = retryAfterMs(answer.retryAfter, context.nowMs);
  const retry = wait === undefined ? {} : { retryAfterMs: wait };
  if (status === 401 || status === 403) return failedBy("credentials", message);
  if (status >= 300 && status < 400) return failedBy("refused", message, { scope: "target" });
  if (siteTrouble.has(status)) return failedBy("busy", message, retry);
  if (status >= 500 || tooEarly.has(status))
    return failedBy("busy", message, { scope: "delivery", ...retry });
  return failedBy("refused", message);
}

/** 2xx is delivered, 408, 425, 429 and 5xx are tried again, everything else is permanent. */
export function outcomeOfAnswer(answer: HttpAnswer, context: AnswerContext): DeliveryOutcome {
  if (answer.status >= 200 && answer.status < 300) return { kind: "delivered" };
  return failed(answer, context);
}
