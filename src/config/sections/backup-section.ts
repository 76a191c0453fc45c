/** Backups that the daemon makes by itself. */
import { flag, integer, optional, path, section } from "../reader/setting.ts";
import { plain, scheduleZone } from "./server-section.ts";

const most = 1_000;

function kept(what: string, example: number) {
  return integer(`Of how many ${what} the newest backup is kept.`, {
    default: 0,
    range: [0, most],
    example,
  });
}

export const backupSection = section("Backups of the state.", {
  folder: optional(path)(
    "The folder of backups, best on another disk. `dropgate backup` without a folder makes one there as well.",
    { example: "/srv/backup/dropgate" },
  ),
  schedule: optional(plain)(
    "When the daemon makes a backup, as in cron: minute, hour, day of month, month, day of week. One that begins with * needs quotes. One that was missed is made at the next start.",
    200,
    { example: "30 1 * * *" },
  ),
  zone: scheduleZone,
  incremental: flag(
    "Whether backups in the folder share the files that have not changed, by hard links. Each is whole all the same.",
    { default: true },
  ),
  rereadWithin: integer(
    "Within how many incremental backups each file that they share is read again, a part of them with each; 0: never. One that is damaged is taken anew, with a warning.",
    { default: 30, range: [0, most] },
  ),
  keep: section(
    "Which backups in the folder stay when a new one is made there and is right; only days, weeks and months that have one count. All stay when all three are 0.",
    { daily: kept("days", 7), weekly: kept("weeks", 4), monthly: kept("months", 12) },
  ),
  warnAfterHours: integer(
    "`dropgate check` warns when the last backup is older than that, where there is one or `folder` is set; 0: never.",
    { default: 48, range: [0, 8_760] },
  ),
});
