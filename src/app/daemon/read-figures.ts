/** From the parts of the daemon to the text of `/metrics`. A scrape does the work, and the parts count plain numbers. */
import type { RouteStatistics } from "../../endpoints/http/server/request-figures.ts";
import type { RemoteEndpoint } from "../../endpoints/remote/remote-endpoint.ts";
import type { FtpEndpoint } from "../../endpoints/ftp/ftp-endpoint.ts";
import type { SftpEndpoint } from "../../endpoints/sftp/sftp-endpoint.ts";
import type { FolderExchange } from "../../exchange/file-exchange.ts";
import type { FreeSpace } from "../../exchange/uploads/disk-space.ts";
import type { Clock } from "../../lib/clock.ts";
import { readCommit, readVersion } from "../../lib/program-version.ts";
import { isStoreFault, storeErrorKinds, unlessStoreFault } from "../../lib/store-error.ts";
import type { TlsOptions } from "../../lib/tls-settings.ts";
import type { SignInProtocol } from "../../sign-in/sign-in.ts";
import { listCompanies } from "../../store/accounts/companies.ts";
import type { Reader } from "../../store/database/database.ts";
import { listLiveNodes } from "../../store/cluster/live-nodes.ts";
import { findLastVerification } from "../../store/database/last-verification.ts";
import { listExportTimes } from "../../store/outbound/export-schedules.ts";
import { countWaitingImports } from "../../store/stops/imports.ts";
import type {
  DatabaseFigures,
  EndpointFigures,
  Figures,
  NodeFigures,
  ProgramFigures,
  StoredFigures,
} from "../watch/metrics/figures.ts";
import type { AlertWatch } from "../alerts/alert-watch.ts";
import type { BackupSchedule } from "../watch/backup-schedule.ts";
import { metricTable } from "../watch/metrics/metric-table.ts";
import { renderMetrics } from "../watch/metrics/render-metrics.ts";
import type { Parts } from "./daemon-parts.ts";
import type { Outbound } from "./outbound.ts";
import { certificateExpiry } from "./tls-material.ts";

/** What the parts do not have. */
export interface MeasuredTraffic {
  readonly outbound: Pick<Outbound, "statistics">;
  readonly remotes: Pick<RemoteEndpoint, "statistics">;
  readonly backups: Pick<BackupSchedule, "last" | "failure" | "running">;
  readonly alerts: Pick<AlertWatch, "openCounts">;
  readonly requests: () => readonly RouteStatistics[];
}

/** While the database cannot be read, what was read last is shown: its faults have a metric of their own. */
function storedFigures(read: Reader, clock: Clock): () => Promise<StoredFigures> {
  let last: StoredFigures = {
    companies: [],
    verification: undefined,
    waitingImports: [],
    exports: [],
    nodes: 0,
  };
  return async () => {
    try {
      last = {
        companies: await listCompanies(read),
        verification: await findLastVerification(read),
        waitingImports: (await countWaitingImports(read)).map(({ oldestAt, ...waiting }) => ({
          ...waiting,
          oldestAgeMs: Math.max(0, clock.now() - oldestAt),
        })),
        exports: await listExportTimes(read),
        nodes: (await listLiveNodes(read)).size,
      };
    } catch (error) {
      if (!isStoreFault(error)) throw error;
    }
    return last;
  };
}

/** Not a number while a server cannot be asked. */
async function databaseBytes({ store }: Parts): Promise<Figures["databaseBytes"]> {
  return (await store.sizes().catch(unlessStoreFault)) ?? { file: Number.NaN, wal: Number.NaN };
}

/** Not a number when the disk does not say: all else is told even so. */
function unknownSpace(): FreeSpace {
  return { freeBytes: Number.NaN, minFreeBytes: Number.NaN };
}

