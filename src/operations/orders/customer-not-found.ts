import { DropgateError } from "../../lib/errors.ts";

/** 924: the company has no customer of exactly that number. */
export function customerNotFound(accountNumber: string): DropgateError {
  return new DropgateError(
    "customerNotFound",
    `there is no customer ${accountNumber.slice(0, 60)}. Check the accountNumber; it is matched exactly.`,
  );
}
