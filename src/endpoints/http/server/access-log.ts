/**
 * The one line of each request. Lines that anybody can cause without end are bounded: requests of strangers, and
 * refusals. The first of a window are written in full, and the others are counted in one line at its end. Successful
 * requests are always logged, and so is every failure of our own.
 */
import { createLimitedLog, type LimitedLog } from "../../../lib/logs/limited-log.ts";
import type { Logger } from "../../../lib/logs/log.ts";

export interface RequestLine {
  readonly user: string | undefined;
  readonly company: string | undefined;
  /** 0: there was nobody to answer. */
  readonly status: number;
  readonly [name: string]: unknown;
}

const message = "http request";
/** Of a company's own refusals more is shown: somebody who knows it asks about them by their ids. */
const ofCompany = { maxLines: 100, windowMs: 5_000 };

/** Refused because of the request, or turned away because of load; 500 is a failure of our own. */
function isRefusal(status: number): boolean {
  return (status >= 400 && status < 500) || status === 503;
}

export class AccessLog {
  readonly #log: Logger;
  readonly #strangers: LimitedLog;
  readonly #refusals: LimitedLog;

  constructor(log: Logger) {
    // Its fields are known and none is a secret: redacting each line would cost more than writing it.
    this.#log = log.child({}, { redact: [] });
    this.#strangers = createLimitedLog(this.#log);
    this.#refusals = createLimitedLog(this.#log, ofCompany);
  }

  write(line: RequestLine): void {
    if (line.status === 500) this.#log.info(line, message);
    else if (line.user === undefined) this.#strangers.info(line, message);
    else if (isRefusal(line.status)) this.#refusals.info(line, message, line.company);
    else this.#log.info(line, message);
  }

  /** What did not even become a request. */
  broken(fields: object): void {
    this.#strangers.info(fields, "http request refused by the parser");
  }

  flush(): void {
    this.#strangers.flush();
    this.#refusals.flush();
  }
}
