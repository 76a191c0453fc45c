/**
 * The composition root: builds everything from the configuration, starts it in order and stops it in reverse.
 *
 *   lock → store → parser threads → journal of an earlier version → pipeline (recovery) → deliveries, exports → load imports → folders
 *   → remotes → leases of companies → integrations → HTTP → SFTP → FTP → ready
 *
 * A failed start unwinds what is up. Nothing here decides anything about files; it only knows who needs whom.
 */
import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { nodePlaceOf } from "../../config/node-place.ts";
import { hostAndPort } from "../../config/reader/address-range.ts";
import { reloadDifference, reloadedConfig, shownDifference } from "../../config/reload.ts";
import type { Config } from "../../config/schema.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import { FtpEndpoint } from "../../endpoints/ftp/ftp-endpoint.ts";
import { FolderEndpoint } from "../../endpoints/folders/folder-endpoint.ts";
import type { RemoteEndpoint } from "../../endpoints/remote/remote-endpoint.ts";
import { type HostKey, readHostKeys } from "../../endpoints/sftp/host-key.ts";
import { SftpEndpoint } from "../../endpoints/sftp/sftp-endpoint.ts";
import { ensureCompanyTree } from "../../exchange/folders/company-folders.ts";
import { createFileExchange, type FolderExchange } from "../../exchange/file-exchange.ts";
import type { Integration } from "../../integrations/integration.ts";
import { Integrations } from "../../integrations/integrations.ts";
import { systemClock } from "../../lib/clock.ts";
import { makeDirectoryDurably } from "../../lib/files/durable-file.ts";
import { unlessMissing } from "../../lib/errors.ts";
import { given } from "../../lib/given.ts";
import { OperatorError } from "../../lib/operator-error.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { RecentTroubles } from "../../lib/logs/recent-troubles.ts";
import { ledgerNumberKind } from "../../inbound/receipts/receipts.ts";
import { createSealedNumbers } from "../../lib/sealed-numbers.ts";
import { findState, openExistingStore, stateFault } from "../../store/database/database.ts";
import { recordRemoval } from "../../store/ledger/files.ts";
import { sealingKeyOf } from "../../store/database/meta.ts";
import { type ProcessLock, takeProcessLock } from "../../store/database/process-lock.ts";
import { onceReachable } from "./once-reachable.ts";
import { buildParts, type Parts } from "./daemon-parts.ts";
import {
  documentPoolOptionsOf,
  exchangeFoldersOf,
  ftpOptionsOf,
  httpOptionsOf,
  signInOptionsOf,
} from "./part-options.ts";
import type { AlertWatch } from "../alerts/alert-watch.ts";
import { companyWorkOf } from "./company-work.ts";
import { auditReload } from "./audit-reload.ts";
import { alertWatchFor } from "./alert-watch-for.ts";
import { startDeliveryHoldWatch } from "../watch/delivery-hold-watch.ts";
import { type BackupSchedule, createBackupSchedule } from "../watch/backup-schedule.ts";
import { lookAtClock } from "../retention/clock-guard.ts";
import type { Health } from "../watch/health.ts";
import { type Outbound, startOutbound } from "./outbound.ts";
import { type HttpEndpoints, startHttp } from "./http-endpoints.ts";
import { exchangeFigures, noteCertificate } from "./read-figures.ts";
import { startLoadImports } from "./load-imports.ts";
import { treeNodeOf } from "./tree-node.ts";
import { startRemotes } from "./remotes.ts";
import { startTidying } from "./tidying.ts";
import { startSettingsWatch } from "../watch/settings-watch.ts";
import { startInbound } from "./start-inbound.ts";
import { startRestoredWatch } from "../watch/restored-watch.ts";
import { ReleaseStack } from "./service-group.ts";

export interface Daemon {
  /** What listens, for the line that says "ready". */
  readonly listening: Readonly<Record<string, string>>;
  readonly health: Health;
  /** Applies the settings that can change while running; the log names those that cannot. */
  reload(config: Config, integrations: ReadonlyMap<string, Integration>): Promise<void>;
  /** Notes that another configuration was to be taken over, and could not be read. */
  reloadFailed(): void;
  /** Stops in reverse order; returns the number of failures. */
  stop(deadline: AbortSignal): Promise<number>;
}

