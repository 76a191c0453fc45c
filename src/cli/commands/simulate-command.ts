/** `dropgate simulate`: options and password in, a day of loads played against a running daemon, a summary out. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { InvalidArgumentError } from "commander";
import { WrongUseError } from "../../app/admin/wrong-use-error.ts";
import { httpAddressOf } from "../../config/reader/address-range.ts";
import type { Config } from "../../config/schema.ts";
import { given } from "../../lib/given.ts";
import {
  type CliCommand,
  type CliRun,
  exitCodes,
  FaultyConfigError,
  gathered,
  wholeNumber,
} from "../command-line.ts";
import type { SimulationRequest, Simulator } from "../simulation.ts";

interface SimulateOptions {
  readonly url?: string;
  readonly company: string;
  readonly user: string;
  readonly passwordFile?: string;
  readonly driver?: readonly string[];
  readonly driverPasswordFile?: string;
  readonly date?: string;
  readonly prefix?: string;
  readonly seed: number;
  readonly loads: number;
  readonly stops: number;
  readonly gpsSeconds: number;
  readonly speed?: number;
  readonly connections: number;
  readonly faults?: true;
  readonly verify: boolean;
  readonly json?: true;
}

const standardUrl = "http://127.0.0.1:8080";
const standardDriver = "driver";

function readSpeed(text: string): number {
  const speed = Number(text);
  if (text === "max" || speed === 0) return Number.POSITIVE_INFINITY;
  if (/^[\d.]+$/.test(text) && speed >= 0.1 && speed <= 1_000_000) return speed;
  throw new InvalidArgumentError("It must be a number from 0.1 to 1000000, or max.");
}

function readUrl(text: string): string {
  const { protocol, username, search, hash } = URL.parse(text) ?? {};
  if ((protocol === "http:" || protocol === "https:") && !username && !search && !hash) return text;
  throw new InvalidArgumentError(
    "It must be an address such as http://127.0.0.1:8080, without user and query.",
  );
}

function addressIn({ http }: Config): string {
  if (http.port === 0)
    throw new WrongUseError("http.port is 0 in the configuration, which is any free one: name it with --url");
  return httpAddressOf(http);
}

/** The address that is given, else that of the configuration, else the standard one when there is no configuration. */
async function addressOf(command: CliCommand, url: string | undefined): Promise<string> {
  if (url !== undefined) return url;
  const loaded = await command.loadConfig(false);
  if (loaded.kind === "loaded") return addressIn(loaded.config);
  const isNamed = command.configPath !== undefined || loaded.file !== undefined;
  if (isNamed) throw new FaultyConfigError(loaded.faults, loaded.file);
  return standardUrl;
}

async function passwordsOf(run: CliRun, options: SimulateOptions) {
  const { readPasswordFile } = await import("../../app/admin/admin.ts");
  const fromFile = await readPasswordFile(options.passwordFile);
  const password = fromFile ?? run.io.env["DROPGATE_PASSWORD"];
  if (password === undefined || password === "") {
    throw new WrongUseError(
      `the password of ${options.user} is missing: name its file with --password-file, or set DROPGATE_PASSWORD`,
    );
  }
  const driverPassword = await readPasswordFile(options.driverPasswordFile);
  return { password, ...given({ driverPassword }) };
}

/** The day of this machine's clock and zone. */
function today(): string {
  const now = new Date();
  const part = (value: number) => String(value).padStart(2, "0");
  return `${now.getFullYear()}-${part(now.getMonth() + 1)}-${part(now.getDate())}`;
}

/** Aborts at the first Ctrl-C or SIGTERM; the second one ends the process, as it would without us. */
function untilInterrupted(): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const interrupt = () => controller.abort();
  const names = ["SIGINT", "SIGTERM"] as const;
  for (const name of names) process.once(name, interrupt);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of names) process.removeListener(name, interrupt);
    },
  };
}

/** The same place seen from the sources and from `dist`. */
const simulatorFile = new URL("../../../dist-tools/tools/simulator/simulate.js", import.meta.url);

