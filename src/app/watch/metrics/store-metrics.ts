/** Rows of the table of metrics: the database and the disk. */
import { commitBounds } from "../../../store/database/commit-figures.ts";
import { flag, type Metric, one, seconds } from "./metric.ts";

const sizes = "src/app/daemon/read-figures.ts";
const commits = "src/store/database/commit-figures.ts";
const backups = "src/app/watch/backup-schedule.ts";
const space = "src/exchange/uploads/disk-space.ts";

export const storeMetrics: readonly Metric[] = [
  {
    name: "dropgate_database_damaged",
    type: "gauge",
    help: "1 once damage of the database was found.",
    labels: [],
    countedIn: "src/store/database/store-condition.ts",
    samples: ({ database }) => one(flag(database.damage !== undefined)),
  },
  {
    name: "dropgate_database_faults_total",
    type: "counter",
    help: "Errors of the database since the start, by kind.",
    labels: ["kind"],
    countedIn: "src/store/database/store-condition.ts",
    samples: ({ database }) => [...database.faults].map(([kind, count]) => [[kind], count]),
  },
  {
    name: "dropgate_database_size_bytes",
    type: "gauge",
    help: "Size of the database file.",
    labels: [],
    countedIn: sizes,
    atStart: "as measured",
    samples: ({ databaseBytes }) => one(databaseBytes.file),
  },
  {
    name: "dropgate_database_wal_size_bytes",
    type: "gauge",
    help: "Size of the write-ahead log of the database.",
    labels: [],
    countedIn: sizes,
    atStart: "as measured",
    samples: ({ databaseBytes }) => one(databaseBytes.wal),
  },
  {
    name: "dropgate_commit_units_total",
    type: "counter",
    help: "Units of work committed since the start; units that wait at the same moment share a commit.",
    labels: [],
    countedIn: commits,
    atStart: "what the start itself has written",
    samples: ({ database }) => one(database.commitUnits),
  },
  {
    name: "dropgate_commit_duration_seconds",
    type: "histogram",
    help: "Duration of a transaction, from its begin to the end of its sync.",
    labels: [],
    buckets: commitBounds,
    countedIn: commits,
    atStart: "what the start itself has written",
    samples: ({ database }) => one(database.commits),
  },
  {
    name: "dropgate_backup_last_success_timestamp_seconds",
    type: "gauge",
    help: "When the last backup of this state was begun; 0 before the first.",
    labels: [],
    countedIn: backups,
    samples: (figures) => one(seconds(figures.lastBackupAt)),
  },
  {
    name: "dropgate_backup_failing",
    type: "gauge",
    help: "1 while the scheduled backup fails, since the last one that was made.",
    labels: [],
    countedIn: backups,
    samples: (figures) => one(flag(figures.backups.isFailing)),
  },
  {
    name: "dropgate_backup_idle_seconds",
    type: "gauge",
    help: "How long the scheduled backup that is being made has made no progress; 0 while none is made.",
    labels: [],
    countedIn: backups,
    samples: (figures) => one(seconds(figures.backups.idleMs)),
  },
  {
    name: "dropgate_retention_pruned_total",
    type: "counter",
    help: "What was removed by the daemon because of its age since the start, by kind.",
    labels: ["kind"],
    countedIn: "src/app/retention/retention.ts",
    samples: ({ retention }) => [...retention.pruned].map(([kind, count]) => [[kind], count]),
  },
  {
    name: "dropgate_retention_paused",
    type: "gauge",
    help: "1 while nothing is removed because of its age, because the clock has jumped ahead.",
    labels: [],
    countedIn: "src/app/retention/retention.ts",
    samples: ({ retention }) => one(flag(retention.isPaused)),
  },
  {
    name: "dropgate_disk_free_bytes",
    type: "gauge",
    help: "Free space where the files of the companies lie.",
    labels: [],
    countedIn: space,
    atStart: "as measured",
    samples: (figures) => one(figures.space.freeBytes),
  },
  {
    name: "dropgate_disk_min_free_bytes",
    type: "gauge",
    help: "Free space below which no more files are taken (storage.minFree).",
    labels: [],
    countedIn: space,
    atStart: "as configured",
    samples: (figures) => one(Math.round(figures.space.minFreeBytes)),
  },
];
