/** The parts of the daemon that others are started with, built from the configuration and the open store. */
import { nodePlaceOf } from "../../config/node-place.ts";
import type { Config } from "../../config/schema.ts";
import { createDocumentPool, type DocumentPool } from "../../documents/pool/document-pool.ts";
import type { Integrations } from "../../integrations/integrations.ts";
import { type Arrivals, createArrivals } from "../../exchange/arrivals/arrivals.ts";
import { createDiskSpace } from "../../exchange/uploads/disk-space.ts";
import { Intake } from "../../exchange/uploads/intake.ts";
import { createLocations, type Locations } from "../../inbound/places/locations.ts";
import { DecisionWatches } from "../../inbound/lanes/decision-watch.ts";
import { type InboundPipeline, NodePipeline } from "../../inbound/node-pipeline.ts";
import { Pipeline, type PipelineDependencies } from "../../inbound/pipeline.ts";
import type { Clock } from "../../lib/clock.ts";
import { systemDisk } from "../../lib/files/durable-file.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { RecentTroubles } from "../../lib/logs/recent-troubles.ts";
import type { SealedNumbers } from "../../lib/sealed-numbers.ts";
import { keepThreadHeapsSmall } from "../../lib/threads/thread-heaps.ts";
import { type ConfigurableSignIn, createSignIn } from "../../sign-in/create-sign-in.ts";
import type { SignInProtocol } from "../../sign-in/sign-in.ts";
import { listLiveNodes } from "../../store/cluster/live-nodes.ts";
import type { Store } from "../../store/database/database.ts";
import { type AppliedWatch, startAppliedWatch } from "../watch/applied-watch.ts";
import { ArrivalWatch } from "../watch/arrival-watch.ts";
import { CollectionWatch } from "../watch/collection-watch.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import { ownWorkOf, siteLane } from "./own-work.ts";
import { type CompanyDirectory, createCompanyDirectory } from "./company-directory.ts";
import {
  documentPoolOptionsOf,
  exchangeFoldersOf,
  minFreeBytesOf,
  pipelineSettingsOf,
  signInOptionsOf,
} from "./part-options.ts";
import { ReceiptCollections } from "../watch/receipt-collections.ts";
import type { DeliveryHoldWatch } from "../watch/delivery-hold-watch.ts";
import { createRetention, type Retention } from "../retention/retention.ts";
import { FileRates } from "../watch/file-rates.ts";
import { createHealth, type Health } from "../watch/health.ts";
import { startHeldReports } from "../watch/shown/held-report.ts";
import { NodeStandings } from "../watch/shown/node-standings.ts";
import { startLedgerWatch, verifyGracesOf } from "../watch/ledger-watch.ts";
import { type LoopLag, startLoopLag } from "../watch/loop-lag.ts";
import type { EndpointFigures } from "../watch/metrics/figures.ts";
import type { ReleaseStack } from "./service-group.ts";
import { statePlaceOf } from "../../config/store-url.ts";
import type { UntakenOfRemote } from "../../inbound/remotes/untaken-files.ts";
import { startStoreWatch } from "../watch/store-watch.ts";
import { troublesOf } from "../watch/troubles.ts";

/** What the daemon is made of but for its endpoints. */
export interface Parts {
  readonly ledgerNumbers: SealedNumbers;
  config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly stack: ReleaseStack;
  readonly signal: AbortSignal;
  /** The file that the configuration was read from. */
  readonly configFile: string;
  readonly locations: Locations;
  readonly store: Store;
  /** Whose background work this process does, by leases where there are several nodes. */
  readonly cluster: Cluster;
  readonly companies: CompanyDirectory;
  readonly documents: DocumentPool;
  readonly pipeline: InboundPipeline;
  /** Who is told of each decision. */
  readonly decisionWatches: DecisionWatches;
  /** Room for more files, by whatever way they come. */
  readonly intake: Intake;
  readonly signIn: ConfigurableSignIn;
  readonly health: Health;
  /** Whether deliveries are held since a restore. */
  readonly holdWatch: DeliveryHoldWatch;
  /** What listens, for the metrics. */
  readonly listening: (() => EndpointFigures)[];
  /** What remotes have that is not taken, for `explain`. */
  readonly untaken: (() => readonly UntakenOfRemote[])[];
  /** When the certificate that an endpoint uses expires, milliseconds UTC. */
  readonly certificates: Map<SignInProtocol, number>;
  /** The ports that are listened on: not those of the configuration, where it leaves the choice to the system. */
  readonly ports: Map<SignInProtocol, number>;
  /** When the configuration in force was read, and whether none was refused since. */
  readonly configRead: { at: number; isLastGood: boolean };
  /** The last warnings and errors of the log. */
  readonly troubles: RecentTroubles;
  readonly loopLag: LoopLag;
  readonly appliedWatch: AppliedWatch;
  readonly collectionWatch: CollectionWatch;
  readonly receiptCollections: ReceiptCollections;
  readonly arrivalWatch: ArrivalWatch;
  /** How companies stand at all nodes. */
  readonly standings: NodeStandings;
  readonly integrations: Integrations;
  readonly retention: Retention;
  /** Takes what uploads bring to the pipeline. */
  readonly arrivals: Arrivals;
}

