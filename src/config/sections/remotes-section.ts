/** Servers of others that files are fetched from (specification/file-exchange.md#remotes). */
import type { TProperties } from "@sinclair/typebox";
import {
  ftpServer,
  ftpsServer,
  nameKeys,
  plain,
  scheduleZone,
  serverDirectory,
  sftpServer,
} from "./server-section.ts";
import { choice, integer, map, optional, section, variants } from "../reader/setting.ts";

/** How often a remote is polled that has neither `everyMs` nor `schedule`. */
export const defaultEveryMs = 60_000;

const times = {
  everyMs: optional(integer)({
    default: defaultEveryMs,
    range: [1_000, 86_400_000],
    description: "Time between two polls of the server, unless schedule is set.",
  }),
  schedule: optional(plain)(200, {
    example: "*/15 6-20 * * MON-FRI",
    isAlternative: true,
    description:
      "When the server is polled, instead of everyMs, as in cron: minute, hour, day of month, month, day of week. One that begins with * needs quotes.",
  }),
  zone: scheduleZone,
};

const handling = {
  settleMs: integer({
    default: 10_000,
    range: [0, 600_000],
    description: "A file is complete when its size and time are the same in two listings this far apart.",
  }),
  after: choice(["delete", "move", "leave"], {
    example: "delete",
    description:
      "What becomes of a file on the server when it is in the ledger: delete it, move it to moveTo, or leave it there; one that stays is not fetched again as long as its size and time stay the same.",
  }),
  moveTo: optional(plain)(1_000, {
    example: "done",
    isAlternative: true,
    description:
      "Folder on the server, written as directory is, that files are moved to; it has to be there. With after: move.",
  }),
  timeoutMs: integer({
    default: 120_000,
    range: [1_000, 3_600_000],
    description:
      "How long a listing, or the download of one file, may take in all; then it is ended and tried again later.",
  }),
};

function remote<T extends string, P extends TProperties>(type: T, properties: P, description: string) {
  return section(
    {
      type: choice([type], { description: "What kind of server it is.", example: type }),
      ...properties,
      directory: serverDirectory(),
      ...times,
      ...handling,
    },
    { description },
  );
}

export const remotesSection = map(
  variants(
    {
      sftp: remote(
        "sftp",
        sftpServer("Without any, nothing is fetched; `dropgate check --remote` prints the ones to put here."),
        "An SFTP server.",
      ),
      ftp: remote("ftp", ftpServer, "An FTP server without TLS."),
      ftps: remote("ftps", ftpsServer, "An FTP server with TLS."),
    },
    { description: "One server." },
  ),
  {
    ...nameKeys,
    example: "partner",
    description:
      "Servers whose files are fetched and taken in, by names of your choice. What can be set depends on the type: below, <sftp> and the like stand for the name of a remote of that type.",
  },
);
