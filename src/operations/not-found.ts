/** 920 to 924: the company has none of exactly that number. */
import { DropgateError, type ErrorCode } from "../lib/errors.ts";

function notFound(code: ErrorCode, what: string, number: string, field: string): DropgateError {
  const message = `there is no ${what} ${number.slice(0, 60)}. Check the ${field}; it is matched exactly.`;
  return new DropgateError(code, message);
}

export function loadNotFound(loadNbr: string): DropgateError {
  return notFound("loadNotFound", "load", loadNbr, "number");
}

export function stopNotFound(stopNbr: string): DropgateError {
  return notFound("stopNotFound", "stop", stopNbr, "number");
}

export function orderNotFound(orderNbr: string): DropgateError {
  return notFound("orderNotFound", "order", orderNbr, "orderNbr");
}

export function customerNotFound(accountNumber: string): DropgateError {
  return notFound("customerNotFound", "customer", accountNumber, "accountNumber");
}
