/** Rows of the table of metrics: deliveries and exports on their way out, and remotes. */
import { lagBounds, type TargetStatistics } from "../../../outbound/target-statistics.ts";
import type { RemoteStatistics } from "../../../endpoints/remote/remote-deps.ts";
import type { ExportTimes } from "../../../store/outbound/export-schedules.ts";
import type { Figures } from "./figures.ts";
import { eachCompany, flag, type Metric, one, type Sample, seconds } from "./metric.ts";

const statistics = "src/outbound/target-statistics.ts";
const remoteHealth = "src/endpoints/remote/remote-health.ts";
const ofTarget = ["company", "target"] as const;
const ofRemote = ["company", "remote"] as const;
const ofExport = ["company", "export"] as const;

const outcomeLabels = {
  delivered: "delivered",
  later: "failed",
  dead: "dead",
  nameTaken: "name_taken",
  dropped: "dropped",
  postponed: "postponed",
} as const;

function eachTarget<Value>(
  { targets }: Figures,
  read: (target: TargetStatistics) => Value,
): readonly Sample<Value>[] {
  return targets.map((target) => [[target.company, target.target], read(target)]);
}

function eachRemote(
  { remotes }: Figures,
  read: (remote: RemoteStatistics) => number,
): readonly Sample<number>[] {
  return remotes.map((remote) => [[remote.company, remote.remote], read(remote)]);
}

function eachExport({ stored }: Figures, read: (times: ExportTimes) => number): readonly Sample<number>[] {
  const codes = new Map(stored.companies.map(({ id, code }) => [id, code]));
  return stored.exports.map((times) => [[codes.get(times.companyId) ?? "", times.name], read(times)]);
}

function attemptSamples({ targets }: Figures): readonly Sample<number>[] {
  return targets.flatMap(({ company, target, attempts }) =>
    Object.entries(outcomeLabels).map(
      ([kind, outcome]): Sample<number> => [
        [company, target, outcome],
        attempts[kind as keyof typeof outcomeLabels],
      ],
    ),
  );
}

const targetMetrics: readonly Metric[] = [
  {
    name: "dropgate_deliveries_open",
    type: "gauge",
    help: "Deliveries that wait for an attempt, or behind another of the same stop.",
    labels: ofTarget,
    countedIn: "src/store/outbound/outbound-targets.ts",
    samples: (figures) => eachTarget(figures, ({ open }) => open),
  },
  {
    name: "dropgate_deliveries_dead",
    type: "gauge",
    help: "Deliveries that are given up until somebody asks for them again.",
    labels: ofTarget,
    countedIn: "src/store/outbound/outbound-targets.ts",
    samples: (figures) => eachTarget(figures, ({ dead }) => dead),
  },
  {
    name: "dropgate_deliveries_oldest_age_seconds",
    type: "gauge",
    help: "Age of the oldest open delivery.",
    labels: ofTarget,
    countedIn: statistics,
    samples: (figures) => eachTarget(figures, ({ oldestAgeMs }) => Math.round(oldestAgeMs / 1000)),
  },
  {
    name: "dropgate_target_paused",
    type: "gauge",
    help: "1 while deliveries pause because the target fails.",
    labels: ofTarget,
    countedIn: statistics,
    samples: (figures) => eachTarget(figures, ({ isPaused }) => flag(isPaused)),
  },
  {
    name: "dropgate_target_paused_by_hand",
    type: "gauge",
    help: "1 while somebody has paused the target until somebody resumes it.",
    labels: ofTarget,
    countedIn: "src/store/outbound/hand-pauses.ts",
    samples: (figures) => eachTarget(figures, ({ isPausedByHand }) => flag(isPausedByHand)),
  },
  {
    name: "dropgate_delivery_attempts_total",
    type: "counter",
    help: "Attempts at deliveries since the start, by outcome.",
    labels: [...ofTarget, "outcome"],
    countedIn: statistics,
    samples: attemptSamples,
  },
  {
    name: "dropgate_delivery_lag_seconds",
    type: "histogram",
    help: "From when a delivery was due, or first tried, to its end at the receiver.",
    labels: ofTarget,
    buckets: lagBounds,
    countedIn: statistics,
    samples: (figures) => eachTarget(figures, ({ lags }) => lags),
  },
  {
    name: "dropgate_outbound_uncollected_files",
    type: "gauge",
    help: "Files in outbound/ that hosts have not collected within outbound.collectWithinHours.",
    labels: ["company"],
    countedIn: "src/app/watch/collection-watch.ts",
    samples: (figures) => eachCompany(figures, (_, code) => figures.uncollected.get(code) ?? 0),
  },
];

const heldMetric: Metric = {
  name: "dropgate_deliveries_held",
  type: "gauge",
  help: "1 while deliveries are held since a restore.",
  labels: [],
  countedIn: "src/app/watch/delivery-hold-watch.ts",
  samples: (figures) => one(flag(figures.areDeliveriesHeld)),
};

const exportMetrics: readonly Metric[] = [
  {
    name: "dropgate_export_last_timestamp_seconds",
    type: "gauge",
    help: "When the export was last made; 0 before the first time.",
    labels: ofExport,
    countedIn: "src/store/outbound/export-schedules.ts",
    samples: (figures) => eachExport(figures, ({ lastAt }) => seconds(lastAt)),
  },
  {
    name: "dropgate_export_next_timestamp_seconds",
    type: "gauge",
    help: "When the export is due next; 0 when it is not planned any more.",
    labels: ofExport,
    countedIn: "src/store/outbound/export-schedules.ts",
    atStart: "as its schedule says",
    samples: (figures) => eachExport(figures, ({ nextAt }) => seconds(nextAt)),
  },
];

const remoteMetrics: readonly Metric[] = [
  {
    name: "dropgate_remote_files_total",
    type: "counter",
    help: "Files taken from a remote since the start.",
    labels: ofRemote,
    countedIn: remoteHealth,
    samples: (figures) => eachRemote(figures, ({ filesTaken }) => filesTaken),
  },
  {
    name: "dropgate_remote_failures_total",
    type: "counter",
    help: "Polls of a remote since the start that ended with a fault.",
    labels: ofRemote,
    countedIn: remoteHealth,
    samples: (figures) => eachRemote(figures, ({ failures }) => failures),
  },
  {
    name: "dropgate_remote_failing",
    type: "gauge",
    help: "1 while the last poll of a remote ended with a fault, or each download of some of its files fails.",
    labels: ofRemote,
    countedIn: remoteHealth,
    samples: (figures) => eachRemote(figures, ({ isFailing }) => flag(isFailing)),
  },
  {
    name: "dropgate_remote_paused_by_hand",
    type: "gauge",
    help: "1 while somebody has paused the remote until somebody resumes it.",
    labels: ofRemote,
    countedIn: "src/store/outbound/hand-pauses.ts",
    samples: (figures) => eachRemote(figures, ({ isPausedByHand }) => flag(isPausedByHand)),
  },
  {
    name: "dropgate_remote_last_success_timestamp_seconds",
    type: "gauge",
    help: "When the last poll of a remote ended without a fault; 0 before the first since the start.",
    labels: ofRemote,
    countedIn: remoteHealth,
    samples: (figures) => eachRemote(figures, ({ lastSuccessAt }) => seconds(lastSuccessAt)),
  },
];

export const outboundMetrics: readonly Metric[] = [
  ...targetMetrics,
  heldMetric,
  ...exportMetrics,
  ...remoteMetrics,
];