interface Current {
  readonly config: Config;
}

type BuiltOf<Names extends keyof Parts> = Pick<Parts, Names | "locations" | "clock" | "log"> & {
  readonly current: Current;
};

function intakeFor(built: BuiltOf<"pipeline" | "standings" | "cluster">): Intake {
  const { current, locations, pipeline, standings, clock, log, cluster } = built;
  return new Intake({
    isCutOff: (companyId) => cluster.keeper?.isCutOff === true && pipeline.isElsewhere(companyId),
    space: createDiskSpace({
      directory: exchangeFoldersOf(locations.stateDir).companiesDir,
      minFreeBytes: (diskBytes) => minFreeBytesOf(current.config)(diskBytes),
      ...{ disk: systemDisk, clock },
    }),
    maxWaiting: () => current.config.inbound.maxWaiting,
    waitingCount: (companyId) =>
      pipeline.isElsewhere(companyId)
        ? standings.waitingElsewhere(companyId)
        : pipeline.waitingCount(companyId),
    ...{ clock, log },
  });
}

function startWatches(built: BuiltOf<"store" | "companies" | "stack" | "pipeline" | "cluster">) {
  const { isOurs } = ownWorkOf(built);
  const { current, store, locations, companies, pipeline, cluster, clock, log, stack } = built;
  const graces = verifyGracesOf(current.config);
  const ledgerWatch = startLedgerWatch({
    ...{ store, locations, clock, log, ...graces },
    isOurs: () => isOurs(siteLane),
  });
  stack.push({ name: "ledger watch", release: () => ledgerWatch.stop() });
  const collectionWatch = new CollectionWatch({
    ...{ store, clock, log, isOurs },
    config: () => current.config,
    companyCodeOf: companies.codeOf,
  });
  stack.push({ name: "collection watch", release: () => collectionWatch.stop() });
  const storeWatch = startStoreWatch({ store, log, ...statePlaceOf(current.config) });
  stack.push({ name: "store watch", release: () => storeWatch.stop() });
  const lastAppliedAt = () => pipeline.lastAppliedAt;
  const appliedWatch = startAppliedWatch({ store, lastAppliedAt, log });
  stack.push({ name: "applied watch", release: () => appliedWatch.stop() });
  const arrivalWatch = new ArrivalWatch({ store, clock, log, isOurs, config: () => current.config });
  stack.push({ name: "arrival watch", release: () => arrivalWatch.stop() });
  const loopLag = startLoopLag();
  stack.push({ name: "loop lag", release: async () => loopLag.stop() });
  const { stateDir } = locations;
  const { shownDir } = nodePlaceOf(current.config);
  const standings = new NodeStandings({
    ...{ pipeline, arrivalWatch, collectionWatch, clock, log, stateDir, shownDir },
    liveNodes: () => listLiveNodes(store.read),
    incarnation: cluster.incarnation,
  });
  stack.push({ name: "standings of nodes", release: () => standings.stop() });
  return { loopLag, appliedWatch, collectionWatch, arrivalWatch, standings };
}

type CheckedParts = "store" | "documents" | "pipeline" | "intake" | "holdWatch" | "cluster";

function healthFor(built: BuiltOf<CheckedParts>): Health {
  const { current, store, documents, pipeline, intake, holdWatch, cluster, clock } = built;
  return createHealth({
    ...{ store, documents, clock },
    timeoutMs: () => current.config.watchdog.selfCheckTimeoutMs,
    troubles: () =>
      troublesOf({
        damage: store.condition.damage,
        tooOld: cluster.keeper?.tooOld,
        treeFault: cluster.keeper?.treeFault,
        held: pipeline.held(),
        noRoom: intake.current(),
        deliveryHold: holdWatch.current(),
        drainingNode: drainingNodeOf(current.config, cluster),
        now: clock.now(),
      }),
  });
}

function drainingNodeOf(config: Config, { keeper }: Cluster): string | undefined {
  return keeper?.statistics().isDraining === true ? nodePlaceOf(config).node : undefined;
}

/** Gives the list of those that know what remotes have that is not taken. */
function startHeldReportsOf(
  built: BuiltOf<"store" | "pipeline" | "intake" | "stack" | "holdWatch" | "cluster">,
): Parts["untaken"] {
  const { current, cluster, store, pipeline, intake, clock, log, stack, holdWatch } = built;
  const untaken: Parts["untaken"] = [];
  const stop = startHeldReports({
    shownDir: nodePlaceOf(current.config).shownDir,
    incarnation: cluster.incarnation,
    current: () => ({
      companies: pipeline
        .heldInDetail()
        .filter(({ halt, files, keptBack }) => halt !== undefined || files.length > 0 || keptBack.length > 0),
      remotes: untaken.flatMap((ofEndpoint) => ofEndpoint()),
      // `companies` lists each held file by itself.
      troubles: troublesOf({
        ...{ damage: store.condition.damage, held: [], noRoom: intake.current() },
        deliveryHold: holdWatch.current(),
        now: clock.now(),
      }).map(({ message }) => message),
    }),
    log,
  });
  stack.push({ name: "held reports", release: stop });
  return untaken;
}

