/** The detectors by the kinds that they find. */
import type { Detectors } from "./detector.ts";
import { detectDiskSpace } from "./detectors/disk-space.ts";
import { detectFilesWaiting } from "./detectors/files-waiting.ts";
import { detectLedgerDiscrepancy } from "./detectors/ledger-discrepancy.ts";
import { detectDeadLetters, detectPausedTargets } from "./detectors/outbound-targets.ts";
import { detectRefusedFiles } from "./detectors/refused-files.ts";
import { detectUncollectedFiles } from "./detectors/uncollected-files.ts";
import { detectUploadsRefused } from "./detectors/uploads-refused.ts";

export const detectors: Detectors = {
  refusedFiles: detectRefusedFiles,
  filesWaiting: detectFilesWaiting,
  deadLetters: detectDeadLetters,
  pausedTarget: detectPausedTargets,
  uncollectedFiles: detectUncollectedFiles,
  uploadsRefused: detectUploadsRefused,
  diskSpace: detectDiskSpace,
  ledgerDiscrepancy: detectLedgerDiscrepancy,
};
