/**
 * `dropgate serve`: loads the configuration, runs the daemon until a signal, and says with which exit code to end.
 *
 *   SIGTERM, SIGINT   first: stop in order under one deadline; second: end at once
 *   SIGHUP            reload the configuration
 */
import { formatConfigFaults } from "../../config/reader/config-fault.ts";
import { loadConfig } from "../../config/load-config.ts";
import type { Config } from "../../config/schema.ts";
import { messageOf, systemCodeOf } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { OperatorError } from "../../lib/operator-error.ts";
import { standardOutput } from "../../lib/logs/log-destination.ts";
import { createLogger, type Logger } from "../../lib/logs/log.ts";
import { RecentTroubles } from "../../lib/logs/recent-troubles.ts";
import { isStoreDamaged, storeRemedies } from "../../lib/store-error.ts";
import { lookAtIntegrity } from "../../store/database/integrity-look.ts";
import { toStoreError } from "../../store/database/sqlite-dialect.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import { formatIntegrationFaults, readIntegrations } from "./read-integrations.ts";
import { longestSilenceMs } from "./once-reachable.ts";
import { startSelfChecks } from "../watch/self-check-rounds.ts";
import { createSystemdNotifier } from "../watch/systemd-notify.ts";
import { tlsFaultOf } from "./tls-material.ts";

export interface RunOptions {
  readonly configPath?: string;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const exitCodes = { fine: 0, failure: 1, wrongUse: 2 } as const;

/** The configuration with its integrations; else its faults, for the log, and as text. */
async function load({ configPath: path, env, cwd }: RunOptions) {
  const loaded = await loadConfig({ ...given({ path }), env, cwd });
  if (loaded.kind === "faulty") return { ...loaded, text: formatConfigFaults(loaded.faults, loaded.file) };
  const read = await readIntegrations(loaded.config);
  if (read.kind === "faulty") return { ...read, text: formatIntegrationFaults(read.faults) };
  return { ...loaded, integrations: read.integrations };
}

function untilStopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.on(name, () => resolve(name));
  });
}

/** Resolves at the next signal to stop: whoever sends two does not want to wait. */
function untilNextSignal(): Promise<"impatient"> {
  return new Promise((resolve) => {
    for (const name of ["SIGTERM", "SIGINT"] as const) process.once(name, () => resolve("impatient"));
  });
}

/** Handles SIGHUP from the beginning: unhandled it would end the process. One that comes before `answer` is kept. */
function listenForHangUps(): { answer(reload: () => Promise<void>): void } {
  let reloadOnce: (() => Promise<void>) | undefined;
  let isAsked = false;
  let turn = Promise.resolve();
  const ask = () => {
    if (reloadOnce === undefined) isAsked = true;
    // One after the other: the configuration that is read last is to stay in force.
    else turn = turn.then(reloadOnce);
  };
  process.on("SIGHUP", ask);
  return {
    answer(reload) {
      reloadOnce = reload;
      if (isAsked) ask();
    },
  };
}

async function reload(daemon: Daemon, options: RunOptions, log: Logger): Promise<void> {
  try {
    const outcome = await load(options);
    if (outcome.kind === "faulty") {
      log.error({ faults: outcome.faults }, "the configuration is faulty; the old one stays in force");
      daemon.reloadFailed();
      return;
    }
    const tlsFault = await tlsFaultOf(outcome.config);
    if (tlsFault === undefined) {
      await daemon.reload(outcome.config, outcome.integrations);
      return;
    }
    log.error(`the configuration could not be reloaded; the old one stays in force: ${tlsFault}`);
    daemon.reloadFailed();
  } catch (error) {
    daemon.reloadFailed();
    log.error({ err: error }, "the configuration could not be reloaded; the old one stays in force");
  }
}

async function stop(
  daemon: Daemon,
  log: Logger,
  rest: { readonly drainMs: number; readonly nextSignal: Promise<"impatient"> },
): Promise<number> {
  const stopped = daemon.stop(AbortSignal.timeout(rest.drainMs));
  const outcome = await Promise.race([stopped, rest.nextSignal]);
  if (outcome === "impatient") {
    log.warn("second signal: exiting at once; the next start resumes the unfinished work");
    return exitCodes.failure;
  }
  log.info("stopped");
  return outcome === 0 ? exitCodes.fine : exitCodes.failure;
}

/** The setting that the port comes from. */
function settingOfPort({ sftp, ftp, console: ofConsole }: Config, port: unknown): string {
  const others = [
    ["console.port", ofConsole.port],
    ["sftp.port", sftp.port],
    ["ftp.port", ftp.port],
    ["ftp.implicitPort", ftp.implicitPort],
  ] as const;
  return others.find(([, own]) => own === port)?.[0] ?? "http.port";
}

