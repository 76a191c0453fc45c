import { operatorCode } from "../../../domain/alerts/audience.ts";
import type { NoRoomReason } from "../../../exchange/uploads/intake.ts";
import type { Detector } from "../detector.ts";
import { counted } from "../../../lib/counted.ts";

/** Longer than the time between two scans: a lack of room may be over within seconds. */
const lately = 120_000;

const pastLacks: Readonly<Record<NoRoomReason, string>> = {
  noSpace: "the disk had no room (storage.minFree)",
  tooManyWaiting: "too many files waited (inbound.maxWaiting)",
};

/**
 * No files are taken in, or were not a moment ago: of all companies, for the disk is full, or of one, for too many of
 * its files wait.
 */
export const detectUploadsRefused: Detector<"uploadsRefused"> = async ({ subject, sources, now }) => {
  const company = subject.code === operatorCode ? undefined : subject.code;
  const reason = company === undefined ? "noSpace" : "tooManyWaiting";
  const recent = sources.refusedUploads({ reason, company })(now, lately);
  const were = (refused: number) => counted(refused, "upload was", "uploads were");
  const lack = sources.intake.current().find((one) => one.reason === reason && one.company === company);
  const one = { cause: reason, samples: [] };
  if (lack !== undefined) {
    const { message, since, refused } = lack;
    const summary = `no more files are taken: ${message}; ${were(refused)} refused`;
    return [{ ...one, summary, count: refused, since }];
  }
  if (recent === 0) return [];
  return [{ ...one, summary: `${were(recent)} refused lately: ${pastLacks[reason]}`, count: recent }];
};
