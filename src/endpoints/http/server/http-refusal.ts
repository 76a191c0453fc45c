import { DropgateError, type ErrorCode } from "../../../lib/errors.ts";

interface RefusalOptions {
  /** Where HTTP has a finer status than the code's own: 408, 403 for plain HTTP. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A refusal of the HTTP edge itself, with the headers that belong to it. */
export class HttpRefusal extends DropgateError {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ErrorCode, message: string, options: RefusalOptions = {}) {
    super(code, message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "HttpRefusal";
    this.status = options.status;
    this.headers = options.headers ?? {};
  }
}

/** The value of `Retry-After`: whole seconds, at least one. */
export function retryAfter(milliseconds: number): Readonly<Record<string, string>> {
  return { "retry-after": String(Math.max(1, Math.ceil(milliseconds / 1000))) };
}

/** The client is gone, so there is nobody to answer. */
export class ClientGone extends Error {
  constructor() {
    super("the client closed the connection before its request was complete");
    this.name = "ClientGone";
  }
}
