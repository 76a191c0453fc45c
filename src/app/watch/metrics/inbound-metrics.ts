/** Rows of the table of metrics: files and imports on their way in. */
import { decidedStates } from "../../../domain/files/file-state.ts";
import { type ReceivedFiles, receiptDelayBounds } from "../../../inbound/lanes/decision-figures.ts";
import { reasonCodeOf } from "../../../lib/errors.ts";
import type { Figures } from "./figures.ts";
import { eachCompany, flag, type Metric, one, type Sample, seconds } from "./metric.ts";

const uploadRefusals = { noSpace: "no_space", tooManyWaiting: "too_many_waiting" } as const;

const stallReasons = ["unreadable", "incomplete", "machine", "store", "internal"] as const;

function heldSamples({ stored, held }: Figures): readonly Sample<number>[] {
  const byCode = new Map(held.map((one) => [one.company, one]));
  return stored.companies.flatMap(({ code }): Sample<number>[] => {
    const found = byCode.get(code);
    return [
      ...stallReasons.map((reason): Sample<number> => [[code, reason], found?.counts[reason] ?? 0]),
      [[code, "kept_back"], found?.keptBack ?? 0],
    ];
  });
}

function oldestHeldSamples(figures: Figures): readonly Sample<number>[] {
  const byCode = new Map(figures.held.map(({ company, oldestMs }) => [company, oldestMs]));
  return eachCompany(figures, (_, code) => Math.round((byCode.get(code) ?? 0) / 1000));
}

function waitingSamples(
  figures: Figures,
  read: (waiting: Figures["pipeline"]["waiting"][number]) => number,
): readonly Sample<number>[] {
  const values = new Map(figures.pipeline.waiting.map((one) => [one.companyId, read(one)]));
  return eachCompany(figures, (id) => values.get(id) ?? 0);
}

function decidedSamples({ stored, pipeline }: Figures): readonly Sample<number>[] {
  return stored.companies.flatMap(({ id, code }) => {
    const counts = pipeline.decided.get(id);
    return decidedStates.map((state): Sample<number> => [[code, state], counts?.[state] ?? 0]);
  });
}

function refusedUploadSamples({ stored, refusedUploads }: Figures): readonly Sample<number>[] {
  const counts = new Map(refusedUploads.map(({ company, reason, count }) => [`${reason} ${company}`, count]));
  return stored.companies.flatMap(({ code }) =>
    Object.entries(uploadRefusals).map(
      ([reason, label]): Sample<number> => [[code, label], counts.get(`${reason} ${code}`) ?? 0],
    ),
  );
}

function waitingImportSamples(
  figures: Figures,
  read: (waiting: Figures["stored"]["waitingImports"][number]) => number,
): readonly Sample<number>[] {
  const values = new Map(figures.stored.waitingImports.map((one) => [one.companyId, read(one)]));
  return eachCompany(figures, (id) => values.get(id) ?? 0);
}

function receivedSamples(
  { pipeline }: Figures,
  read: (received: ReceivedFiles) => number,
): readonly Sample<number>[] {
  return [...pipeline.received].map(([channel, received]) => [[channel], read(received)]);
}