function startReceiptCollections(
  deps: Pick<Parts, "store" | "clock" | "log" | "ledgerNumbers" | "stack">,
): ReceiptCollections {
  const collections = new ReceiptCollections(deps);
  deps.stack.push({ name: "collections of receipts", release: () => collections.stop() });
  return collections;
}

/** What is told of each decision from the first on. */
function startDecisionWatches(deps: Pick<Parts, "store" | "clock" | "log" | "stack">): DecisionWatches {
  const watches = new DecisionWatches();
  const fileRates = new FileRates(deps);
  deps.stack.push({ name: "figures of files", release: () => fileRates.stop() });
  watches.add(fileRates);
  return watches;
}

function startSignIn(parts: Pick<Parts, "store" | "clock" | "log" | "stack" | "config">): ConfigurableSignIn {
  const { store, clock, log, stack, config } = parts;
  const signIn = createSignIn({ store, clock, log, options: signInOptionsOf(config) });
  stack.push({ name: "sign-in", release: () => signIn.settled() });
  return signIn;
}

/** What the parts are built from besides. */
type Given = Pick<
  Parts,
  | "log"
  | "clock"
  | "stack"
  | "signal"
  | "integrations"
  | "ledgerNumbers"
  | "holdWatch"
  | "configFile"
  | "troubles"
>;

/** That of all companies, or that of a node, with which the work of a company begins. */
async function createPipeline(
  { current, store, log, ports }: Pick<Parts, "store" | "log" | "ports"> & { readonly current: Current },
  given: Omit<PipelineDependencies, "flushUploads">,
): Promise<Pick<Parts, "cluster" | "pipeline" | "arrivals">> {
  let node: NodePipeline | undefined;
  let gathered: Arrivals | undefined;
  const deps: PipelineDependencies = { ...given, flushUploads: (companyId) => gathered?.flush(companyId) };
  const cluster = await createCluster({
    ...{ store, log, companyCodeOf: deps.companyCodeOf, ports },
    currentConfig: () => current.config,
    readArrived: async (arrivals, onInLine) => await node?.readArrived(arrivals, onInLine),
  });
  const { keeper } = cluster;
  const { arrivals } = store;
  if (keeper !== undefined && arrivals !== undefined) {
    const lookForArrivals = (companyId: number) => keeper.lookForArrivals(companyId);
    node = new NodePipeline({ ...deps, arrivals, ownership: keeper, lookForArrivals });
    keeper.add(node);
  }
  const pipeline = node ?? new Pipeline(deps);
  gathered = createArrivals(pipeline);
  return { cluster, pipeline, arrivals: gathered };
}

/** Builds them; the watches run from now on, and their ends are on the stack. */
export async function buildParts(config: Config, store: Store, rest: Given): Promise<Parts> {
  const { log, clock, stack, ledgerNumbers, holdWatch } = rest;
  const locations = createLocations(config.stateDir);
  keepThreadHeapsSmall();
  const documents = createDocumentPool({
    ...documentPoolOptionsOf(config, log),
    documentsDir: locations.documentsDirectory,
  });
  // Each reload replaces the configuration, and all parts see the one in force.
  const current = { config };
  const companies = createCompanyDirectory({ read: store.read, locations, config: () => current.config });
  const ports: Parts["ports"] = new Map();
  const decisionWatches = startDecisionWatches({ ...rest, store });
  const { cluster, pipeline, arrivals } = await createPipeline(
    { ...rest, current, store, ports },
    {
      ...{ store, documents, locations, ledgerNumbers, clock, log, watch: decisionWatches },
      settings: () => pipelineSettingsOf(current.config),
      companyCodeOf: companies.codeOf,
    },
  );
  const watched = { current, locations, store, pipeline, clock, log, stack, cluster };
  const watches = startWatches({ ...watched, companies });
  const intake = intakeFor({ ...watched, ...watches });
  stack.push({ name: "intake", release: async () => intake.stop() });
  const signIn = startSignIn({ ...rest, store, config });
  const reported = { ...watched, intake, holdWatch };
  const health = healthFor({ ...reported, documents });
  const receiptCollections = startReceiptCollections({ ...rest, store });
  const untaken = startHeldReportsOf(reported);
  stack.push({ name: "arrivals", release: async () => arrivals.stop() });
  const retention = createRetention({
    ...{ ...ownWorkOf({ store, cluster }), locations, ledgerNumbers, clock, log },
    isShared: !cluster.ownership.isSole,
    config: () => current.config,
  });
  return {
    ...rest,
    ...{ locations, store, companies, documents, pipeline, arrivals, intake, signIn, health, ...watches },
    ...{ retention, untaken, decisionWatches, receiptCollections, listening: [] },
    certificates: new Map(),
    ...{ cluster, ports },
    configRead: { at: clock.now(), isLastGood: true },
    get config() {
      return current.config;
    },
    set config(next: Config) {
      current.config = next;
    },
  };
}
