import { operatorCode } from "../../../domain/alerts/audience.ts";
import type { Finding } from "../../../domain/alerts/incident.ts";
import type { NoRoomReason } from "../../../exchange/uploads/intake.ts";
import { sizeText } from "../../../lib/size-text.ts";
import type { Detector, Scan } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";

/** Longer than the time between two scans: a lack of room may be over within seconds. */
const lately = 120_000;

type UploadScan = Scan<"uploadsRefused">;

interface Reason {
  /** Whether there is no room at this moment, in words. */
  readonly now: (scan: UploadScan) => Promise<string | undefined>;
  /** What there was, when there is room again. */
  readonly past: string;
  readonly remedy: (scan: UploadScan) => string;
}

/** Uploads that were refused wait at their hosts. */
const afterwards = "Hosts have to send again what was refused";

const reasons: Readonly<Record<NoRoomReason, Reason>> = {
  noSpace: {
    async now({ sources }) {
      const { freeBytes, minFreeBytes } = await sources.intake.space.room();
      if (freeBytes >= minFreeBytes) return undefined;
      return `the disk has ${sizeText(freeBytes)} free, less than the ${sizeText(minFreeBytes)} of storage.minFree`;
    },
    past: "the disk had no room (storage.minFree)",
    remedy: ({ sources }) =>
      `make room on the disk of ${sources.config().stateDir} (\`dropgate check\` shows how much is free, and what grows), ` +
      `or lower storage.minFree. ${afterwards}`,
  },
  tooManyWaiting: {
    async now({ subject, sources }) {
      const [waiting, most] = [
        sources.pipeline.waitingCount(subject.id),
        sources.config().inbound.maxWaiting,
      ];
      return waiting < most ? undefined : `${waiting} files wait (inbound.maxWaiting is ${most})`;
    },
    past: "too many files waited (inbound.maxWaiting)",
    remedy: ({ subject }) =>
      `\`dropgate files --company ${subject.code} --state waiting\` lists them, and \`dropgate explain NAME\` says what ` +
      `one waits for; or raise inbound.maxWaiting. ${afterwards}`,
  },
};

/**
 * No files are taken in, or were not a moment ago: of all companies, for the disk is full, or of one, for too many of
 * its files wait. The intake knows of a lack from the first upload that it refuses. After a restart that may be long in
 * coming, so of an open incident the room itself is looked at, and the count goes on from what was counted before.
 */
export const detectUploadsRefused: Detector<"uploadsRefused"> = async (scan) => {
  const { subject, sources, now, open } = scan;
  const company = subject.code === operatorCode ? undefined : subject.code;
  const reason = company === undefined ? "noSpace" : "tooManyWaiting";
  const recent = sources.refusedUploads({ reason, company })(now, lately);
  const known = open.get(reason);
  const sinceLastScan = sources.refusedSinceScan({ reason, company })(now, now - (known?.seenAt ?? now));
  const lack = sources.intake.current().find((one) => one.reason === reason && one.company === company);
  if (lack === undefined && recent === 0 && known === undefined) return [];
  const { now: wordsOf, past, remedy } = reasons[reason];
  const lacking = (await wordsOf(scan)) ?? lack?.message;
  if (lacking === undefined && recent === 0) return [];
  const count = known === undefined ? (lack?.refused ?? recent) : known.count + sinceLastScan;
  const refused = counted(count, "upload was", "uploads were");
  const one: Finding = { cause: reason, count, samples: [], remedy: remedy(scan), summary: "" };
  if (lacking === undefined) return [{ ...one, summary: `${refused} refused lately: ${past}` }];
  const since = lack === undefined ? {} : { since: lack.since };
  return [{ ...one, summary: `no more files are taken: ${lacking}; ${refused} refused`, ...since }];
};
