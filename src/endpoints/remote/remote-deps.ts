import type { CronSchedule } from "../../domain/time/cron-schedule.ts";
import type { Intake } from "../../exchange/uploads/intake.ts";
import type { Inbox, Reservations } from "../../inbound/places/inbox.ts";
import type { RemoteMemory, RemoteStates } from "../../inbound/remotes/remote-memory.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { FetchSettings } from "./fetch-messages.ts";

/** What happens to a file on the remote when the ledger has it. */
export type AfterFetch = "delete" | "move" | "leave";

export type PollSchedule =
  | { readonly kind: "every"; readonly everyMs: number }
  | { readonly kind: "cron"; readonly cron: CronSchedule; readonly zone: string };

/** A server from which files are fetched for a company. Two that are deeply equal are the same. */
export interface PolledRemote {
  readonly companyId: number;
  readonly companyCode: string;
  readonly name: string;
  readonly inboundDirectory: string;
  /** How to reach it; or why that is unknown, such as a key file that cannot be read. */
  readonly fetch: FetchSettings | { readonly fault: string };
  readonly after: AfterFetch;
  readonly schedule: PollSchedule;
  readonly settleMs: number;
  /** Of one listing, and of the download of one file. */
  readonly timeoutMs: number;
}

/** Read at each use, so that a reload takes effect. */
export interface RemoteLimits {
  readonly maxFileBytes: number;
  /** How long a file that cannot be fetched keeps back the later files of its stop. */
  readonly giveUpAfterMs: number;
}

export interface RemoteDeps {
  readonly inbox: Reservations & Pick<Inbox, "arriveAll" | "waitingCount">;
  readonly memory: RemoteMemory;
  readonly states: RemoteStates;
  readonly intake: Pick<Intake, "whyNoRoom">;
  readonly limits: () => RemoteLimits;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between 0 and 1: spreads the pauses of remotes that failed together. */
  readonly random: () => number;
  /** Whether files of the company may be taken here: otherwise another node takes them. */
  readonly isOurs: (companyId: number) => boolean;
  /** Marks temporary files as those of this run: what else lies there was left by a crash, or by the node that had the company. */
  readonly runId: string;
}

/** Figures for monitoring; the counts are since the start. */
export interface RemoteStatistics {
  readonly company: string;
  readonly remote: string;
  readonly filesTaken: number;
  readonly failures: number;
  readonly isFailing: boolean;
  /** Somebody has paused it, until somebody resumes it. */
  readonly isPausedByHand: boolean;
  /** Milliseconds UTC; undefined before the first round without a fault. */
  readonly lastSuccessAt: number | undefined;
}