function programFigures({ health, loopLag, configRead }: Parts, built: BuildInfo): ProgramFigures {
  const { user, system } = process.cpuUsage();
  return {
    ...built,
    startedAt: performance.timeOrigin,
    residentBytes: process.memoryUsage.rss(),
    cpuSeconds: (user + system) / 1_000_000,
    loopLags: loopLag.lags,
    isReady: health.current().isReady,
    configReadAt: configRead.at,
    isReloadGood: configRead.isLastGood,
  };
}

function backupFigures(backups: MeasuredTraffic["backups"], now: number): Figures["backups"] {
  const run = backups.running();
  const idleMs = run === undefined ? 0 : Math.max(0, now - run.progressAt);
  return { isFailing: backups.failure() !== undefined, idleMs };
}

function databaseFigures({ store }: Parts): DatabaseFigures {
  const { condition, commits } = store;
  return {
    damage: condition.damage,
    faults: new Map(storeErrorKinds.map((kind) => [kind, condition.count(kind)])),
    commitUnits: commits.units,
    commits: commits.durations,
  };
}

const alone: NodeFigures = {
  lanes: { recovering: 0, working: 0, draining: 0, fenced: 0 },
  ...{ lost: 0, silentMs: 0, nodes: 1 },
};

function nodeFigures({ cluster: { keeper } }: Parts, { nodes }: StoredFigures): NodeFigures {
  if (keeper === undefined) return alone;
  const { lanes, lost, silentMs } = keeper.statistics();
  return { lanes, lost, silentMs, nodes };
}

/** Keeps when the certificate that an endpoint uses from now on expires. */
export function noteCertificate(
  { certificates }: Parts,
  endpoint: SignInProtocol,
  tls: TlsOptions | undefined,
): void {
  if (tls === undefined) certificates.delete(endpoint);
  else certificates.set(endpoint, certificateExpiry(tls.cert));
}

/** What the metrics show of SFTP or FTP. */
export function exchangeFigures(
  { certificates }: Parts,
  { name, connections }: SftpEndpoint | FtpEndpoint,
  { transfers }: FolderExchange,
): EndpointFigures {
  const { [name]: transferred } = transfers;
  const certificateExpiresAt = certificates.get(name);
  return { endpoint: name, connections, bytes: transferred, uploads: transferred, certificateExpiresAt };
}

type BuildInfo = Pick<ProgramFigures, "version" | "commit" | "node">;

/** Makes what renders the metrics as they are at the moment of the call. */
export function createMetrics(parts: Parts, traffic: MeasuredTraffic): () => Promise<string> {
  const { store, clock, pipeline, intake, appliedWatch, holdWatch, signIn } = parts;
  const { arrivalWatch, collectionWatch, retention } = parts;
  const readStored = storedFigures(store.read, clock);
  const built = { version: readVersion(), commit: readCommit() ?? "unknown", node: process.versions.node };
  return async () => {
    const stored = await readStored();
    return renderMetrics(metricTable, {
      program: programFigures(parts, built),
      stored,
      node: nodeFigures(parts, stored),
      database: databaseFigures(parts),
      databaseBytes: await databaseBytes(parts),
      space: await intake.space.room().catch(unknownSpace),
      pipeline: pipeline.statistics(),
      lastAppliedAt: appliedWatch.lastAppliedAt(),
      held: pipeline.held(),
      refusedUploads: intake.counts(),
      isIntakeStopped: intake.current().length > 0,
      endpoints: parts.listening.map((figuresOf) => figuresOf()),
      requests: traffic.requests(),
      signIn: signIn.statistics(),
      targets: traffic.outbound.statistics(),
      remotes: traffic.remotes.statistics(),
      uncollected: collectionWatch.uncollected(),
      openIncidents: traffic.alerts.openCounts(),
      lateArrivals: arrivalWatch.late(),
      lastBackupAt: traffic.backups.last()?.begunAt,
      backups: backupFigures(traffic.backups, clock.now()),
      retention: retention.figures,
      areDeliveriesHeld: holdWatch.current() !== undefined,
    });
  };
}
