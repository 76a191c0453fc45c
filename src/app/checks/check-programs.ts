/** Checks of what dropgate runs on: ports, host keys, schemas, time zones, the database. */
import { constants } from "node:fs";
import { access, readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { ParseOption, XmlDocument, XsdValidator } from "libxml2-wasm";
import { isBackupRunning } from "../../backup/take-backup.ts";
import type { Config } from "../../config/schema.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import { prepareStopReader } from "../../documents/reading/read-stop-document.ts";
import { isTimeZone } from "../../domain/time/local-time.ts";
import { isMissing, messageOf, systemCodeOf } from "../../lib/errors.ts";
import { isoTime } from "../../lib/iso-time.ts";
import { given } from "../../lib/given.ts";
import { isPassingStoreError, storeRemedies } from "../../lib/store-error.ts";
import { hostKeyFilesOf, missingHostKeyRemedy } from "../../endpoints/sftp/host-key.ts";
import { emptyFault, stateFault } from "../../store/database/database.ts";
import type { BackupState } from "../../store/database/backup-state.ts";
import type { LastBackup } from "../../store/database/last-backup.ts";
import { findDamage, inspectStore, type PresentStore } from "../../store/database/inspect-store.ts";
import type { OutboundTarget } from "../../store/outbound/outbound-targets.ts";
import type { StateConfig } from "../admin/admin-store.ts";
import type { StatePlace } from "../../store/database/state-place.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import { checkServer, type ReportAway } from "./check-server.ts";
import { checkClock } from "./check-clock.ts";
import { type CheckFinding, fine, modeText, problem, warning } from "../watch/check-finding.ts";
import { holdText } from "../watch/delivery-hold-watch.ts";
import { restoredText } from "../watch/restored-watch.ts";

const rightUser = "run this as the user of the daemon, or as root";

/** Whether a daemon works on the state directory, as far as this user may see it. */
export type DaemonPresence =
  | { readonly kind: "running"; readonly pid: number }
  | { readonly kind: "stopped" }
  | { readonly kind: "unknown"; readonly why: string };

/** Finds the daemon of a state directory, or of the directory of a node, on this machine. */
export async function findDaemon(directory: string): Promise<DaemonPresence> {
  const pid = findProcessLockHolder(directory);
  if (pid !== undefined) return { kind: "running", pid };
  try {
    await access(join(directory, "dropgate.pid"), constants.R_OK);
  } catch (error) {
    if (!isMissing(error)) return { kind: "unknown", why: systemCodeOf(error) ?? messageOf(error) };
  }
  return { kind: "stopped" };
}

/** The line about the daemon. */
export function checkDaemon(daemon: DaemonPresence): CheckFinding {
  if (daemon.kind === "running") return fine(`dropgate is running (process ${daemon.pid})`);
  if (daemon.kind === "stopped") return fine("dropgate is not running");
  return warning(`whether dropgate is running cannot be determined (${daemon.why})`, rightUser);
}

/** Listens for a moment; the code of the failure, undefined when the port is free. */
function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(systemCodeOf(error) ?? messageOf(error)));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

