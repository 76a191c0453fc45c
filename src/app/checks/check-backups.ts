/** Whether backups are made: how old the last one is, how the next gets on, and whether the folder can take it. */
import { constants } from "node:fs";
import type { Config } from "../../config/schema.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { BackupState } from "../../store/database/backup-state.ts";
import type { LastBackup } from "../../store/database/last-backup.ts";
import { standingFailure } from "../watch/backup-outcomes.ts";
import { isStalled, runText } from "../watch/backup-run.ts";
import { type CheckFinding, fine, warning } from "../watch/check-finding.ts";
import { probeFolder, silentText } from "./folder-probe.ts";
import { hourMs } from "../../lib/durations.ts";

const makeOne = "make one with `dropgate backup`; the log says why a scheduled one has failed";

function ageFinding({ backup }: Pick<Config, "backup">, last: LastBackup | undefined): CheckFinding[] {
  const { folder, warnAfterHours } = backup;
  if (last === undefined) {
    if (folder === undefined || warnAfterHours === 0) return [];
    return [warning("no backup of this state was made yet", makeOne)];
  }
  const what = `the last backup is of ${isoTime(last.begunAt)} (${last.folder})`;
  const isOld = warnAfterHours > 0 && Date.now() - last.begunAt > warnAfterHours * hourMs;
  if (isOld) return [warning(`${what}, older than backup.warnAfterHours`, makeOne)];
  if (last.discrepancies === 0) return [fine(what)];
  return [warning(`${what}; ledger and files of the state disagreed then`, "run `dropgate ledger verify`")];
}

/** How the one is doing that the daemon makes at this moment. */
function runFindings({ running }: BackupState): CheckFinding[] {
  if (running === undefined) return [];
  const what = runText(running, Date.now());
  if (!isStalled(running, Date.now())) return [fine(what)];
  const remedy =
    "see whether the disk or share of backup.folder answers; the daemon ends a backup after 10 minutes without progress, and " +
    "tries again half an hour later";
  return [warning(what, remedy)];
}

/** Whether those of the schedule have failed since the last one that was made, by whomever. */
function failureFindings(
  config: Pick<Config, "backup">,
  last: LastBackup | undefined,
  { failure }: BackupState,
): CheckFinding[] {
  const standing = standingFailure(failure, { config, last, now: Date.now() });
  if (standing === undefined) return [];
  return [
    warning(`the scheduled backup has failed since ${isoTime(standing.at)}: ${standing.message}`, makeOne),
  ];
}

/**
 * Warnings: without backups the daemon works all the same. On a share that is away a call may not return, so that a process of
 * its own makes it.
 */
async function folderFinding({ backup }: Pick<Config, "backup">): Promise<CheckFinding[]> {
  const { folder } = backup;
  if (folder === undefined) return [];
  const title = `the folder of backups ${folder}`;
  const probe = await probeFolder({ path: folder, rights: constants.R_OK | constants.W_OK | constants.X_OK });
  if (probe.kind === "usable") return [fine(`${title} can be written`)];
  if (probe.kind === "silent") return [warning(silentText(title), "see that its server answers")];
  if (probe.kind === "notAFolder")
    return [warning(`${title} is no folder`, "name a folder in backup.folder")];
  const remedy = "make it, for the user of the daemon; with systemd it also has to stand in ReadWritePaths";
  return [warning(`${title} cannot be used (${probe.code})`, remedy)];
}

/** The backups that the configuration asks for, or that somebody else makes. */
export async function checkBackups(
  config: Pick<Config, "backup">,
  last: LastBackup | undefined,
  state: BackupState = {},
): Promise<readonly CheckFinding[]> {
  return [
    ...ageFinding(config, last),
    ...failureFindings(config, last, state),
    ...runFindings(state),
    ...(await folderFinding(config)),
  ];
}
