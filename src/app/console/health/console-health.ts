/** What the daemon knows of itself, for the page of health. */
import type {
  HealthFacts,
  HealthSource,
  ShownFinding,
  ShownVerification,
} from "../../../endpoints/http/console/pages/health/health-view.ts";
import { unlessStoreFault } from "../../../lib/store-error.ts";
import type { Histogram } from "../../../lib/histogram.ts";
import type { RecentTroubles } from "../../../lib/logs/recent-troubles.ts";
import { readVersion } from "../../../lib/program-version.ts";
import { dayMs } from "../../../lib/durations.ts";
import { tellNodes } from "../../../store/cluster/told-nodes.ts";
import { findLastVerification } from "../../../store/database/last-verification.ts";
import type { Parts } from "../../daemon/daemon-parts.ts";
import type { BackupSchedule } from "../../watch/backup-schedule.ts";
import type { HealthJob } from "./health-job.ts";

export interface HealthJobs {
  readonly check: HealthJob<readonly ShownFinding[]>;
  /** Of how the state grows, measured again and again. */
  readonly growth: HealthJob<readonly ShownFinding[]>;
  readonly verification: HealthJob<ShownVerification>;
}

export interface ConsoleHealthDeps {
  readonly parts: Pick<
    Parts,
    | "store"
    | "clock"
    | "health"
    | "pipeline"
    | "intake"
    | "loopLag"
    | "certificates"
    | "configRead"
    | "config"
    | "companies"
    | "cluster"
  >;
  readonly backups: Pick<BackupSchedule, "last" | "failure" | "running">;
  readonly jobs: HealthJobs;
  readonly troubles: RecentTroubles;
}

/** The bound, in milliseconds, that so many of the values did not exceed; undefined when there is none. */
function boundOf({ bounds, cumulated }: Pick<Histogram, "bounds"> & { cumulated(): readonly number[] }) {
  const counts = cumulated();
  const total = counts.at(-1) ?? 0;
  if (total === 0) return undefined;
  const index = counts.findIndex((count) => count >= total * 0.99);
  const seconds = bounds[index] ?? bounds.at(-1);
  return seconds === undefined ? undefined : seconds * 1_000;
}

async function storeFacts({ store }: ConsoleHealthDeps["parts"]): Promise<HealthFacts["store"]> {
  const { condition, commits } = store;
  const sizes = await store.sizes().catch(unlessStoreFault);
  return {
    fileBytes: sizes?.file,
    walBytes: sizes?.wal,
    commits: commits.durations.cumulated().at(-1) ?? 0,
    damage: condition.damage,
  };
}

async function diskFacts({ intake }: ConsoleHealthDeps["parts"]): Promise<HealthFacts["disk"]> {
  // A disk that does not answer is told as such; the alerts say why.
  const room = await intake.space.room().catch(() => undefined);
  return room === undefined ? undefined : { freeBytes: room.freeBytes, minFreeBytes: room.minFreeBytes };
}

/** Of nodes that were stopped only those of the last days. */
const shownStoppedMs = 7 * dayMs;

async function nodeFacts({
  store,
  cluster,
  companies,
}: ConsoleHealthDeps["parts"]): Promise<HealthFacts["nodes"]> {
  if (store.leases === undefined) return undefined;
  const nodes = await tellNodes(store.leases);
  const own = nodes.find(({ incarnation }) => incarnation === cluster.incarnation);
  const shown = nodes.filter(({ state, silentMs }) => state !== "stopped" || silentMs < shownStoppedMs);
  return await Promise.all(
    shown.map(async (node) => {
      const { name, state, version, address, startedAt, seenAt, settings, companyIds } = node;
      const isThere = state === "working" || state === "draining";
      return {
        ...{ name, state, version, address, startedAt, seenAt, isThis: node === own },
        hasOtherSettings: isThere && own !== undefined && settings !== own.settings,
        companies: (await Promise.all(companyIds.map(companies.codeOf))).toSorted(),
      };
    }),
  );
}

function backupFacts({ backups, parts }: ConsoleHealthDeps): HealthFacts["backup"] {
  return {
    isScheduled: parts.config.backup.folder !== undefined,
    lastAt: backups.last()?.begunAt,
    failure: backups.failure()?.message,
    runningSince: backups.running()?.begunAt,
  };
}

/** Asks the store for one note alone. */
export function createConsoleHealth(deps: ConsoleHealthDeps): HealthSource {
  const { parts, jobs, troubles } = deps;
  const { health, pipeline, loopLag, certificates, configRead } = parts;
  return {
    beginCheck: () => jobs.check.begin(),
    async facts() {
      const { isReady, checks, messages } = health.current();
      const { waiting, unfiled } = pipeline.statistics();
      const { lags } = loopLag;
      return {
        version: readVersion(),
        startedAt: performance.timeOrigin,
        residentBytes: process.memoryUsage.rss(),
        ...{ isReady, selfChecks: checks, messages },
        threads: {
          parsers: parts.config.inbound.parserThreads,
          waitingFiles: waiting.reduce((sum, { count }) => sum + count, 0),
          unfiledFiles: unfiled,
          lateMs: boundOf({ bounds: lags.bounds, cumulated: () => lags.cumulated() }),
        },
        store: await storeFacts(parts),
        disk: await diskFacts(parts),
        certificates: [...certificates].map(([endpoint, expiresAt]) => ({ endpoint, expiresAt })),
        configuration: { readAt: configRead.at, isLastGood: configRead.isLastGood },
        backup: backupFacts(deps),
        check: jobs.check.state,
        growth: jobs.growth.state,
        verification: jobs.verification.state,
        lastVerified: await findLastVerification(parts.store.read),
        troubles: troubles.all,
        nodes: await nodeFacts(parts).catch(unlessStoreFault),
      };
    },
  };
}
