/** What the page of health shows: what the daemon knows of itself, and what a check or a verification has found. */
import type { RecentTrouble } from "../../../../../lib/logs/recent-troubles.ts";

/** A line of `dropgate check`. */
export interface ShownFinding {
  readonly status: "ok" | "warning" | "problem";
  readonly what: string;
  readonly remedy?: string;
  /** It tells how the state grows, and when the disk is full. */
  readonly isGrowth?: boolean;
  /** The same in numbers, where there is growth to tell of. */
  readonly forecast?: ShownForecast;
}

/** How a disk fills. */
export interface ShownForecast {
  readonly folder: string;
  /** Of the period whose growth it goes by. */
  readonly measuredDays: number;
  /** Bytes that may still be used. */
  readonly roomBytes: number;
  /** Left out when it lasts for ten years. */
  readonly fullInDays?: number;
  /** What comes less what goes of each kind. */
  readonly rates: readonly { readonly what: string; readonly bytesPerDay: number }[];
  /** By how many bytes more there is after so many days. */
  readonly points: readonly { readonly day: number; readonly bytes: number }[];
}

export interface ShownVerification {
  readonly entries: number;
  readonly bytes: number;
  readonly unproved: readonly string[];
  readonly discrepancyCount: number;
  readonly discrepancies: readonly {
    readonly kind: string;
    readonly location: string;
    readonly message: string;
    readonly name?: string;
  }[];
}

/** Work in a process of its own. Times in milliseconds UTC. */
export interface JobState<Result> {
  readonly running:
    | {
        readonly since: number;
        readonly progress: { readonly entries: number; readonly total: number } | undefined;
      }
    | undefined;
  readonly last: { readonly at: number; readonly result: Result } | undefined;
  /** Why the last one came to nothing, when it did. */
  readonly failure: { readonly at: number; readonly message: string } | undefined;
}

export interface ThreadsShown {
  readonly parsers: number;
  readonly waitingFiles: number;
  readonly unfiledFiles: number;
  /** 99 of 100 timers ran so late at most, milliseconds; undefined before the first. */
  readonly lateMs: number | undefined;
}

/** One of several daemons that serve the same companies. Times in milliseconds UTC of the database. */
export interface ShownNode {
  readonly name: string;
  /** That which answers. */
  readonly isThis: boolean;
  readonly state: "working" | "draining" | "silent" | "stopped";
  /** The codes of the companies whose work it does. */
  readonly companies: readonly string[];
  readonly version: string;
  /** What it listens on, by protocol. */
  readonly address: Readonly<Record<string, string>>;
  readonly hasOtherSettings: boolean;
  readonly startedAt: number;
  readonly seenAt: number;
}

/** What the daemon knows at this moment. */
export interface HealthFacts {
  readonly version: string;
  readonly startedAt: number;
  readonly residentBytes: number;
  readonly isReady: boolean;
  /** By the names of the self-checks. */
  readonly selfChecks: Readonly<Record<string, boolean>>;
  readonly messages: readonly string[];
  readonly threads: ThreadsShown;
  readonly store: {
    /** Undefined while a server cannot be asked. */
    readonly fileBytes: number | undefined;
    readonly walBytes: number | undefined;
    readonly commits: number;
    /** Damaged pages were met; undefined as a rule. */
    readonly damage: string | undefined;
  };
  readonly disk: { readonly freeBytes: number; readonly minFreeBytes: number } | undefined;
  readonly certificates: readonly { readonly endpoint: string; readonly expiresAt: number }[];
  readonly configuration: { readonly readAt: number; readonly isLastGood: boolean };
  readonly backup: {
    readonly isScheduled: boolean;
    /** Undefined before the first. */
    readonly lastAt: number | undefined;
    readonly failure: string | undefined;
    readonly runningSince: number | undefined;
  };
  readonly check: JobState<readonly ShownFinding[]>;
  /** How the state grows, as the daemon measures it by itself. */
  readonly growth: JobState<readonly ShownFinding[]>;
  readonly verification: JobState<ShownVerification>;
  /** By the daemon or by a command; undefined before the first. */
  readonly lastVerified: { readonly at: number; readonly discrepancies: number } | undefined;
  readonly troubles: readonly RecentTrouble[];
  /** Undefined where one daemon is alone, or the database cannot be asked. */
  readonly nodes?: readonly ShownNode[] | undefined;
}

/** Where the page of health gets what it shows. */
export interface HealthSource {
  facts(): Promise<HealthFacts>;
  /** Begins to check the installation, unless that is under way. */
  beginCheck(): void;
}
