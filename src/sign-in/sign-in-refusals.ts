/** The answers to users that may not sign in, and their log lines. */
import type { LimitedLog } from "../lib/logs/limited-log.ts";
import type { SignInAttempt, SignInOutcome } from "./sign-in.ts";

export type RefusalReason =
  | "unknownUser"
  | "wrongPassword"
  | "unknownKey"
  | "disabled"
  | "mustChangePassword"
  | "slowed"
  | "addressBanned"
  | "tooManyWaiting";

/** The log line of an attempt. */
export interface LoggedAttempt extends SignInAttempt {
  readonly method: "password" | "publickey";
}

export function logRefusal(log: LimitedLog, attempt: LoggedAttempt, reason: RefusalReason): void {
  const { address, protocol, method } = attempt;
  const user = attempt.userName.slice(0, 64);
  log.info({ user, address, protocol, method, reason }, "sign-in refused");
}

/** For those who have to wait, whatever the reason. */
export function tooMany(retryAfterMs: number): SignInOutcome {
  const seconds = Math.ceil(retryAfterMs / 1_000);
  const time = seconds < 120 ? `${seconds} seconds` : `${Math.ceil(seconds / 60)} minutes`;
  const message = `Too many sign-ins have failed or are waiting. Try again in ${time}.`;
  return { kind: "refused", code: "tooManyAttempts", message, retryAfterMs };
}

/** For all others: an outsider learns nothing about who exists. */
export const badCredentials = {
  kind: "refused",
  code: "badCredentials",
  message:
    "The user name, password or key is wrong, the user may not sign in, or it does not belong to the company that " +
    "was asked for. Check them with your administrator.",
} as const satisfies SignInOutcome;
