/** The options by which commands choose files of the ledger. */
import type { Command } from "commander";
import type { FileFilter } from "../app/admin/file-filter.ts";
import { wholeNumber } from "./command-line.ts";
import { momentText, readMoment } from "./moment.ts";

export interface FilterOptions {
  readonly state?: string;
  readonly stop?: string;
  readonly company?: string;
  readonly since?: number;
  readonly until?: number;
  readonly name?: string;
  readonly reason?: number;
  readonly channel?: string;
  readonly user?: string;
}

const readReason = wholeNumber(900, 9_999);

/** Adds the options. */
export function withFileFilter(command: Command): Command {
  return command
    .option("--state <state>", "waiting, retry, applied, refused, duplicate or superseded")
    .option("--stop <number>", "files of a stop: by their name, or by a Stop in them")
    .option("--company <code>", "files of a company")
    .option("--since <moment>", `files received since ${momentText}`, (text: string) => readMoment(text))
    .option("--until <moment>", "files received before a moment", (text: string) => readMoment(text))
    .option("--name <name>", "files of that name; * stands for any characters, ? for one")
    .option("--reason <code>", "files with that reason code, as in 953", readReason)
    .option("--channel <channel>", "sftp, ftp, folder, recovered, remote, or remote:NAME")
    .option("--user <name>", "files that a user has uploaded");
}

export function fileFilterOf(options: FilterOptions): FileFilter {
  const { state, stop, company, since, until, name, reason, channel, user } = options;
  return {
    ...(state === undefined ? {} : { state }),
    ...(stop === undefined ? {} : { stopNbr: stop }),
    ...(company === undefined ? {} : { companyCode: company }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(name === undefined ? {} : { name }),
    ...(reason === undefined ? {} : { reason }),
    ...(channel === undefined ? {} : { channel }),
    ...(user === undefined ? {} : { userName: user }),
  };
}
