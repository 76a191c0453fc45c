/** Figures for monitoring, in the text form that Prometheus reads. Nothing in them is secret, but they name companies. */
import type { NoRoom, RefusedUploads } from "../../exchange/uploads/intake.ts";
import type { RemoteStatistics } from "../../endpoints/remote/remote-deps.ts";
import type { PipelineStatistics } from "../../inbound/pipeline.ts";
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
  /** When the last backup was begun, milliseconds UTC; undefined before the first. */
  readonly lastBackupAt: () => number | undefined;
  /** Whether deliveries are held since a restore. */
  readonly areDeliveriesHeld: () => boolean;
}

type Labels = Readonly<Record<string, string>>;

interface Sample {
  readonly labels?: Labels;
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

function gauge(name: string, help: string, figure: readonly Sample[] | number): string {
  return metric(name, "gauge", help, typeof figure === "number" ? [{ value: figure }] : figure);
}

function counter(name: string, help: string, samples: readonly Sample[]): string {
  return metric(name, "counter", help, samples);
}

/** Makes samples of one figure of each. */
function sampler<One>(all: readonly One[], labelsOf: (one: One) => Labels) {
  return (figureOf: (one: One) => number): Sample[] =>
    all.map((one) => ({ labels: labelsOf(one), value: figureOf(one) }));
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
  const each = sampler(targets, ({ company, target }) => ({ company, target }));
  return [
    gauge(
      "dropgate_deliveries_open",
      "Deliveries that wait for an attempt, or behind another of the same stop.",
      each(({ open }) => open),
    ),
    gauge(
      "dropgate_deliveries_dead",
      "Deliveries that are given up until somebody asks for them again.",
      each(({ dead }) => dead),
    ),
    gauge(
      "dropgate_deliveries_oldest_seconds",
      "Age of the oldest open delivery.",
      each(({ oldestAgeMs }) => Math.round(oldestAgeMs / 1000)),
    ),
    gauge(
      "dropgate_target_paused",
      "1 while deliveries pause because the target fails.",
      each(({ isPaused }) => (isPaused ? 1 : 0)),
    ),
    counter(
      "dropgate_delivery_attempts_total",
      "Attempts at deliveries since the start, by outcome.",
      attemptSamples(targets),
    ),
  ];
}

function remoteMetrics(remotes: readonly RemoteStatistics[]): string[] {
  const each = sampler(remotes, ({ company, remote }) => ({ company, remote }));
  return [
    counter(
      "dropgate_remote_files_total",
      "Files taken from a remote since the start.",
      each(({ filesTaken }) => filesTaken),
    ),
    counter(
      "dropgate_remote_failures_total",
      "Polls of a remote since the start that ended with a fault.",
      each(({ failures }) => failures),
    ),
    gauge(
      "dropgate_remote_failing",
      "1 while the last poll of a remote ended with a fault, or each download of some of its files fails.",
      each(({ isFailing }) => (isFailing ? 1 : 0)),
    ),
    gauge(
      "dropgate_remote_last_success_seconds",
      "When the last poll of a remote ended without a fault, in seconds since 1970; 0 before the first.",
      each(({ lastSuccessAt = 0 }) => Math.floor(lastSuccessAt / 1000)),
    ),
  ];
}

function heldMetrics(held: PipelineStatistics["held"]): string[] {
  return [
    gauge(
      "dropgate_files_held",
      "Files that cannot be read or decided about at the moment, by reason, and the later files of their stops (kept_back).",
      held.flatMap(({ company, counts, keptBack }) =>
        [...Object.entries(counts), ["kept_back", keptBack] as const].map(([reason, value]) => ({
          labels: { company, reason },
          value,
        })),
      ),
    ),
    gauge(
      "dropgate_files_held_oldest_age_seconds",
      "How long the oldest of them has been held.",
      held.map(({ company, oldestMs }) => ({ labels: { company }, value: Math.round(oldestMs / 1000) })),
    ),
  ];
}

const storeFaultKinds = ["busy", "unavailable", "damaged", "unfit", "refused"] as const;

function storeMetrics({ damage, count }: StoreFigures): string[] {
  return [
    gauge(
      "dropgate_database_damaged",
      "1 once damage of the database was found.",
      damage === undefined ? 0 : 1,
    ),
    counter(
      "dropgate_database_faults_total",
      "Errors of the database since the start, by kind.",
      storeFaultKinds.map((kind) => ({ labels: { kind }, value: count(kind) })),
    ),
  ];
}

function intakeMetrics({ refusedUploads, noRoom }: MetricsSource): string[] {
  return [
    counter(
      "dropgate_uploads_refused_total",
      "Uploads refused since the start for lack of space on the disk or for the number of files that wait.",
      refusedUploads().map(({ company, reason, count }) => ({
        labels: { company, reason: reason === "noSpace" ? "no_space" : "too_many_waiting" },
        value: count,
      })),
    ),
    gauge(
      "dropgate_intake_stopped",
      "1 while no more files are taken for lack of room.",
      noRoom().length > 0 ? 1 : 0,
    ),
  ];
}

/** Renders all metrics as they are at this moment. */
export function renderMetrics(source: MetricsSource): string {
  const { decided, waiting, unfiled, held } = source.statistics();
  const discrepancies = source.discrepancies();
  return [
    gauge("dropgate_ready", "1 while the last self-check was fine.", source.isReady() ? 1 : 0),
    gauge(
      "dropgate_files_waiting",
      "Files that wait to be applied or refused, or to be filed away.",
      waiting.map(({ company, count }) => ({ labels: { company }, value: count })),
    ),
    counter(
      "dropgate_files_decided_total",
      "Files decided since the start, by outcome.",
      decided.map(({ company, state, count }) => ({ labels: { company, state }, value: count })),
    ),
    ...heldMetrics(held),
    ...storeMetrics(source.store()),
    ...intakeMetrics(source),
    gauge("dropgate_files_unfiled", "Decided files whose move and receipt are still to be done.", unfiled),
    gauge(
      "dropgate_ledger_discrepancies",
      "Discrepancies that the last verification of the ledger found.",
      discrepancies ?? [],
    ),
    ...outboundMetrics(source.targets()),
    ...remoteMetrics(source.remotes()),
    gauge(
      "dropgate_outbound_uncollected_files",
      "Files in outbound/ that hosts have not collected within outbound.collectWithinHours.",
      [...source.uncollected()].map(([company, value]) => ({ labels: { company }, value })),
    ),
    gauge(
      "dropgate_backup_last_success_timestamp_seconds",
      "When the last backup of this state was begun, in seconds since 1970; 0 before the first.",
      Math.floor((source.lastBackupAt() ?? 0) / 1000),
    ),
    gauge(
      "dropgate_deliveries_held",
      "1 while deliveries are held since a restore.",
      source.areDeliveriesHeld() ? 1 : 0,
    ),
    gauge(
      "dropgate_connections",
      "Open connections.",
      Object.entries(source.connections()).map(([endpoint, value]) => ({ labels: { endpoint }, value })),
    ),
    gauge("dropgate_resident_memory_bytes", "Resident memory.", process.memoryUsage.rss()),
    gauge("dropgate_uptime_seconds", "Seconds since the start.", Math.floor(process.uptime())),
  ].join("");
}
