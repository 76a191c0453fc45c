/**
 * What came and what was decided since the start, for monitoring. Plain numbers, counted where files come, are decided and
 * filed away.
 */
import { type DecidedState, decidedStates } from "../../domain/files/file-state.ts";
import { type ErrorCode, errorCatalogue, type Fault } from "../../lib/errors.ts";
import { Histogram } from "../../lib/histogram.ts";
import type { Arrival, Channel } from "../places/inbox.ts";

/** Seconds from the arrival of a file, or from its retry, to its receipt. */
export const receiptDelayBounds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

/** Files of all remotes are of one kind: their names would be as many labels. */
const channelKinds = ["sftp", "ftp", "folder", "remote", "recovered"] as const;
export type ChannelKind = (typeof channelKinds)[number];

function kindOf(channel: Channel): ChannelKind {
  return channelKinds.find((kind) => kind === channel) ?? "remote";
}

export type StateCounts = Readonly<Record<DecidedState, number>>;

function noFiles(): Record<DecidedState, number> {
  return Object.fromEntries(decidedStates.map((state) => [state, 0])) as Record<DecidedState, number>;
}

export interface DecisionStatistics {
  /** By the id of the company; those without a file are left out. */
  readonly decided: ReadonlyMap<number, StateCounts>;
  /** When a file of the company was last applied, milliseconds UTC, by its id. */
  readonly lastAppliedAt: ReadonlyMap<number, number>;
  /** Refused and superseded files by the first of their reasons. */
  readonly refused: ReadonlyMap<ErrorCode, number>;
  readonly receiptDelays: ReadonlyMap<ChannelKind, Histogram>;
}

export interface ReceivedFiles {
  readonly files: number;
  readonly bytes: number;
}

/** Files that came since the start, by the way they came. */
export class ArrivalFigures {
  readonly received = new Map(channelKinds.map((kind) => [kind, { files: 0, bytes: 0 }]));

  count({ channel, size }: Pick<Arrival, "channel" | "size">): void {
    const counts = this.received.get(kindOf(channel));
    if (counts === undefined) return;
    counts.files += 1;
    counts.bytes += size;
  }
}

export class DecisionFigures implements DecisionStatistics {
  readonly decided = new Map<number, Record<DecidedState, number>>();
  readonly lastAppliedAt = new Map<number, number>();
  readonly refused = new Map(Object.keys(errorCatalogue).map((code) => [code as ErrorCode, 0]));
  readonly receiptDelays = new Map(channelKinds.map((kind) => [kind, new Histogram(receiptDelayBounds)]));

  /** A file was decided about; `now` in milliseconds UTC. */
  count(
    companyId: number,
    made: { readonly state: DecidedState; readonly faults: readonly Fault[] },
    now: number,
  ) {
    const { state, faults } = made;
    const known = this.decided.get(companyId);
    const counts = known ?? noFiles();
    if (known === undefined) this.decided.set(companyId, counts);
    counts[state] += 1;
    if (state === "applied") this.lastAppliedAt.set(companyId, now);
    const [first] = faults;
    if (first !== undefined) this.refused.set(first.code, (this.refused.get(first.code) ?? 0) + 1);
  }

  /** The receipt of a file is there, so many milliseconds after the file or its retry. */
  receiptWritten(channel: Channel, ms: number): void {
    this.receiptDelays.get(kindOf(channel))?.observe(Math.max(0, ms) / 1000);
  }
}
