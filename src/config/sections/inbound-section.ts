import { choice, integer, section, size } from "../reader/setting.ts";

export const nameRules = ["strict", "lenient"] as const;
export const lateFileRules = ["refuse", "apply"] as const;

const rules = {
  names: choice(nameRules, {
    default: "strict",
    description:
      "strict refuses files whose name is not <stopnumber>_CCYYMMDD_HHMMSS.xml (952); lenient takes every .xml file, those without a time in the order of arrival.",
  }),
  lateFiles: choice(lateFileRules, {
    default: "refuse",
    description:
      "What happens to a file that is older than one already applied for the same stop: refuse it as superseded (954), or apply it.",
  }),
};

const completeness = {
  settleMs: integer({
    default: 2_000,
    range: [0, 600_000],
    description:
      "A file in a watched folder is complete when size, time and inode are the same in two scans this far apart. Uploads over SFTP are complete when they are closed and do not wait.",
  }),
  incompleteGraceMs: integer({
    default: 600_000,
    range: [0, 86_400_000],
    description: "How long a file that is cut off at its end is read again before it is refused.",
  }),
  giveUpAfterMs: integer({
    default: 3_600_000,
    range: [1_000, 604_800_000],
    description:
      "How long a file that cannot be read is tried before it is refused; it keeps back the later files of its stop meanwhile. When dropgate itself is at fault (its database, its disk, its limits), files are held as long as that lasts, and /readyz is 503.",
  }),
  scanMs: integer({
    default: 10_000,
    range: [100, 3_600_000],
    description:
      "Time between two scans of each folder, which find what watch events missed. The companies have their turns spread over it; an empty inbound/ whose times have not changed is listed once a minute only.",
  }),
  unfinishedReportAfterMs: integer({
    default: 86_400_000,
    range: [60_000, 31_536_000_000],
    description: "Age at which an unfinished file (.part, .tmp and the like) is reported in the log.",
  }),
  partialKeepMs: integer({
    default: 86_400_000,
    range: [60_000, 31_536_000_000],
    description: "How long the part of a broken upload is kept, so that the client can resume it.",
  }),
};

const limits = {
  maxWaiting: integer({
    default: 100_000,
    range: [1, 10_000_000],
    description:
      "Waiting files of one company; further uploads are refused, and files of folders and remotes stay where they are, until some are applied.",
  }),
  maxFileBytes: size({
    default: 50 * 2 ** 20,
    range: [1_000, 2 ** 30],
    description: "The largest stop file; a larger one is refused.",
  }),
  maxStops: integer({ default: 500, range: [1, 100_000], description: "Stops in one document." }),
  maxDetails: integer({
    default: 20_000,
    range: [1, 1_000_000],
    description: "Stop details in one document.",
  }),
  maxDepth: integer({
    default: 64,
    range: [8, 256],
    description: "Depth of elements in a document.",
  }),
  maxTextBytes: size({
    default: 10_000_000,
    range: [1_000, 2 ** 30],
    description: "The largest single text in a document, such as an embedded image.",
  }),
};

const work = {
  groupSize: integer({
    default: 64,
    range: [1, 10_000],
    description: "Files that are committed together, with one fsync; each still succeeds or fails alone.",
  }),
  parserThreads: integer({
    default: 1,
    range: [1, 64],
    needsRestart: true,
    description:
      "Threads that read and validate documents; up to three more serve what waits while they are blocked.",
  }),
  parserMemoryMb: integer({
    default: 512,
    range: [64, 4_096],
    needsRestart: true,
    description: "Memory (MiB) that one parser thread may take; the document that takes more is refused.",
  }),
  parserTimeoutMs: integer({
    default: 30_000,
    range: [100, 600_000],
    description: "How long reading one document may take before it is refused.",
  }),
};

export const inboundSection = section(
  { ...rules, ...completeness, ...limits, ...work },
  { description: "How stop files are taken in, checked and applied." },
);