/** Why the start failed, in words that say what to do; undefined for what nobody has foreseen. */
function startFailure(error: unknown, config: Config): string | undefined {
  const code = systemCodeOf(error);
  if ((code !== "EADDRINUSE" && code !== "EACCES") || !(error instanceof Error) || !("port" in error))
    return error instanceof OperatorError ? error.message : undefined;
  const setting = settingOfPort(config, error.port);
  const why = code === "EADDRINUSE" ? "another program listens there" : "this user may not listen there";
  return `${setting} ${error.port}: ${why}; set another port, or see \`dropgate check\``;
}

/** Checking a large database takes long; without a result in this time the tables are not named. */
const longestLookMs = 60_000;

function isDamage(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause)
    if (isStoreDamaged(toStoreError(one))) return true;
  return false;
}

async function damagedTables(stateDir: string): Promise<readonly string[]> {
  const look = lookAtIntegrity(stateDir, AbortSignal.timeout(longestLookMs));
  // Its result only adds to what is known already; its own failure is ignored for that reason.
  const outcome = await look.catch(() => undefined);
  return outcome !== undefined && "problems" in outcome ? outcome.problems : [];
}

/** The message for a database that is damaged where every start reads it; undefined when the start failed otherwise. */
async function damageAtStart(error: unknown, { stateDir, store }: Config): Promise<string | undefined> {
  if (!isDamage(error)) return undefined;
  const tables = store === undefined ? await damagedTables(stateDir) : [];
  const what = tables.length === 0 ? messageOf(error) : tables.join("; ");
  return `the database is damaged (${what}), where every start has to read it; ${storeRemedies.damaged}`;
}

/** One line for what an administrator can put right; anything else with its stack. */
async function logStartFailure(log: Logger, error: unknown, config: Config): Promise<void> {
  const known = startFailure(error, config) ?? (await damageAtStart(error, config));
  const text = `dropgate cannot start: ${known ?? messageOf(error)}`;
  if (known === undefined) log.fatal({ err: error }, text);
  else log.fatal(text);
}

async function start(options: RunOptions, signal: AbortSignal) {
  const outcome = await load(options);
  if (outcome.kind === "faulty") {
    process.stderr.write(`${outcome.text}\n`);
    return exitCodes.wrongUse;
  }
  const troubles = new RecentTroubles();
  const destination = troubles.listenTo(standardOutput());
  const log = createLogger({ level: outcome.config.log.level, destination });
  for (const warning of outcome.warnings) log.warn({ ...warning, file: outcome.file }, "configuration");
  const tlsFault = await tlsFaultOf(outcome.config);
  if (tlsFault !== undefined) {
    log.fatal(`dropgate cannot start: ${tlsFault}`);
    return exitCodes.failure;
  }
  const systemd = createSystemdNotifier(options.env, log);
  try {
    const { file: configFile, integrations } = outcome;
    const stillWaits = () =>
      void systemd.notify(`EXTEND_TIMEOUT_USEC=${longestSilenceMs * 1_000}`, "STATUS=waits for the database");
    const surroundings = { log, signal, integrations, configFile, troubles, stillWaits };
    const daemon = await startDaemon(outcome.config, surroundings);
    return { daemon, log, systemd, drainMs: outcome.config.shutdown.drainMs };
  } catch (error) {
    if (signal.aborted) {
      log.info("stopped before it was ready");
      return exitCodes.fine;
    }
    await logStartFailure(log, error, outcome.config);
    return exitCodes.failure;
  }
}

/** Runs until it is told to stop; resolves with the exit code. */
export async function runDaemon(options: RunOptions): Promise<number> {
  const stopSignal = untilStopSignal();
  const hangUps = listenForHangUps();
  const starting = new AbortController();
  void stopSignal.then(() => starting.abort());
  const started = await start(options, starting.signal);
  if (typeof started === "number") return started;
  const { daemon, log, systemd, drainMs } = started;
  hangUps.answer(() => reload(daemon, options, log));
  const endSelfChecks = startSelfChecks(daemon.health, systemd, log);
  log.info({ ...daemon.listening, pid: process.pid }, "ready");
  await systemd.notify("READY=1", `STATUS=${Object.values(daemon.listening).join(", ")}`);
  const name = await stopSignal;
  const nextSignal = untilNextSignal();
  log.info({ signal: name }, "stopping");
  endSelfChecks();
  const [exitCode] = await Promise.all([
    stop(daemon, log, { drainMs, nextSignal }),
    systemd.notify("STOPPING=1"),
  ]);
  return exitCode;
}