interface Listener {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

async function checkPort({ name, host, port }: Listener, daemon: DaemonPresence): Promise<CheckFinding> {
  const where = `${name} port ${port} on ${host}`;
  if (port === 0) return fine(`${name} takes any free port on ${host}`);
  const failure = await tryPort(host, port);
  if (failure === undefined) return fine(`${where} is free`);
  if (failure === "EADDRINUSE" && daemon.kind === "running")
    return fine(`${where} is in use, as it should be: dropgate is running (process ${daemon.pid})`);
  if (failure === "EADDRINUSE" && daemon.kind === "unknown")
    return warning(`${where} is in use, by dropgate or by another program`, `${rightUser}, to see by which`);
  const remedies: Readonly<Record<string, string>> = {
    EADDRINUSE: "stop the program that listens there, or set another port",
    EACCES: "set a port above 1023, or give the service CAP_NET_BIND_SERVICE",
    EADDRNOTAVAIL: "set an address of this machine",
    ENOTFOUND: "set an address or a host name of this machine",
  };
  return problem(`${where} cannot be used (${failure})`, remedies[failure] ?? "set another address or port");
}

/** Whether the ports are free, or in use by our own daemon. */
export async function checkPorts(config: Config, daemon: DaemonPresence): Promise<readonly CheckFinding[]> {
  const { http, console: ofConsole, sftp, ftp } = config;
  const findings = [await checkPort({ name: "HTTP", host: http.host, port: http.port }, daemon)];
  const { enabled: hasConsole, host = http.host, port } = ofConsole;
  if (hasConsole && port !== undefined)
    findings.push(await checkPort({ name: "console", host, port }, daemon));
  if (sftp.enabled)
    findings.push(await checkPort({ name: "SFTP", host: sftp.host, port: sftp.port }, daemon));
  else findings.push(fine("SFTP is switched off"));
  if (!ftp.enabled) return findings;
  findings.push(await checkPort({ name: "FTP", host: ftp.host, port: ftp.port }, daemon));
  if (ftp.implicitPort !== undefined)
    findings.push(await checkPort({ name: "FTPS", host: ftp.host, port: ftp.implicitPort }, daemon));
  return findings;
}

async function checkMode(path: string, what: string): Promise<CheckFinding> {
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return fine(`${what} ${path} is for its owner alone`);
  return problem(`${what} ${path} has mode ${modeText(mode)}: others can use it`, `chmod 600 ${path}`);
}

async function checkHostKey(path: string): Promise<CheckFinding> {
  try {
    return await checkMode(path, "the host key");
  } catch (error) {
    if (isMissing(error)) return problem(`the SSH host key ${path} is missing`, missingHostKeyRemedy);
    const what = `the host key ${path} cannot be examined (${systemCodeOf(error) ?? messageOf(error)})`;
    return problem(what, rightUser);
  }
}

/** The SSH host keys are there and for nobody else. */
export async function checkHostKeys({ sftp, stateDir }: Config): Promise<readonly CheckFinding[]> {
  if (!sftp.enabled) return [];
  const files = hostKeyFilesOf(join(stateDir, "keys"), { legacy: sftp.legacyAlgorithms });
  return await Promise.all(files.map(checkHostKey));
}

const everybodyWrites = 0o002;
/** Nobody but its owner can then remove or rename a file in the folder. */
const sticky = 0o1000;

/** Who writes the configuration decides what the daemon does with its rights: programs it runs, folders, certificates. */
export async function checkConfigFile(path: string): Promise<readonly CheckFinding[]> {
  const { mode } = await stat(path);
  if ((mode & everybodyWrites) !== 0) {
    const what = `the configuration ${path} has mode ${modeText(mode)}: everybody on this machine can change it`;
    return [problem(what, `chmod o-w ${path}`)];
  }
  const folder = dirname(path);
  const { mode: folderMode } = await stat(folder);
  if ((folderMode & (everybodyWrites | sticky)) !== everybodyWrites) return [];
  const what = `the folder ${folder} of the configuration has mode ${modeText(folderMode)}: everybody on this machine can put another file in its place`;
  return [problem(what, `chmod o-w ${folder}`)];
}

const schemaFolder = new URL("../../../xsd/", import.meta.url);

async function checkSchemaFile(name: string): Promise<CheckFinding> {
  try {
    const document = XmlDocument.fromBuffer(await readFile(new URL(name, schemaFolder)), {
      option: ParseOption.XML_PARSE_NONET,
    });
    try {
      XsdValidator.fromDoc(document).dispose();
    } finally {
      document.dispose();
    }
    return fine(`xsd/${name} compiles`);
  } catch (error) {
    return problem(`xsd/${name} cannot be used: ${messageOf(error)}`, "install dropgate again");
  }
}

const schemaFiles = ["stop.xsd", "stop-response.xsd", "stop-completion.xsd", "export-manifest.xsd"];

/** The schema that documents are held to, and the files that describe it to hosts. */
export async function checkSchemas(): Promise<readonly CheckFinding[]> {
  try {
    prepareStopReader();
  } catch (error) {
    return [
      problem(`the schema of stop documents does not compile: ${messageOf(error)}`, "install dropgate again"),
    ];
  }
  return await Promise.all(schemaFiles.map(checkSchemaFile));
}

const sampleZones = [
  "Europe/Berlin",
  "America/New_York",
  "America/Los_Angeles",
  "Asia/Tokyo",
  "Australia/Sydney",
];

/** Time zones come with Node, but for builds without its international data. */
export function checkZones(): CheckFinding {
  const missing = sampleZones.filter((zone) => !isTimeZone(zone));
  if (missing.length === 0) return fine("time zones are known");
  return problem(
    `time zones are not known (${missing.join(", ")})`,
    "use a Node.js with full international data",
  );
}

/** A file without tables beside the marker of a database: never the beginning of a state, which has no marker yet. */
function isEmptied({ schema, marker }: PresentStore): boolean {
  return schema === 0 && marker !== undefined;
}

function checkSchema(found: PresentStore): readonly CheckFinding[] {
  if (found.schemaFault !== undefined) return [problem(found.schemaFault, "see the message")];
  if (!found.isOutdated || isEmptied(found)) return [];
  const what = `the database has schema ${found.schema} of an older version`;
  return [warning(what, "the next start copies and migrates it; make a backup of the state before")];
}

function checkAge({ restored }: PresentStore): readonly CheckFinding[] {
  return restored === undefined ? [] : [warning(restoredText(restored), "`/readyz` is 503 until then")];
}

function checkHold({ deliveryHold }: PresentStore): readonly CheckFinding[] {
  return deliveryHold === undefined
    ? []
    : [warning(holdText(deliveryHold), "look at `dropgate deliveries`, then `dropgate delivery release`")];
}

function checkInstance(found: PresentStore, stateDir: string): readonly CheckFinding[] {
  // Tables that say nothing of themselves: the fault of the schema tells what they are.
  if (found.schema === 0 && found.schemaFault !== undefined) return [];
  if (isEmptied(found)) return [problem(emptyFault(stateDir), "see the message")];
  const what = `the database has schema ${found.schema}, ${found.engine}`;
  if (found.marker === undefined) {
    const remedy = "`dropgate init`, run again with its company and user, completes it";
    return [problem(`${what}; its instance marker is not complete`, remedy)];
  }
  if (found.instanceId === found.marker) return [fine(what)];
  const remedy = "restore the database that belongs here, or remove dropgate.instance if this one is meant";
  return [problem("the database is not the one that belongs here: its instance marker differs", remedy)];
}

export interface CheckedStore {
  readonly findings: readonly CheckFinding[];
  /** The last backup, where one was taken of this state. */
  readonly lastBackup?: LastBackup | undefined;
  /** What is known of those that the daemon makes. */
  readonly backupState?: BackupState;
  /** Undefined when the database could not be asked. */
  readonly companies: readonly string[] | undefined;
  /** All that the database knows of, also those that are not configured any more. */
  readonly targets: readonly OutboundTarget[];
}

/** A pause by hand is easily forgotten: nothing ends it but a person. */
function checkHandPauses({
  handPauses,
  companies,
}: Pick<PresentStore, "handPauses" | "companies">): readonly CheckFinding[] {
  return handPauses.map(({ kind, name, companyId, pausedBy, pausedAt, reason }) => {
    const code = companies.find(({ id }) => id === companyId)?.code;
    const ofCompany = code === undefined ? "" : ` of ${code}`;
    const effect = kind === "target" ? "what is for it waits" : "nothing is fetched from it";
    return warning(
      `the ${kind} ${name}${ofCompany} is paused by ${pausedBy} since ${isoTime(pausedAt)} (${reason}): ${effect}`,
      `\`dropgate ${kind} resume ${name}\` when it may go on`,
    );
  });
}

/** A server is not read through. */
function checkDamage({ stateDir, url }: StatePlace): readonly CheckFinding[] {
  if (url !== undefined) return [];
  return findDamage(stateDir).map((what) =>
    problem(`the database is damaged: ${what}`, storeRemedies.damaged),
  );
}

/** Without a backup that was noted as running by a daemon that has died since. */
function liveState({ failure, running }: BackupState, stateDir: string): BackupState {
  return given({ failure, running: isBackupRunning(stateDir) ? running : undefined });
}

function remedyFor({ store }: StateConfig): string {
  return store === undefined
    ? "see that the file is readable and whole, or restore it from a backup"
    : "see the message; `store` names the secret with the address of the database";
}

/** A start waits for a server of PostgreSQL that is away, and so does a service that is checked before each start. */
function unusableFinding(config: StateConfig, error: unknown, reportAway: ReportAway): CheckFinding {
  const what = `the database cannot be opened: ${messageOf(error)}`;
  if (config.store !== undefined && isPassingStoreError(error))
    return reportAway(`${what}; a start waits until it can be`, remedyFor(config));
  const isForbidden = ["EACCES", "EPERM"].includes(systemCodeOf(error) ?? "");
  return problem(what, isForbidden ? rightUser : remedyFor(config));
}

/** The database can be opened with the pragmas that durability rests on, and is the one that belongs here. */
export async function checkStore(
  config: StateConfig,
  reportAway: ReportAway = warning,
): Promise<CheckedStore> {
  const { stateDir } = config;
  try {
    const place = statePlaceOf(config);
    const found = await inspectStore(place);
    if (found.kind === "present") {
      const { companies, targets } = found;
      const findings = [
        ...checkInstance(found, stateDir),
        ...(found.server === undefined ? [] : checkServer(found.server, reportAway)),
        ...checkHandPauses(found),
        ...checkSchema(found),
        ...checkAge(found),
        ...checkHold(found),
        ...checkClock(found),
        ...checkDamage(place),
      ];
      const isKnown = found.schemaFault === undefined && !found.isOutdated;
      const codes = isKnown ? companies.map(({ code }) => code) : undefined;
      const { lastBackup, backupState } = found;
      return {
        findings,
        companies: codes,
        targets,
        lastBackup,
        backupState: liveState(backupState, stateDir),
      };
    }
    const finding = problem(stateFault(stateDir, found.isMissing ? "lost" : "none"), "see the message");
    return { findings: [finding], companies: undefined, targets: [] };
  } catch (error) {
    return { findings: [unusableFinding(config, error, reportAway)], companies: undefined, targets: [] };
  }
}
