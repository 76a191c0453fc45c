/** The filter by which commands select entries of the ledger: the values of their options. */
import { fileStates, isFileState } from "../../domain/files/file-state.ts";
import { type ErrorCode, errorCatalogue } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import type { FileSelection } from "../../store/ledger/file-lists.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export interface FileFilter {
  readonly state?: string;
  readonly stop?: string;
  readonly company?: string;
  /** Received from this moment on, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
  /** With `*` and `?`. */
  readonly name?: string;
  /** A reason code, as in 953. */
  readonly reason?: number;
  readonly channel?: string;
  readonly user?: string;
}

const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** Codes of faults that clients are told by that number; none when it is no such number. */
export function codesOfReason(reasonCode: number): readonly ErrorCode[] {
  return codes.filter((code) => errorCatalogue[code].reasonCode === reasonCode);
}

function codesOf(reasonCode: number): readonly ErrorCode[] {
  const found = codesOfReason(reasonCode);
  if (found.length === 0) {
    throw new WrongUseError(
      `${reasonCode} is no reason code: docs/errors.md lists them, such as 951 and 953`,
    );
  }
  return found;
}

/** The filter without the company. Throws when it names something that does not exist. */
export function readFilter(filter: FileFilter): FileSelection {
  const { state, reason, company: _, stop: stopNbr, user: userName, ...rest } = filter;
  if (state !== undefined && !isFileState(state)) {
    throw new WrongUseError(
      `${JSON.stringify(state)} is not a state of a file: use one of ${fileStates.join(", ")}`,
    );
  }
  const states = state === undefined ? undefined : [state];
  const reasons = reason === undefined ? undefined : codesOf(reason);
  return { ...rest, ...given({ stopNbr, userName, states, reasons }) };
}
