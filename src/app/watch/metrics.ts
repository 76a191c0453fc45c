/** Figures for monitoring, in the text form that Prometheus reads. Nothing in them is secret, but they name companies. */
import type { NoRoom, RefusedUploads } from "../../exchange/uploads/intake.ts";
import type { RemoteStatistics } from "../../endpoints/remote/remote-deps.ts";
import type { PipelineStatistics } from "../../inbound/pipeline-statistics.ts";
import type { StoreErrorKind } from "../../lib/store-error.ts";
import type { TargetStatistics } from "../../outbound/target-statistics.ts";

export interface StoreFigures {
  readonly damage: string | undefined;
  count(kind: StoreErrorKind): number;
}

export interface MetricsSource {
  readonly statistics: () => PipelineStatistics;
  readonly refusedUploads: () => readonly RefusedUploads[];
  readonly noRoom: () => readonly NoRoom[];
  readonly connections: () => Readonly<Record<string, number>>;
  /** Discrepancies found by the last verification of the ledger, undefined before the first. */
  readonly discrepancies: () => number | undefined;
  readonly isReady: () => boolean;
  readonly store: () => StoreFigures;
  readonly targets: () => readonly TargetStatistics[];
  readonly remotes: () => readonly RemoteStatistics[];
  /** Files that were not collected in time, by company; only of those where that is watched. */
  readonly uncollected: () => ReadonlyMap<string, number>;
}

interface Sample {
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
}

