/** The watch that tells of incidents, with all that it looks at. */
import { AlertWatch } from "../alerts/alert-watch.ts";
import { detectors } from "../alerts/detectors.ts";
import type { BackupSchedule } from "../watch/backup-schedule.ts";
import { countRefusedSignIns } from "../watch/refused-sign-ins.ts";
import { countRefusedUploads } from "../watch/refused-uploads.ts";
import type { Parts } from "./daemon-parts.ts";

/** Looks from its start on. */
export function alertWatchFor(parts: Parts, backups: BackupSchedule): AlertWatch {
  const { store, clock, log, signIn, intake } = parts;
  const refusedSignIns = countRefusedSignIns(() => signIn.statistics());
  const refusedUploads = countRefusedUploads(() => intake.counts());
  const refusedSinceScan = countRefusedUploads(() => intake.counts());
  const counts = { refusedSignIns, refusedUploads, refusedSinceScan };
  const sources = { ...parts, ...counts, backups, config: () => parts.config };
  return new AlertWatch({ store, clock, log, detectors, sources });
}