/** What the daemon is started with, besides its configuration. */
export interface DaemonSurroundings {
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Those of the configuration, read and compiled. */
  readonly integrations: ReadonlyMap<string, Integration>;
  /** The file that the configuration was read from. */
  readonly configFile: string;
  /** The last warnings and errors of the log. */
  readonly troubles: RecentTroubles;
  /** Called each minute while the start waits for the database. */
  readonly stillWaits?: () => void;
}

/** The real path: the endpoints know files by it, and the ledger has one name for each location. */
async function realStateDir(config: Config): Promise<Config> {
  return { ...config, stateDir: (await realpath(config.stateDir).catch(unlessMissing)) ?? config.stateDir };
}

/** The lock of the state directory, or of what a node has alone. */
async function lockPlaceOf(config: Config): Promise<ProcessLock> {
  const { nodeDir } = nodePlaceOf(config);
  if (config.store === undefined) return takeProcessLock(nodeDir);
  await makeDirectoryDurably(nodeDir);
  return takeProcessLock(nodeDir, "directory of a node");
}

async function openState(config: Config, stack: ReleaseStack, surroundings: OpenSurroundings) {
  const { log } = surroundings;
  const place = statePlaceOf(config);
  // Before the first file is made there, which is the lock.
  const presence = findState(place);
  if (presence !== "there") throw new OperatorError(stateFault(config.stateDir, presence));
  const lock = await lockPlaceOf(config);
  stack.push({ name: "lock", release: async () => lock.release() });
  const node = { name: nodePlaceOf(config).node, leaseMs: config.cluster.leaseMs };
  const open = () => openExistingStore(config.stateDir, { url: place.url, node, log });
  const store = await (place.url === undefined ? open() : onceReachable(open, surroundings));
  stack.push({ name: "store", release: () => store.close() });
  return store;
}

type OpenSurroundings = Pick<DaemonSurroundings, "log" | "signal" | "stillWaits">;

async function ensureTrees(parts: Pick<Parts, "companies" | "locations">): Promise<void> {
  const { companiesDirectory } = parts.locations;
  const codes = new Set((await parts.companies.watchedFolders()).map(({ companyCode }) => companyCode));
  for (const code of codes) await ensureCompanyTree(companiesDirectory, code);
}

function exchangeFor(parts: Parts): FolderExchange {
  const { locations, pipeline, clock, log, store } = parts;
  const { companiesDir } = exchangeFoldersOf(locations.stateDir);
  return createFileExchange({
    companiesDir,
    inbox: pipeline,
    arrivals: parts.arrivals,
    intake: parts.intake,
    limits: {
      get maxUploadBytes() {
        return parts.config.sftp.maxUploadBytes;
      },
    },
    clock,
    log,
    node: treeNodeOf(parts),
    async recordRemoval({ companyId, path, userName }) {
      const removal = { companyId, location: locations.toLedger(path), at: clock.now(), by: userName };
      await store.write(companyId, (tx) => recordRemoval(tx, removal));
    },
    recordPickup: (pickup) => parts.collectionWatch.record(pickup),
    receiptCollected: (receipt) => parts.receiptCollections.note(receipt),
  });
}

async function startFolders(parts: Parts): Promise<FolderEndpoint> {
  const { ownership, keeper, changeClock } = parts.cluster;
  const endpoint = new FolderEndpoint({
    changeClock,
    inbox: parts.pipeline,
    folders: parts.companies.watchedFolders,
    settings: () => parts.config.inbound,
    async isIncomplete(path, origin) {
      const prepared = await parts.documents.prepareFile(path, origin);
      return prepared.kind === "refused" && prepared.isIncomplete;
    },
    whyNoRoom: (company) => parts.intake.whyNoRoom(company),
    isSole: ownership.isSole,
    mayTakeForMs(companyId) {
      const fence = ownership.fenceOf(companyId);
      return fence === undefined ? 0 : fence.goodForMs?.();
    },
    clock: parts.clock,
    log: parts.log,
  });
  await parts.stack.start(endpoint, parts.signal);
  // Nothing of a company is decided before its folders were looked at.
  keeper?.add(companyWorkOf(endpoint), { isUrgent: true });
  return endpoint;
}

interface Traffic {
  readonly alerts: AlertWatch;
  readonly backups: BackupSchedule;
  readonly outbound: Outbound;
  readonly remotes: RemoteEndpoint;
}

