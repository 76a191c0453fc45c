/** The options by which commands choose files and deliveries: one word for one thing, in all of them. */
import type { DeliveryFilter } from "../app/admin/delivery-filter.ts";
import { type FileFilter, filterValues } from "../app/admin/file-filter.ts";
import { given } from "../lib/given.ts";
import {
  alternatives,
  type CliCommand,
  type LongListOptions,
  ValuesOption,
  wholeNumber,
} from "./command-line.ts";
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

const { fileStates, fileChannels, reasonCodes, deliveryFaults, deliveryStates, targetTypes } = filterValues;

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
    .addOption(new ValuesOption("--state <state>", alternatives(fileStates), fileStates))
    .option("--stop <number>", "files of a stop: by their name, or by a Stop in them")
    .option("--company <code>", "files of a company")
    .option("--name <name>", `files ${nameText}`)
    .addOption(
      new ValuesOption("--reason <code>", "files with that reason code, as in 953", reasonCodes).argParser(
        readReason,
      ),
    )
    .addOption(
      new ValuesOption("--channel <channel>", `${alternatives(fileChannels)}, or remote:NAME`, fileChannels),
    )
    .option("--user <name>", "files that a user has uploaded");
}

/** Adds the options that choose deliveries, but for their state; `what` happened to them within the times. */
export function withDeliveryFilter(command: CliCommand, what: string): CliCommand {
  return withTimes(command, what)
    .option("--stop <number>", "completion files of a stop, and messages about it")
    .option("--company <code>", "deliveries of a company")
    .option("--target <name>", "deliveries to a target")
    .option("--name <name>", `deliveries ${nameText}`)
    .addOption(
      new ValuesOption(
        "--fault <fault>",
        "deliveries whose last fault is that, as in credentials",
        deliveryFaults,
      ),
    )
    .addOption(
      new ValuesOption("--channel <type>", "deliveries to targets of that type, as in sftp", targetTypes),
    )
    .option("--user <name>", "files that a user has fetched or removed");
}

/** Adds the option that chooses deliveries by their state, with the states that make sense for the command. */
export function withDeliveryState(
  command: CliCommand,
  description = alternatives(deliveryStates),
  values: readonly string[] = deliveryStates,
): CliCommand {
  return command.addOption(new ValuesOption("--state <state>", description, values));
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
