/** The options by which commands choose files and deliveries: one word for one thing, in all of them. */
import type { DeliveryFilter } from "../app/admin/delivery-filter.ts";
import type { FileFilter } from "../app/admin/file-filter.ts";
import { given } from "../lib/given.ts";
import { type CliCommand, type LongListOptions, wholeNumber } from "./command-line.ts";
import { momentText, readMoment } from "./moment.ts";
import { readNumber } from "./repeats.ts";

/** A moment as it was given, and in milliseconds UTC. */
interface GivenMoment {
  readonly text: string;
  readonly at: number;
}

interface Times {
  readonly since?: GivenMoment;
  readonly until?: GivenMoment;
}

export type FileFilterOptions = Omit<FileFilter, keyof Times> & Times;
export type DeliveryFilterOptions = Omit<DeliveryFilter, keyof Times> & Times;

const moment = (text: string): GivenMoment => ({ text, at: readMoment(text) });
const readReason = wholeNumber(900, 9_999);
const nameText = "of that name; * stands for any characters, ? for one";

/** `what` happened to the files or deliveries within these times. */
function withTimes(command: CliCommand, what: string): CliCommand {
  return command
    .option("--since <moment>", `${what} since ${momentText}`, moment)
    .option("--until <moment>", `${what} before a moment`, moment);
}

/** Adds the options that choose files of the ledger. */
export function withFileFilter(command: CliCommand): CliCommand {
  return withTimes(command, "files received")
    .option("--state <state>", "waiting, retry, applied, refused, duplicate or superseded")
    .option("--stop <number>", "files of a stop: by their name, or by a Stop in them")
    .option("--company <code>", "files of a company")
    .option("--name <name>", `files ${nameText}`)
    .option("--reason <code>", "files with that reason code, as in 953", readReason)
    .option("--channel <channel>", "sftp, ftp, folder, recovered, remote, or remote:NAME")
    .option("--user <name>", "files that a user has uploaded");
}

/** Adds the options that choose deliveries, but for their state; `what` happened to them within the times. */
export function withDeliveryFilter(command: CliCommand, what: string): CliCommand {
  return withTimes(command, what)
    .option("--stop <number>", "completion files of a stop, and messages about it")
    .option("--company <code>", "deliveries of a company")
    .option("--target <name>", "deliveries to a target")
    .option("--name <name>", `deliveries ${nameText}`)
    .option("--fault <fault>", "deliveries whose last fault is that, as in credentials")
    .option("--channel <type>", "deliveries to targets of that type, as in sftp")
    .option("--user <name>", "files that a user has fetched or removed");
}

/** Adds the options by which commands list long lists page by page. */
export function withPages(command: CliCommand): CliCommand {
  return command
    .withLimit()
    .option("--before <id>", "the ones before that number: the next page", readNumber)
    .option("--count", "print only how many they are");
}

export interface PageOptions extends LongListOptions {
  readonly before?: number;
  readonly count?: true;
}

/** The filter alone, without the other options of a command. */
export function fileFilterOf(options: FileFilterOptions): FileFilter {
  const { state, stop, company, since, until, name, reason, channel, user } = options;
  const times = { since: since?.at, until: until?.at };
  return given({ state, stop, company, name, reason, channel, user, ...times });
}

/** The filter alone, without the other options of a command. */
export function deliveryFilterOf(options: DeliveryFilterOptions): DeliveryFilter {
  const { state, stop, company, since, until, target, name, fault, channel, user } = options;
  const times = { since: since?.at, until: until?.at };
  return given({ state, stop, company, target, name, fault, channel, user, ...times });
}

/** The filter as it was typed: a repeated command has the same, also where it says how long ago. */
export function typedFilterOf(options: DeliveryFilterOptions): string {
  const { since, until } = options;
  const typed = { ...deliveryFilterOf(options), ...given({ since: since?.text, until: until?.text }) };
  return JSON.stringify(Object.entries(typed).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
