/** All that the metrics show, as it is at one moment. Who counts what: the table of the metrics. */
import type { KeeperStatistics } from "../../../cluster/lease-keeper.ts";
import type { ChannelTransfers } from "../../../exchange/transfer-figures.ts";
import type { AlertKindName } from "../../../domain/alerts/alert-kinds.ts";
import type { FreeSpace } from "../../../exchange/uploads/disk-space.ts";
import type { RefusedUploads } from "../../../exchange/uploads/intake.ts";
import type { RouteStatistics } from "../../../endpoints/http/server/request-figures.ts";
import type { RemoteStatistics } from "../../../endpoints/remote/remote-deps.ts";
import type { HeldFiles } from "../../../inbound/lanes/held-files.ts";
import type { PipelineStatistics } from "../../../inbound/pipeline.ts";
import type { Histogram } from "../../../lib/histogram.ts";
import type { StoreErrorKind } from "../../../lib/store-error.ts";
import type { RetentionFigures } from "../../retention/retention.ts";
import type { TargetStatistics } from "../../../outbound/target-statistics.ts";
import type { ConnectionStatistics } from "../../../sign-in/connection-gate.ts";
import type { SignInStatistics } from "../../../sign-in/sign-in-statistics.ts";
import type { SignInProtocol } from "../../../sign-in/sign-in.ts";
import type { LastVerification } from "../../../store/database/last-verification.ts";
import type { ExportTimes } from "../../../store/outbound/export-schedules.ts";
import type { WaitingImports } from "../../../store/stops/imports.ts";

export interface ProgramFigures {
  readonly version: string;
  readonly commit: string;
  readonly node: string;
  /** Milliseconds UTC. */
  readonly startedAt: number;
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  readonly loopLags: Histogram;
  readonly isReady: boolean;
  /** When the configuration in force was read, and whether the last attempt to read another has failed. */
  readonly configReadAt: number;
  readonly isReloadGood: boolean;
}

/** What listens for clients. */
export interface EndpointFigures {
  /** `console`: the port of the console alone, where it has one. */
  readonly endpoint: SignInProtocol | "console";
  readonly connections: ConnectionStatistics;
  /** Those of `console` are counted with `http`. */
  readonly bytes?: Pick<ChannelTransfers, "bytesIn" | "bytesOut">;
  /** Of those over which files are exchanged. */
  readonly uploads?: Pick<ChannelTransfers, "uploadsComplete" | "uploadsBroken">;
  /** Milliseconds UTC; undefined without a certificate. */
  readonly certificateExpiresAt?: number | undefined;
}

export interface DatabaseFigures {
  readonly damage: string | undefined;
  readonly faults: ReadonlyMap<StoreErrorKind, number>;
  readonly commitUnits: number;
  readonly commits: Histogram;
}

/** What is read from the database itself. */
export interface StoredFigures {
  /** Every series of a company is there as soon as the company is. */
  readonly companies: readonly { readonly id: number; readonly code: string }[];
  /** Undefined before the first. */
  readonly verification: LastVerification | undefined;
  readonly waitingImports: readonly (Pick<WaitingImports, "companyId" | "imports"> & {
    readonly oldestAgeMs: number;
  })[];
  readonly exports: readonly ExportTimes[];
  /** Nodes that are there; 0 on SQLite. */
  readonly nodes: number;
}

/** This node, and the others. */
export interface NodeFigures extends Pick<KeeperStatistics, "lanes" | "lost" | "silentMs"> {
  /** Those that are there. */
  readonly nodes: number;
}

export interface Figures {
  /** Alone, and without leases, on SQLite. */
  readonly node: NodeFigures;
  readonly program: ProgramFigures;
  readonly stored: StoredFigures;
  readonly database: DatabaseFigures;
  readonly databaseBytes: { readonly file: number; readonly wal: number };
  readonly space: FreeSpace;
  readonly pipeline: PipelineStatistics;
  readonly lastAppliedAt: ReadonlyMap<number, number>;
  readonly held: readonly HeldFiles[];
  readonly refusedUploads: readonly RefusedUploads[];
  readonly isIntakeStopped: boolean;
  /** Only those that listen. */
  readonly endpoints: readonly EndpointFigures[];
  readonly requests: readonly RouteStatistics[];
  readonly signIn: SignInStatistics;
  readonly targets: readonly TargetStatistics[];
  readonly remotes: readonly RemoteStatistics[];
  /** Files that were not collected in time, by the code of the company; only of those where that is watched. */
  readonly uncollected: ReadonlyMap<string, number>;
  /** Open incidents by their kinds; one without any may be missing. */
  readonly openIncidents: ReadonlyMap<AlertKindName, number>;
  /** Expectations of files that are late. */
  readonly lateArrivals: readonly { readonly company: { readonly code: string } }[];
  /** When the last backup was begun, milliseconds UTC; undefined before the first. */
  readonly lastBackupAt: number | undefined;
  /** Of those that the daemon makes; how long the one that is being made has made no progress, 0 while none is. */
  readonly backups: { readonly isFailing: boolean; readonly idleMs: number };
  readonly retention: RetentionFigures;
  /** Since a restore. */
  readonly areDeliveriesHeld: boolean;
}