/** Files as far as their decision. */
const fileMetrics: readonly Metric[] = [
  {
    name: "dropgate_files_received_total",
    type: "counter",
    help: "Files that came since the start: uploads, those of folders and remotes, and recovered ones, which an earlier run left.",
    labels: ["channel"],
    countedIn: "src/inbound/lanes/decision-figures.ts",
    samples: (figures) => receivedSamples(figures, ({ files }) => files),
  },
  {
    name: "dropgate_files_received_bytes_total",
    type: "counter",
    help: "Their bytes.",
    labels: ["channel"],
    countedIn: "src/inbound/lanes/decision-figures.ts",
    samples: (figures) => receivedSamples(figures, ({ bytes }) => bytes),
  },
  {
    name: "dropgate_files_waiting",
    type: "gauge",
    help: "Files that wait to be applied or refused, or to be filed away.",
    labels: ["company"],
    countedIn: "src/inbound/present-files.ts",
    samples: (figures) => waitingSamples(figures, ({ count }) => count),
  },
  {
    name: "dropgate_files_waiting_oldest_age_seconds",
    type: "gauge",
    help: "How long the file has waited for its decision that came, or was retried, first; 0 when none waits.",
    labels: ["company"],
    countedIn: "src/inbound/present-files.ts",
    samples: (figures) => waitingSamples(figures, ({ oldestAgeMs }) => Math.round(oldestAgeMs / 1000)),
  },
  {
    name: "dropgate_files_decided_total",
    type: "counter",
    help: "Files decided since the start, by outcome.",
    labels: ["company", "state"],
    countedIn: "src/inbound/lanes/decision-figures.ts",
    samples: decidedSamples,
  },
  {
    name: "dropgate_files_refused_total",
    type: "counter",
    help: "Refused and superseded files since the start, by the code of their first reason.",
    labels: ["reason"],
    countedIn: "src/inbound/lanes/decision-figures.ts",
    samples: ({ pipeline }) =>
      [...pipeline.refused].map(([code, count]) => [[String(reasonCodeOf(code))], count]),
  },
  {
    name: "dropgate_files_last_applied_timestamp_seconds",
    type: "gauge",
    help: "When a file was last applied; 0 before the first. Kept over a restart.",
    labels: ["company"],
    countedIn: "src/app/watch/applied-watch.ts",
    samples: (figures) => eachCompany(figures, (id) => seconds(figures.lastAppliedAt.get(id))),
  },
  {
    name: "dropgate_expected_arrivals_late",
    type: "gauge",
    help: "Expectations of files (expectedArrivals) that were not met until their deadline, and are not met yet.",
    labels: ["company"],
    countedIn: "src/app/watch/arrival-watch.ts",
    samples: (figures) =>
      eachCompany(
        figures,
        (_, code) => figures.lateArrivals.filter(({ company }) => company.code === code).length,
      ),
  },
  {
    name: "dropgate_files_held",
    type: "gauge",
    help: "Files that cannot be read or decided about at the moment, by reason, and the later files of their stops (kept_back).",
    labels: ["company", "reason"],
    countedIn: "src/inbound/lanes/held-files.ts",
    samples: heldSamples,
  },
  {
    name: "dropgate_files_held_oldest_age_seconds",
    type: "gauge",
    help: "How long the oldest of them has been held.",
    labels: ["company"],
    countedIn: "src/inbound/lanes/held-files.ts",
    samples: oldestHeldSamples,
  },
];

export const inboundMetrics: readonly Metric[] = [
  ...fileMetrics,
  {
    name: "dropgate_files_unfiled",
    type: "gauge",
    help: "Decided files whose move and receipt are still to be done.",
    labels: [],
    countedIn: "src/inbound/places/filing-queue.ts",
    samples: ({ pipeline }) => one(pipeline.unfiled),
  },
  {
    name: "dropgate_receipt_delay_seconds",
    type: "histogram",
    help: "From the arrival of a file, for an upload its close, to its receipt; of one that is retried, from the retry.",
    labels: ["channel"],
    buckets: receiptDelayBounds,
    countedIn: "src/inbound/lanes/decision-figures.ts",
    samples: ({ pipeline }) => [...pipeline.receiptDelays].map(([channel, delays]) => [[channel], delays]),
  },
  {
    name: "dropgate_uploads_refused_total",
    type: "counter",
    help: "Uploads refused since the start for lack of space on the disk or for the number of files that wait.",
    labels: ["company", "reason"],
    countedIn: "src/exchange/uploads/intake.ts",
    samples: refusedUploadSamples,
  },
  {
    name: "dropgate_intake_stopped",
    type: "gauge",
    help: "1 while no more files are taken for lack of room.",
    labels: [],
    countedIn: "src/exchange/uploads/intake.ts",
    samples: ({ isIntakeStopped }) => one(flag(isIntakeStopped)),
  },
  {
    name: "dropgate_imports_waiting",
    type: "gauge",
    help: "Imports with loads that are still to be applied.",
    labels: ["company"],
    countedIn: "src/store/stops/imports.ts",
    samples: (figures) => waitingImportSamples(figures, ({ imports }) => imports),
  },
  {
    name: "dropgate_imports_waiting_oldest_age_seconds",
    type: "gauge",
    help: "How long the oldest of them has waited; 0 when none waits.",
    labels: ["company"],
    countedIn: "src/store/stops/imports.ts",
    samples: (figures) => waitingImportSamples(figures, ({ oldestAgeMs }) => Math.round(oldestAgeMs / 1000)),
  },
  {
    name: "dropgate_ledger_discrepancies",
    type: "gauge",
    help: "Discrepancies that the last verification of the ledger found, by the daemon or by a command. Kept over a restart.",
    labels: [],
    countedIn: "src/store/database/last-verification.ts",
    samples: ({ stored }) => one(stored.verification?.discrepancies ?? 0),
  },
  {
    name: "dropgate_ledger_last_verification_timestamp_seconds",
    type: "gauge",
    help: "When the last verification of the ledger ended; 0 before the first.",
    labels: [],
    countedIn: "src/store/database/last-verification.ts",
    samples: ({ stored }) => one(seconds(stored.verification?.at)),
  },
];