function escapeLabel(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

function line(name: string, { labels = {}, value }: Sample): string {
  const inner = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${inner.length === 0 ? "" : `{${inner.join(",")}}`} ${value}`;
}

function metric(name: string, type: "gauge" | "counter", help: string, samples: readonly Sample[]): string {
  if (samples.length === 0) return "";
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map((sample) => line(name, sample)),
    "",
  ].join("\n");
}

const outcomeLabels = {
  delivered: "delivered",
  later: "failed",
  dead: "dead",
  nameTaken: "name_taken",
  dropped: "dropped",
  postponed: "postponed",
} as const;

function attemptSamples(targets: readonly TargetStatistics[]): Sample[] {
  return targets.flatMap(({ company, target, attempts }) =>
    Object.entries(outcomeLabels).map(([kind, outcome]) => ({
      labels: { company, target, outcome },
      value: attempts[kind as keyof typeof outcomeLabels],
    })),
  );
}

function outboundMetrics(targets: readonly TargetStatistics[]): string[] {
  const each = (figureOf: (target: TargetStatistics) => number): Sample[] =>
    targets.map((one) => ({ labels: { company: one.company, target: one.target }, value: figureOf(one) }));
  return [
    metric(
      "dropgate_deliveries_open",
      "gauge",
      "Deliveries that wait for an attempt, or behind another of the same stop.",
      each(({ open }) => open),
    ),
    metric(
      "dropgate_deliveries_dead",
      "gauge",
      "Deliveries that are given up until somebody asks for them again.",
      each(({ dead }) => dead),
    ),
    metric(
      "dropgate_deliveries_oldest_seconds",
      "gauge",
      "Age of the oldest open delivery.",
      each(({ oldestAgeMs }) => Math.round(oldestAgeMs / 1000)),
    ),
    metric(
      "dropgate_target_paused",
      "gauge",
      "1 while deliveries pause because the target fails.",
      each(({ isPaused }) => (isPaused ? 1 : 0)),
    ),
    metric(
      "dropgate_delivery_attempts_total",
      "counter",
      "Attempts at deliveries since the start, by outcome.",
      attemptSamples(targets),
    ),
  ];
}

function remoteMetrics(remotes: readonly RemoteStatistics[]): string[] {
  const each = (figureOf: (remote: RemoteStatistics) => number): Sample[] =>
    remotes.map((one) => ({ labels: { company: one.company, remote: one.remote }, value: figureOf(one) }));
  return [
    metric(
      "dropgate_remote_files_total",
      "counter",
      "Files taken from a remote since the start.",
      each(({ filesTaken }) => filesTaken),
    ),
    metric(
      "dropgate_remote_failures_total",
      "counter",
      "Polls of a remote since the start that ended with a fault.",
      each(({ failures }) => failures),
    ),
    metric(
      "dropgate_remote_failing",
      "gauge",
      "1 while the last poll of a remote ended with a fault, or each download of some of its files fails.",
      each(({ isFailing }) => (isFailing ? 1 : 0)),
    ),
    metric(
      "dropgate_remote_last_success_seconds",
      "gauge",
      "When the last poll of a remote ended without a fault, in seconds since 1970; 0 before the first.",
      each(({ lastSuccessAt = 0 }) => Math.floor(lastSuccessAt / 1000)),
    ),
  ];
}

function heldMetrics(held: PipelineStatistics["held"]): string[] {
  return [
    metric(
      "dropgate_files_held",
      "gauge",
      "Files that cannot be read or decided about at the moment, by reason, and the later files of their stops (kept_back).",
      held.flatMap(({ company, counts, keptBack }) =>
        [...Object.entries(counts), ["kept_back", keptBack] as const].map(([reason, value]) => ({
          labels: { company, reason },
          value,
        })),
      ),
    ),
    metric(
      "dropgate_files_held_oldest_age_seconds",
      "gauge",
      "How long the oldest of them has been held.",
      held.map(({ company, oldestMs }) => ({ labels: { company }, value: Math.round(oldestMs / 1000) })),
    ),
  ];
}

const storeFaultKinds = ["busy", "unavailable", "damaged", "unfit", "refused"] as const;

function storeMetrics({ damage, count }: StoreFigures): string[] {
  return [
    metric("dropgate_database_damaged", "gauge", "1 once damage of the database was found.", [
      { value: damage === undefined ? 0 : 1 },
    ]),
    metric(
      "dropgate_database_faults_total",
      "counter",
      "Errors of the database since the start, by kind.",
      storeFaultKinds.map((kind) => ({ labels: { kind }, value: count(kind) })),
    ),
  ];
}

function intakeMetrics({ refusedUploads, noRoom }: MetricsSource): string[] {
  return [
    metric(
      "dropgate_uploads_refused_total",
      "counter",
      "Uploads refused since the start for lack of space on the disk or for the number of files that wait.",
      refusedUploads().map(({ company, reason, count }) => ({
        labels: { company, reason: reason === "noSpace" ? "no_space" : "too_many_waiting" },
        value: count,
      })),
    ),
    metric("dropgate_intake_stopped", "gauge", "1 while no more files are taken for lack of room.", [
      { value: noRoom().length > 0 ? 1 : 0 },
    ]),
  ];
}

/** Renders all metrics as they are at this moment. */
export function renderMetrics(source: MetricsSource): string {
  const { decided, waiting, unfiled, held } = source.statistics();
  const discrepancies = source.discrepancies();
  return [
    metric("dropgate_ready", "gauge", "1 while the last self-check was fine.", [
      { value: source.isReady() ? 1 : 0 },
    ]),
    metric(
      "dropgate_files_waiting",
      "gauge",
      "Files that wait to be applied or refused, or to be filed away.",
      waiting.map(({ company, count }) => ({ labels: { company }, value: count })),
    ),
    metric(
      "dropgate_files_decided_total",
      "counter",
      "Files decided since the start, by outcome.",
      decided.map(({ company, state, count }) => ({ labels: { company, state }, value: count })),
    ),
    ...heldMetrics(held),
    ...storeMetrics(source.store()),
    ...intakeMetrics(source),
    metric("dropgate_files_unfiled", "gauge", "Decided files whose move and receipt are still to be done.", [
      { value: unfiled },
    ]),
    metric(
      "dropgate_ledger_discrepancies",
      "gauge",
      "Discrepancies that the last verification of the ledger found.",
      discrepancies === undefined ? [] : [{ value: discrepancies }],
    ),
    ...outboundMetrics(source.targets()),
    ...remoteMetrics(source.remotes()),
    metric(
      "dropgate_outbound_uncollected_files",
      "gauge",
      "Files in outbound/ that hosts have not collected within outbound.collectWithinHours.",
      [...source.uncollected()].map(([company, value]) => ({ labels: { company }, value })),
    ),
    metric(
      "dropgate_connections",
      "gauge",
      "Open connections.",
      Object.entries(source.connections()).map(([endpoint, value]) => ({ labels: { endpoint }, value })),
    ),
    metric("dropgate_resident_memory_bytes", "gauge", "Resident memory.", [
      { value: process.memoryUsage.rss() },
    ]),
    metric("dropgate_uptime_seconds", "gauge", "Seconds since the start.", [
      { value: Math.floor(process.uptime()) },
    ]),
  ].join("");
}
