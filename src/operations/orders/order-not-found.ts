import { DropgateError } from "../../lib/errors.ts";

/** 922: the company has no order of exactly that number. */
export function orderNotFound(orderNbr: string): DropgateError {
  return new DropgateError(
    "orderNotFound",
    `there is no order ${orderNbr.slice(0, 60)}. Check the orderNbr; it is matched exactly.`,
  );
}