/** The simulator is built beside the program, and is no part of it: the daemon runs without. */
async function loadSimulator(): Promise<Simulator> {
  if (existsSync(simulatorFile)) return await import(simulatorFile.href);
  const home = fileURLToPath(new URL("../../..", import.meta.url));
  throw new WrongUseError(
    `the simulator is not built: run 'npm ci && npm run build' in ${home}, or simulate from a clone of dropgate with --url`,
  );
}

async function requestOf(options: SimulateOptions, command: CliCommand): Promise<SimulationRequest> {
  const { company: companyCode, user: userName, seed, loads, stops, gpsSeconds, prefix } = options;
  const { speed = Number.POSITIVE_INFINITY, connections, verify, date = today() } = options;
  const [first = standardDriver, ...others] = options.driver ?? [];
  const url = await addressOf(command, options.url);
  return {
    ...{ url, userName, ...(await passwordsOf(command.run, options)) },
    day: {
      ...{ companyCode, date, seed, loads, stops, gpsSeconds, drivers: [first, ...others] },
      faults: options.faults === true,
      ...given({ prefix }),
    },
    play: { speed, connections, verify },
  };
}

async function simulate(options: SimulateOptions, command: CliCommand): Promise<void> {
  const { run } = command;
  const request = await requestOf(options, command);
  const simulator = await loadSimulator();
  const { signal, release } = untilInterrupted();
  const outcome = await simulator.simulate(request, run.io.stderr, signal).finally(release);
  if (outcome.kind === "impossible") throw new WrongUseError(outcome.reason);
  run.printResult(options, outcome.report, () => outcome.lines);
  if (outcome.remedy !== undefined) run.printError(outcome.remedy);
  if (!outcome.isAsPlanned) run.exitCode = exitCodes.failure;
}

const about = `
Loads with stops are imported, given to drivers, driven with positions along the way, and reported: arrivals,
quantities, signatures, exceptions, late and repeated reports. The same options give the same requests, byte for byte.
Reports come from the user, or with --driver-password-file from the drivers themselves. The drivers have to be there:
dropgate user add driver --company CODE --role DI_Driver. A certificate of a private authority: NODE_EXTRA_CA_CERTS.
Exit code 0 when all was answered as planned, else 1. Ctrl-C ends it with the summary so far.`;

/** `dropgate simulate` */
export function declareSimulate(program: CliCommand): void {
  program
    .declare("simulate", "play a day of loads against a running daemon, for demos and tests")
    .withJson()
    .requiredOption("--company <code>", "company of the loads; use one made for this purpose")
    .requiredOption("--user <name>", "user with the role DI_Integration")
    .option(
      "--password-file <file>",
      "file that holds the user's password (- for standard input; else $DROPGATE_PASSWORD)",
    )
    .option(
      "--url <url>",
      `address of the daemon (else that of the configuration, else ${standardUrl})`,
      readUrl,
    )
    .option(
      "--driver <name>",
      `a driver of the company; may be given several times (else ${standardDriver})`,
      gathered,
    )
    .option(
      "--driver-password-file <file>",
      "file that holds the password of all drivers: they report themselves",
    )
    .option("--seed <number>", "seed of the random numbers of the day", wholeNumber(0, 9_999), 1)
    .option("--date <date>", "day of the loads, YYYY-MM-DD (else today)")
    .option("--prefix <text>", "prefix of the numbers of loads and stops (else made from seed and date)")
    .option("--loads <number>", "loads of the day", wholeNumber(1, 9_999), 20)
    .option("--stops <number>", "stops of each load", wholeNumber(1, 99), 8)
    .option(
      "--gps-seconds <number>",
      "simulated seconds between positions; 0 for none",
      wholeNumber(0, 86_400),
      120,
    )
    .option(
      "--speed <number>",
      "simulated seconds in a real one; max or 0, as fast as it answers (else max)",
      readSpeed,
    )
    .option("--connections <number>", "loads played at the same time", wholeNumber(1, 1_000), 4)
    .option("--faults", "add wrong requests, which have to be refused")
    .option("--no-verify", "do not compare each load at the end with the plan")
    .addHelpText("after", about)
    .action(simulate);
}
