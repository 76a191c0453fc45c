/** The filter by which commands select entries of the ledger. */
import { fileStates, isFileState } from "../../domain/files/file-state.ts";
import { type ErrorCode, errorCatalogue } from "../../lib/errors.ts";
import type { FileSelection } from "../../store/ledger/file-queries.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export interface FileFilter {
  readonly state?: string;
  readonly stopNbr?: string;
  readonly companyCode?: string;
  /** Received from this moment on, and before that one, milliseconds UTC. */
  readonly since?: number;
  readonly until?: number;
  /** With `*` and `?`. */
  readonly name?: string;
  /** A reason code, as in 953. */
  readonly reason?: number;
  readonly channel?: string;
  readonly userName?: string;
}

const codes = Object.keys(errorCatalogue) as ErrorCode[];

/** Codes of faults that clients are told by that number. */
function codesOf(reasonCode: number): readonly ErrorCode[] {
  const found = codes.filter((code) => errorCatalogue[code].reasonCode === reasonCode);
  if (found.length === 0) {
    throw new WrongUseError(
      `${reasonCode} is no reason code: docs/errors.md lists them, such as 951 and 953`,
    );
  }
  return found;
}

/** The filter without the company. Throws when it names something that does not exist. */
export function readFilter(filter: FileFilter): Omit<FileSelection, "limit"> {
  const { state, reason, companyCode: _, ...rest } = filter;
  if (state !== undefined && !isFileState(state)) {
    throw new WrongUseError(
      `${JSON.stringify(state)} is not a state of a file: use one of ${fileStates.join(", ")}`,
    );
  }
  return {
    ...rest,
    ...(state === undefined ? {} : { states: [state] }),
    ...(reason === undefined ? {} : { reasons: codesOf(reason) }),
  };
}