function outboundFor(parts: Parts): Promise<Outbound> {
  const { store, cluster, clock, log, stack, signal, locations } = parts;
  return startOutbound({
    ...{ store, cluster, clock, log, stack, signal },
    stateDir: locations.stateDir,
    documentsDir: locations.documentsDirectory,
    config: () => parts.config,
  });
}

async function startSftp(parts: Parts, exchange: FolderExchange, hostKeys: readonly HostKey[]) {
  const options = parts.config.sftp;
  if (!options.enabled) return undefined;
  const { arrivals, signIn, log } = parts;
  const { received } = arrivals;
  const endpoint = new SftpEndpoint({ exchange, signIn, hostKeys, options, log, received });
  await parts.stack.start(endpoint, parts.signal);
  parts.ports.set("sftp", endpoint.port);
  parts.listening.push(() => exchangeFigures(parts, endpoint, exchange));
  for (const { type, fingerprint } of hostKeys) log.info({ type, fingerprint }, "SSH host key");
  return endpoint;
}

async function startFtp(parts: Parts, exchange: FolderExchange): Promise<FtpEndpoint | undefined> {
  if (!parts.config.ftp.enabled) return undefined;
  const { arrivals, signIn, log } = parts;
  const options = await ftpOptionsOf(parts.config);
  noteCertificate(parts, "ftp", options.tls);
  const endpoint = new FtpEndpoint({ exchange, signIn, options, log, received: arrivals.received });
  await parts.stack.start(endpoint, parts.signal);
  parts.ports.set("ftp", endpoint.port);
  parts.listening.push(() => exchangeFigures(parts, endpoint, exchange));
  return endpoint;
}

interface Endpoints extends Traffic {
  readonly http: HttpEndpoints;
  readonly sftp: SftpEndpoint | undefined;
  readonly ftp: FtpEndpoint | undefined;
}

interface Reloaded {
  readonly config: Config;
  readonly integrations: ReadonlyMap<string, Integration>;
}

async function reload(parts: Parts, endpoints: Endpoints, read: Reloaded): Promise<void> {
  const { http, sftp, ftp, outbound, remotes } = endpoints;
  const loaded = await realStateDir(read.config);
  const changes = reloadDifference(parts.config, loaded);
  const shown = shownDifference(parts.config, loaded);
  const next = reloadedConfig(parts.config, loaded);
  const [httpOptions, ftpOptions] = [await httpOptionsOf(next), await ftpOptionsOf(next)];
  http.reconfigure(httpOptions, next);
  noteCertificate(parts, "http", httpOptions.tls);
  sftp?.reload(next.sftp);
  ftp?.reload(ftpOptions);
  noteCertificate(parts, "ftp", ftpOptions.tls);
  parts.signIn.configure(signInOptionsOf(next));
  parts.integrations.configure(read.integrations);
  parts.log.level = next.log.level;
  parts.documents.configure(documentPoolOptionsOf(next, parts.log));
  parts.config = next;
  await ensureTrees(parts);
  await outbound.reload();
  // Whoever is told of incidents from now on hears of those that are open.
  void endpoints.alerts.look();
  await remotes.reload();
  const taken = changes.filter(({ needsRestart }) => !needsRestart).map(({ path }) => path);
  const waiting = changes.filter(({ needsRestart }) => needsRestart).map(({ path }) => path);
  await auditReload(parts, shown);
  Object.assign(parts.configRead, { at: parts.clock.now(), isLastGood: true });
  if (waiting.length > 0) parts.log.warn({ settings: waiting }, "these settings need a restart");
  parts.log.info({ settings: taken }, "configuration reloaded");
}

function listeningOn({ http, sftp, ftp }: Omit<Endpoints, keyof Traffic>, config: Config) {
  const scheme = config.http.tls === undefined ? "http" : "https";
  return given({
    http: `${scheme}://${hostAndPort(config.http.host, http.port)}${config.http.basePath}`,
    console:
      http.console &&
      `${scheme}://${hostAndPort(http.console.host, http.console.port)}${config.http.basePath}/console`,
    sftp: sftp && hostAndPort(sftp.address, sftp.port),
    ftp: ftp && hostAndPort(ftp.address, ftp.port),
    ftps: ftp?.implicitPort === undefined ? undefined : hostAndPort(ftp.address, ftp.implicitPort),
  });
}

