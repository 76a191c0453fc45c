/** The detectors by the kinds that they find. */
import type { Detectors } from "./detector.ts";
import { detectClockJumps } from "./detectors/clock-jumps.ts";
import { detectDiskSpace } from "./detectors/disk-space.ts";
import { detectExpiringCertificates } from "./detectors/expiring-certificates.ts";
import { detectFailedBackups } from "./detectors/failed-backups.ts";
import { detectFailingRemotes } from "./detectors/failing-remotes.ts";
import { detectFailingRetention } from "./detectors/failing-retention.ts";
import { detectFilesWaiting } from "./detectors/files-waiting.ts";
import { detectGuessedSignIns } from "./detectors/guessed-sign-ins.ts";
import { detectLateArrivals } from "./detectors/late-arrivals.ts";
import { detectLedgerDiscrepancy } from "./detectors/ledger-discrepancy.ts";
import {
  detectDeadLetters,
  detectMissingTargets,
  detectPausedTargets,
} from "./detectors/outbound-targets.ts";
import { detectRefusedFiles } from "./detectors/refused-files.ts";
import { detectUncollectedFiles } from "./detectors/uncollected-files.ts";
import { detectUploadsRefused } from "./detectors/uploads-refused.ts";

export const detectors: Detectors = {
  refusedFiles: detectRefusedFiles,
  filesWaiting: detectFilesWaiting,
  deadLetters: detectDeadLetters,
  pausedTarget: detectPausedTargets,
  missingTarget: detectMissingTargets,
  uncollectedFiles: detectUncollectedFiles,
  uploadsRefused: detectUploadsRefused,
  diskSpace: detectDiskSpace,
  ledgerDiscrepancy: detectLedgerDiscrepancy,
  lateArrivals: detectLateArrivals,
  failingRemote: detectFailingRemotes,
  certificateExpiry: detectExpiringCertificates,
  backupOverdue: detectFailedBackups,
  retentionFails: detectFailingRetention,
  clockJump: detectClockJumps,
  bruteForce: detectGuessedSignIns,
};
