/**
 * The one catalogue of everything dropgate can refuse or fail at.
 *
 * Each entry has the public reason code, its status over HTTP, whether the same request can succeed later without being
 * changed, and what the code means. Every other edge (XML response, SFTP, exit code) maps a code once.
 * `docs/errors.md` lists the same table; a test compares the two.
 */
interface CatalogueEntry {
  readonly reasonCode: number;
  /** Of the answer over HTTP (specification/reasons.md#reason-codes). */
  readonly httpStatus: number;
  readonly isRetryable: boolean;
  readonly meaning: string;
}

function entry(reasonCode: number, httpStatus: number, meaning: string, isRetryable = false): CatalogueEntry {
  return { reasonCode, httpStatus, isRetryable, meaning };
}

export const errorCatalogue = {
  notJson: entry(900, 400, "body is not JSON, or not UTF-8"),
  missing: entry(901, 400, "a required field or identifier is missing"),
  wrongType: entry(902, 400, "wrong type, or not one of the allowed values"),
  emptyList: entry(903, 400, "a required array or object is missing or empty"),
  badDate: entry(904, 400, "not a valid date, date-time, time or time zone"),
  companyDiffers: entry(905, 400, "company code in body and path differ"),
  stopInTransit: entry(906, 409, "stop is in transit and cannot be updated"),
  finalState: entry(907, 409, "stop, load or order is in a final state"),
  unknownService: entry(908, 404, "unknown serviceName"),
  tooLarge: entry(909, 413, "body, array or file over its limit"),
  unknownFilter: entry(910, 400, "unknown filter or query parameter"),
  loadNotFound: entry(920, 404, "load not found"),
  stopNotFound: entry(921, 404, "stop not found"),
  orderNotFound: entry(922, 404, "order not found"),
  documentNotFound: entry(923, 404, "no document found"),
  customerNotFound: entry(924, 404, "customer not found"),
  partnerNotFound: entry(925, 404, "carrier (business partner) not found"),
  driverNotFound: entry(926, 404, "driver not found"),
  badCredentials: entry(930, 401, "wrong user or password, or a user of another company"),
  notRegistered: entry(
    931,
    403,
    "company not registered (commands alone; over HTTP, a company that the user does not belong to is answered with 930, whether it exists or not)",
  ),
  roleMissing: entry(932, 403, "role missing"),
  tooManyAttempts: entry(933, 429, "too many failed sign-ins, or over the request limit", true),
  noSuchOperation: entry(940, 404, "no such operation"),
  methodNotAllowed: entry(941, 405, "method not allowed"),
  mediaType: entry(942, 415, "media type not supported"),
  notWellFormed: entry(950, 400, "XML not well formed"),
  xsdMismatch: entry(951, 400, "XML does not match the XSD"),
  badFileName: entry(952, 400, "file name not of the form"),
  stopNumberDiffers: entry(953, 400, "stop number in the name and in the document differ"),
  superseded: entry(954, 409, "superseded: a newer file for this stop has been applied"),
  nameReused: entry(955, 409, "this file name was applied before with other content"),
  forbiddenXml: entry(957, 400, "DTD, entity declaration or unsupported encoding"),
  loadHasDriver: entry(960, 409, "load is assigned to a driver"),
  stopNotOpen: entry(961, 409, "stop is not unplanned or created"),
  stopNotAsn: entry(962, 409, "stop is not an ASN (InboundShipment)"),
  orderNotDeletable: entry(963, 409, "order cannot be deleted any more"),
  notAssigned: entry(964, 409, "no carrier/driver is assigned, or another one is"),
  noCapacityNamed: entry(970, 400, "the reservation names no weight, volume, quantity or service time"),
  slotNotFound: entry(971, 404, "time slot unknown or past"),
  slotFull: entry(972, 409, "not enough capacity left"),
  unknownEvent: entry(980, 400, "unknown event code"),
  eventOutOfSequence: entry(981, 409, "event out of sequence"),
  stopNotOnRoute: entry(982, 409, "stop is not on the route"),
  internal: entry(998, 500, "internal error", true),
  overloaded: entry(999, 503, "overloaded or stopping", true),
  tooLong: entry(1401, 400, "longer than its maximum"),
  driverRequired: entry(1505, 400, "a driver is required"),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof errorCatalogue;

/**
 * One thing that is wrong with what somebody sent. `message` names the field, the fault and the remedy, and is
 * safe to show: no host paths, no SQL, no stack. Paths are JSON paths (`stops[3].to.address.zip`) or XPaths.
 */
export interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  readonly stopNbr?: string;
}

/** How many faults one answer carries at most. */
const maxFaults = 50;
/** How many are kept on the way there: one more shows that there are more. */
export const maxKeptFaults = maxFaults + 1;

/** The faults that an answer carries; the last of them says when there are more. */
export function shownFaults(faults: readonly Fault[]): readonly Fault[] {
  if (faults.length <= maxFaults) return faults;
  const shown = faults.slice(0, maxFaults);
  return shown.map((fault, index) =>
    index < maxFaults - 1
      ? fault
      : {
          ...fault,
          message: `${fault.message} There are more faults: correct these ${maxFaults} and send it again.`,
        },
  );
}

/** A refusal or failure that an edge turns into an answer. Carries one or more faults; `cause` stays in the log. */
export class DropgateError extends Error {
  readonly code: ErrorCode;
  readonly faults: readonly Fault[];

  constructor(
    code: ErrorCode,
    message: string,
    options: { faults?: readonly Fault[]; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "DropgateError";
    this.code = code;
    this.faults = options.faults ?? [{ code, message }];
  }
}

/** The public number of a code, as used in `Reasons`, `ErrorMsgID`, receipts and logs. */
export function reasonCodeOf(code: ErrorCode): number {
  return errorCatalogue[code].reasonCode;
}

export function httpStatusOf(code: ErrorCode): number {
  return errorCatalogue[code].httpStatus;
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The `code` of a Node system error such as `ENOENT`, or undefined. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== "object" || thrown === null || !("code" in thrown)) return undefined;
  return typeof thrown.code === "string" ? thrown.code : undefined;
}

/** Whether a fault says that nothing has that name: ENOENT, or ENOTDIR for a part of the path. */
export function isMissing(thrown: unknown): boolean {
  const code = systemCodeOf(thrown);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Whether the system permits no further link to a file, as to that of another user (`fs.protected_hardlinks`). */
export function isLinkForbidden(thrown: unknown): boolean {
  return systemCodeOf(thrown) === "EPERM";
}

/** For `catch` of a promise: undefined when nothing has that name; every other fault is thrown. */
export function unlessMissing(thrown: unknown): undefined {
  if (!isMissing(thrown)) throw thrown;
  return undefined;
}
