import { choice, integer, section, size } from "../reader/setting.ts";

export const nameRules = ["strict", "lenient"] as const;
export const lateFileRules = ["refuse", "apply"] as const;

const rules = {
  names: choice(
    "strict refuses files whose name is not <stopnumber>_CCYYMMDD_HHMMSS.xml (952); lenient takes every .xml file, those without a time in the order of arrival.",
    nameRules,
    { default: "strict" },
  ),
  lateFiles: choice(
    "What happens to a file that is older than one already applied for the same stop: refuse it as superseded (954), or apply it.",
    lateFileRules,
    { default: "refuse" },
  ),
};

const completeness = {
  settleMs: integer(
    "A file in a watched folder is complete when size, time and inode are the same in two scans this far apart. Uploads over SFTP are complete when they are closed and do not wait.",
    { default: 2_000, range: [0, 600_000] },
  ),
  incompleteGraceMs: integer(
    "How long a file that is cut off at its end is read again before it is refused.",
    { default: 600_000, range: [0, 86_400_000] },
  ),
  giveUpAfterMs: integer(
    "How long a file that cannot be read is tried before it is refused; it keeps back the later files of its stop meanwhile. When dropgate itself is at fault (its database, its disk, its limits), files are held as long as that lasts, and /readyz is 503.",
    { default: 3_600_000, range: [1_000, 604_800_000] },
  ),
  scanMs: integer(
    "Time between two scans of each folder, which find what watch events missed. The companies have their turns spread over it; an empty inbound/ whose times have not changed is listed once a minute only.",
    { default: 10_000, range: [100, 3_600_000] },
  ),
  unfinishedReportAfterMs: integer(
    "Age at which an unfinished file (.part, .tmp and the like) is reported in the log.",
    { default: 86_400_000, range: [60_000, 31_536_000_000] },
  ),
  partialKeepMs: integer("How long the part of a broken upload is kept, so that the client can resume it.", {
    default: 86_400_000,
    range: [60_000, 31_536_000_000],
  }),
};

const limits = {
  maxWaiting: integer(
    "Waiting files of one company; further uploads are refused, and files of folders and remotes stay where they are, until some are applied.",
    { default: 100_000, range: [1, 10_000_000] },
  ),
  maxFileBytes: size("The largest stop file; a larger one is refused.", {
    default: 50 * 2 ** 20,
    range: [1_000, 2 ** 30],
  }),
  maxStops: integer("Stops in one document.", { default: 500, range: [1, 100_000] }),
  maxDetails: integer("Stop details in one document.", { default: 20_000, range: [1, 1_000_000] }),
  maxDepth: integer("Depth of elements in a document.", { default: 64, range: [8, 256] }),
  maxTextBytes: size("The largest single text in a document, such as an embedded image.", {
    default: 10_000_000,
    range: [1_000, 2 ** 30],
  }),
};

const work = {
  groupSize: integer(
    "Files that are committed together, with one fsync; each still succeeds or fails alone.",
    { default: 64, range: [1, 10_000] },
  ),
  parserThreads: integer(
    "Threads that read and validate documents; up to three more serve what waits while they are blocked.",
    { default: 1, range: [1, 64], needsRestart: true },
  ),
  parserMemoryMb: integer(
    "Memory (MiB) that one parser thread may take; the document that takes more is refused.",
    { default: 512, range: [64, 4_096], needsRestart: true },
  ),
  parserTimeoutMs: integer("How long reading one document may take before it is refused.", {
    default: 30_000,
    range: [100, 600_000],
  }),
};

export const inboundSection = section("How stop files are taken in, checked and applied.", {
  ...rules,
  ...completeness,
  ...limits,
  ...work,
});
