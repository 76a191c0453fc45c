/** The exit code of the program for each error. */
import { CommanderError } from "commander";
import { WrongUseError } from "../app/admin/wrong-use-error.ts";
import { DropgateError, type ErrorCode } from "../lib/errors.ts";
import { isStoreBusy, isStoreDamaged, storeRemedies } from "../lib/store-error.ts";
import { exitCodes, FaultyConfigError } from "./command-line.ts";

type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

const { failure, wrongUse } = exitCodes;

const exitCodeOfError: Readonly<Record<ErrorCode, ExitCode>> = {
  notJson: wrongUse,
  missing: wrongUse,
  wrongType: wrongUse,
  emptyList: wrongUse,
  badDate: wrongUse,
  companyDiffers: wrongUse,
  stopInTransit: failure,
  finalState: failure,
  unknownService: wrongUse,
  tooLarge: wrongUse,
  unknownFilter: wrongUse,
  loadNotFound: failure,
  stopNotFound: failure,
  orderNotFound: failure,
  documentNotFound: failure,
  customerNotFound: failure,
  partnerNotFound: failure,
  driverNotFound: failure,
  badCredentials: failure,
  notRegistered: wrongUse,
  roleMissing: failure,
  tooManyAttempts: failure,
  noSuchOperation: wrongUse,
  methodNotAllowed: wrongUse,
  mediaType: wrongUse,
  notWellFormed: failure,
  xsdMismatch: failure,
  badFileName: failure,
  stopNumberDiffers: failure,
  superseded: failure,
  nameReused: failure,
  forbiddenXml: failure,
  loadHasDriver: failure,
  stopNotOpen: failure,
  stopNotAsn: failure,
  orderNotDeletable: failure,
  notAssigned: failure,
  noCapacityNamed: failure,
  slotNotFound: failure,
  slotFull: failure,
  unknownEvent: failure,
  eventOutOfSequence: failure,
  stopNotOnRoute: failure,
  internal: failure,
  overloaded: failure,
  tooLong: wrongUse,
  driverRequired: failure,
};

export interface Ending {
  readonly exitCode: number;
  /** Undefined when the command has printed everything itself. */
  readonly message?: string;
}

/** The exit code and the message for anything that a command threw. */
export function endingAfter(error: unknown): Ending {
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? exitCodes.fine : wrongUse };
  if (error instanceof FaultyConfigError) return { exitCode: wrongUse, message: error.message };
  if (error instanceof WrongUseError) return { exitCode: wrongUse, message: `dropgate: ${error.message}` };
  if (error instanceof DropgateError) {
    return { exitCode: exitCodeOfError[error.code], message: `dropgate: ${error.message}` };
  }
  if (isStoreBusy(error)) {
    return { exitCode: failure, message: "dropgate: the database is busy: try again in a moment" };
  }
  const message = error instanceof Error ? error.message : String(error);
  const remedy = isStoreDamaged(error) ? `; ${storeRemedies.damaged}` : "";
  return { exitCode: failure, message: `dropgate: ${message}${remedy}` };
}
