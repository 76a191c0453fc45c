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
  everyMs: optional(integer)("Time between two polls of the server, unless schedule is set.", {
    default: defaultEveryMs,
    range: [1_000, 86_400_000],
  }),
  schedule: optional(plain)(
    "When the server is polled, instead of everyMs, as in cron: minute, hour, day of month, month, day of week. One that begins with * needs quotes.",
    200,
    { example: "*/15 6-20 * * MON-FRI", isAlternative: true },
  ),
  zone: scheduleZone,
};

const handling = {
  settleMs: integer(
    "A file is complete when its size and time are the same in two listings this far apart.",
    { default: 10_000, range: [0, 600_000] },
  ),
  after: choice(
    "What becomes of a file on the server when it is in the ledger: delete it, move it to moveTo, or leave it there; one that stays is not fetched again as long as its size and time stay the same.",
    ["delete", "move", "leave"],
    { example: "delete" },
  ),
  moveTo: optional(plain)(
    "Folder on the server, written as directory is, that files are moved to; it has to be there. With after: move.",
    1_000,
    { example: "done", isAlternative: true },
  ),
  timeoutMs: integer(
    "How long a listing, or the download of one file, may take in all; then it is ended and tried again later.",
    { default: 120_000, range: [1_000, 3_600_000] },
  ),
};

function remote<T extends string, P extends TProperties>(description: string, type: T, properties: P) {
  return section(description, {
    type: choice("What kind of server it is.", [type], { example: type }),
    ...properties,
    directory: serverDirectory,
    ...times,
    ...handling,
  });
}

export const remotesSection = map(
  "Servers whose files are fetched and taken in, by names of your choice. What can be set depends on the type: below, <sftp> and the like stand for the name of a remote of that type.",
  variants("One server.", {
    sftp: remote(
      "An SFTP server.",
      "sftp",
      sftpServer("Without any, nothing is fetched; `dropgate check --remote` prints the ones to put here."),
    ),
    ftp: remote("An FTP server without TLS.", "ftp", ftpServer),
    ftps: remote("An FTP server with TLS.", "ftps", ftpsServer),
  }),
  { ...nameKeys, example: "partner" },
);
