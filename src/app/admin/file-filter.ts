/** The filter by which commands select entries of the ledger: the values of their options. */
import { fileStates, isFileState } from "../../domain/files/file-state.ts";
import type { MessageChannel } from "../../domain/messages/message-event.ts";
import type { TargetConfig } from "../../config/schema.ts";
import { deliveryStates, givenUpFault, notConfiguredFault } from "../../domain/outbound/delivery-state.ts";
import type { ChannelKind } from "../../inbound/lanes/decision-figures.ts";
import { type ErrorCode, errorCatalogue } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import type { FileSelection } from "../../store/ledger/file-lists.ts";
import { faultRemedies } from "./fault-remedies.ts";
import { WrongUseError } from "./wrong-use-error.ts";

export { isGivenUp } from "../../domain/outbound/delivery-state.ts";

export interface FileFilter {
  /** A state of an entry, or `pruned`. */
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

/** Stands for the entries whose bytes were removed because of their age. They keep the state that says what came of them. */
const prunedState = "pruned";

const channelsOfFiles: Readonly<Record<ChannelKind, true>> = {
  ...{ sftp: true, ftp: true, folder: true, remote: true, recovered: true },
};

const typesOfTargets: Readonly<Record<TargetConfig["type"] | MessageChannel, true>> = {
  ...{ folder: true, sftp: true, ftp: true, ftps: true, https: true },
  ...{ email: true, sms: true },
};

/** The values that options of such commands take, for their help and the completion of shells. */
export const filterValues = {
  fileStates: [...fileStates, prunedState],
  fileChannels: Object.keys(channelsOfFiles),
  reasonCodes: [...new Set(codes.map((code) => String(errorCatalogue[code].reasonCode)))].toSorted(),
  deliveryStates,
  targetTypes: Object.keys(typesOfTargets),
  deliveryFaults: [...Object.keys(faultRemedies), givenUpFault, notConfiguredFault],
} as const satisfies Readonly<Record<string, readonly string[]>>;

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

function readState(state: string | undefined): Pick<FileSelection, "states" | "isPruned"> {
  if (state === undefined) return {};
  if (state === prunedState) return { isPruned: true };
  if (isFileState(state)) return { states: [state] };
  throw new WrongUseError(
    `${JSON.stringify(state)} is not a state of a file: use one of ${filterValues.fileStates.join(", ")}`,
  );
}

/** The filter without the company. Throws when it names something that does not exist. */
export function readFilter(filter: FileFilter): FileSelection {
  const { state, reason, company: _, stop: stopNbr, user: userName, ...rest } = filter;
  const reasons = reason === undefined ? undefined : codesOf(reason);
  return { ...rest, ...readState(state), ...given({ stopNbr, userName, reasons }) };
}
