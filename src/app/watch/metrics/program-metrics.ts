/** Rows of the table of metrics: the process and its configuration. */
import { alertKindNames } from "../../../domain/alerts/alert-kinds.ts";
import { loopLagBounds } from "../loop-lag.ts";
import { flag, type Metric, one, seconds } from "./metric.ts";

const countedIn = "src/app/daemon/read-figures.ts";

export const programMetrics: readonly Metric[] = [
  {
    name: "dropgate_build_info",
    type: "gauge",
    help: "Always 1; the labels say what runs.",
    labels: ["version", "commit", "node"],
    countedIn: "src/lib/program-version.ts",
    atStart: "1",
    samples: ({ program: { version, commit, node } }) => [[[version, commit, node], 1]],
  },
  {
    name: "dropgate_ready",
    type: "gauge",
    help: "1 while /readyz answers 200.",
    labels: [],
    countedIn: "src/app/watch/health.ts",
    atStart: "1",
    samples: ({ program }) => one(flag(program.isReady)),
  },
  {
    name: "dropgate_config_last_reload_successful",
    type: "gauge",
    help: "0 while the last reload of the configuration has failed; the one before it is in force then.",
    labels: [],
    countedIn: "src/app/daemon/run-daemon.ts",
    atStart: "1",
    samples: ({ program }) => one(flag(program.isReloadGood)),
  },
  {
    name: "dropgate_config_last_reload_success_timestamp_seconds",
    type: "gauge",
    help: "When the configuration in force was read: at the last reload, or at the start.",
    labels: [],
    countedIn: "src/app/daemon/daemon.ts",
    atStart: "the time of the start",
    samples: ({ program }) => one(seconds(program.configReadAt)),
  },
  {
    name: "dropgate_open_incidents",
    type: "gauge",
    help: "Incidents that alerts tell of, while they are open.",
    labels: ["kind"],
    countedIn: "src/app/alerts/alert-watch.ts",
    samples: ({ openIncidents }) => alertKindNames.map((kind) => [[kind], openIncidents.get(kind) ?? 0]),
  },
  {
    name: "dropgate_event_loop_lag_seconds",
    type: "histogram",
    help: "How late a timer runs that is due ten times a second: all clients wait so long.",
    labels: [],
    buckets: loopLagBounds,
    countedIn: "src/app/watch/loop-lag.ts",
    atStart: "as measured",
    samples: ({ program }) => one(program.loopLags),
  },
  {
    name: "process_cpu_seconds_total",
    type: "counter",
    help: "Processor time of all threads.",
    labels: [],
    countedIn,
    atStart: "as measured",
    samples: ({ program }) => one(program.cpuSeconds),
  },
  {
    name: "process_resident_memory_bytes",
    type: "gauge",
    help: "Resident memory.",
    labels: [],
    countedIn,
    atStart: "as measured",
    samples: ({ program }) => one(program.residentBytes),
  },
  {
    name: "process_start_time_seconds",
    type: "gauge",
    help: "When the process started, in seconds since 1970.",
    labels: [],
    countedIn,
    atStart: "the time of the start",
    samples: ({ program }) => one(program.startedAt / 1000),
  },
];