async function startLeases({ cluster: { keeper }, store, config, stack, signal, log }: Parts): Promise<void> {
  if (keeper === undefined || store.leases === undefined) return;
  await stack.start(keeper, signal);
  const { leaseMs } = config.cluster;
  const watch = startSettingsWatch({ table: store.leases, node: nodePlaceOf(config).node, leaseMs, log });
  stack.push({ name: "settings of the nodes", release: () => watch.stop() });
}

async function hostKeysOf({ sftp, stateDir }: Config): Promise<readonly HostKey[]> {
  if (!sftp.enabled) return [];
  return await readHostKeys(join(stateDir, "keys"), { legacy: sftp.legacyAlgorithms });
}

async function startAll(parts: Parts, hostKeys: readonly HostKey[]): Promise<Daemon> {
  const { stack, health } = parts;
  await ensureTrees(parts);
  await parts.signIn.load();
  await makeDirectoryDurably(parts.locations.documentsDirectory);
  await startInbound(parts);
  const outbound = await outboundFor(parts);
  const exchange = exchangeFor(parts);
  stack.push({ name: "exchange", release: () => exchange.stop() });
  startTidying(parts, exchange);
  const { store, configFile, clock } = parts;
  const backups = createBackupSchedule({
    store,
    clock,
    log: parts.log,
    configFile,
    config: () => parts.config,
  });
  await stack.start(backups, parts.signal);
  const readers = await startLoadImports(parts);
  const folders = await startFolders(parts);
  const remotes = await startRemotes({ ...parts, config: () => parts.config });
  await startLeases(parts);
  const alerts = alertWatchFor(parts, backups);
  await stack.start(parts.integrations, parts.signal);
  const http = await startHttp(parts, { outbound, remotes, backups, alerts }, { folders, readers });
  const sftp = await startSftp(parts, exchange, hostKeys);
  const ftp = await startFtp(parts, exchange);
  health.watch("http", parts.config.http.host, http.port);
  if (http.console !== undefined && http.console.port !== http.port)
    health.watch("console", http.console.host, http.console.port);
  if (sftp !== undefined) health.watch("sftp", parts.config.sftp.host, sftp.port);
  if (ftp !== undefined) health.watch("ftp", parts.config.ftp.host, ftp.port);
  await stack.start(alerts, parts.signal);
  await health.refresh();
  void parts.collectionWatch.scan();
  void parts.arrivalWatch.look();
  return {
    listening: listeningOn({ http, sftp, ftp }, parts.config),
    health,
    reload: (config, integrations) =>
      reload(parts, { http, sftp, ftp, outbound, remotes, backups, alerts }, { config, integrations }),
    reloadFailed() {
      parts.configRead.isLastGood = false;
    },
    stop(deadline) {
      health.setStopping();
      return stack.releaseAll(deadline);
    },
  };
}

/** Builds and starts everything. When something fails, what is up is taken down again before the promise rejects. */
export async function startDaemon(loaded: Config, surroundings: DaemonSurroundings): Promise<Daemon> {
  const { log, signal, integrations: read, configFile, troubles } = surroundings;
  const stack = new ReleaseStack(log);
  const config = await realStateDir(loaded);
  try {
    const store = await openState(config, stack, surroundings);
    // Before anything notes what the clock shows now.
    await lookAtClock({ store, clock: systemClock });
    const restored = await startRestoredWatch({ store, stateDir: config.stateDir, log });
    stack.push({ name: "restored watch", release: () => restored.stop() });
    const holdWatch = await startDeliveryHoldWatch({ store, log });
    stack.push({ name: "hold of deliveries", release: () => holdWatch.stop() });
    const hostKeys = await hostKeysOf(config);
    const integrations = new Integrations({ integrations: read, log });
    const ledgerNumbers = createSealedNumbers(await sealingKeyOf(store), ledgerNumberKind);
    const rest = {
      log,
      clock: systemClock,
      stack,
      signal,
      integrations,
      ledgerNumbers,
      holdWatch,
      configFile,
      troubles,
    };
    return await startAll(await buildParts(config, store, rest), hostKeys);
  } catch (error) {
    await stack.releaseAll(AbortSignal.timeout(config.shutdown.drainMs));
    throw error;
  }
}
