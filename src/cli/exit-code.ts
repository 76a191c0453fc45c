/** The exit code of the program for each error. */
import { CommanderError } from "commander";
import { WrongUseError } from "../app/admin/wrong-use-error.ts";
import { DropgateError, type ErrorCode } from "../lib/errors.ts";
import { isStoreBusy, isStoreDamaged, storeRemedies } from "../lib/store-error.ts";
import { exitCodes, FaultyConfigError } from "./command-line.ts";

const { failure, wrongUse } = exitCodes;
/** The codes that find fault with what a command was given; all others say that something could not be done. */
const wrongUses: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "notJson",
  "missing",
  "wrongType",
  "emptyList",
  "badDate",
  "companyDiffers",
  "unknownService",
  "tooLarge",
  "unknownFilter",
  "notRegistered",
  "noSuchOperation",
  "methodNotAllowed",
  "mediaType",
  "tooLong",
]);

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
    const exitCode = wrongUses.has(error.code) ? wrongUse : failure;
    return { exitCode, message: `dropgate: ${error.message}` };
  }
  if (isStoreBusy(error))
    return { exitCode: failure, message: "dropgate: the database is busy: try again in a moment" };
  const message = error instanceof Error ? error.message : String(error);
  const remedy = isStoreDamaged(error) ? `; ${storeRemedies.damaged}` : "";
  return { exitCode: failure, message: `dropgate: ${message}${remedy}` };
}
