import { operatorCode } from "../../../domain/alerts/audience.ts";
import type { Detector } from "../detector.ts";
import { counted } from "./counted.ts";

/** No files are taken in: of all companies, for the disk is full, or of one, for too many of its files wait. */
export const detectUploadsRefused: Detector<"uploadsRefused"> = async ({ subject, sources }) => {
  const whose = subject.code === operatorCode ? undefined : subject.code;
  return sources.intake
    .current()
    .filter(({ company }) => company === whose)
    .map(({ reason, message, since, refused }) => ({
      cause: reason,
      summary: `no more files are taken: ${message}; ${counted(refused, "upload was", "uploads were")} refused`,
      count: refused,
      since,
      samples: [],
    }));
};
