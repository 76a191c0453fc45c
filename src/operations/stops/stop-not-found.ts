import { DropgateError } from "../../lib/errors.ts";

/** 921: the company has no stop of exactly that number. */
export function stopNotFound(stopNbr: string): DropgateError {
  return new DropgateError(
    "stopNotFound",
    `there is no stop ${stopNbr.slice(0, 60)}. Check the number; it is matched exactly.`,
  );
}
