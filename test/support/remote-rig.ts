/** Remotes polled into a real pipeline with a real store, and what came of it. */
import { ledgerNumbers } from "./ledger-numbers.ts";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FetchSettings } from "../../src/endpoints/remote/fetch-messages.ts";
import type { PolledRemote, RemoteLimits } from "../../src/endpoints/remote/remote-deps.ts";
import { RemoteEndpoint } from "../../src/endpoints/remote/remote-endpoint.ts";
import { createLocations } from "../../src/inbound/places/locations.ts";
import { Pipeline } from "../../src/inbound/pipeline.ts";
import {
  createRemoteMemory,
  createRemoteStates,
  type RemoteMemory,
} from "../../src/inbound/remotes/remote-memory.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { createLogger, type Logger } from "../../src/lib/logs/log.ts";
import type { ServerSettings } from "../../src/remote/server-settings.ts";
import { insertCompany } from "../../src/store/accounts/companies.ts";
import type { Store } from "../../src/store/database/database.ts";
import { openFreshStore } from "./fresh-store.ts";
import { sharedDocuments } from "./shared-documents.ts";
import { type LedgerEntry, toLedgerEntry } from "../../src/store/ledger/files.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { waitFor } from "./wait-for.ts";

const never = new AbortController().signal;
/** Polls only when it is told to: the first round of its own begins before a test has put anything there. */
const rarelyMs = 1_000_000_000;

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [name: string]: unknown;
}

export interface RemoteChanges {
  readonly name?: string;
  readonly server?: Partial<ServerSettings>;
  readonly directory?: string | undefined;
  readonly moveTo?: string;
  readonly after?: PolledRemote["after"];
  readonly settleMs?: number;
  readonly timeoutMs?: number;
}

export class RemoteRig {
  readonly root = temporaryFolder();
  readonly locations = createLocations(this.root);
  readonly inbound = this.locations.inboundDirectory("ACME");
  readonly lines: LogLine[] = [];
  remotes: readonly PolledRemote[] = [];
  limits: RemoteLimits = { maxFileBytes: 50_000_000, giveUpAfterMs: 3_600_000 };
  /** Why nothing is taken at the moment. */
  noRoom: string | undefined;
  store!: Store;
  memory!: RemoteMemory;
  pipeline!: Pipeline;
  endpoint!: RemoteEndpoint;
  companyId = 0;
  /** The wall clock of the remotes. */
  now: () => number = () => Date.now();

  /** `maxCandidates`: names that are kept of a round. */
  static async open(maxCandidates?: number): Promise<RemoteRig> {
    const rig = new RemoteRig();
    rig.store = await openFreshStore(rig.root);
    const made = await rig.store.write("site", (tx) => insertCompany(tx, { code: "ACME", createdAt: 1 }));
    rig.companyId = made.company.id;
    mkdirSync(join(rig.inbound, ".again"), { recursive: true });
    const log = createLogger({
      level: "debug",
      destination: { write: (line) => void rig.lines.push(JSON.parse(line) as LogLine) },
    });
    rig.pipeline = new Pipeline({
      store: rig.store,
      documents: sharedDocuments,
      locations: rig.locations,
      flushUploads: () => undefined,
      ledgerNumbers,
      settings: () => ({
        ...{
          groupSize: 64,
          settleMs: 20,
          incompleteGraceMs: 0,
          giveUpAfterMs: 3_600_000,
          maxFileBytes: 50 * 2 ** 20,
          storePauseMs: 1_000,
        },
        rulesFor: () => ({ names: "strict", lateFiles: "refuse" }),
      }),
      companyCodeOf: async () => "ACME",
      clock: systemClock,
      log,
    });
    await rig.pipeline.start(never);
    rig.memory = createRemoteMemory({ store: rig.store, locations: rig.locations, clock: systemClock });
    rig.endpoint = rig.#newEndpoint(log, maxCandidates);
    await rig.endpoint.start(never);
    return rig;
  }

  #newEndpoint(log: Logger, maxCandidates?: number): RemoteEndpoint {
    return new RemoteEndpoint({
      ...{ inbox: this.pipeline, memory: this.memory, states: createRemoteStates(this), log },
      clock: { now: () => this.now() },
      intake: { whyNoRoom: async () => this.noRoom },
      limits: () => this.limits,
      random: () => 0.5,
      remotes: async () => this.remotes,
      ...{ refreshMs: 1_000_000, heedMs: 1_000_000 },
      ...(maxCandidates === undefined ? {} : { maxCandidates }),
    });
  }

  /** Puts an endpoint in the place of this one that knows only what the store has. */
  async restartEndpoint(): Promise<void> {
    await this.endpoint.stop(AbortSignal.timeout(10_000));
    this.endpoint = this.#newEndpoint(createLogger({ level: "silent" }));
    await this.endpoint.start(never);
  }

  remote(server: ServerSettings, changes: RemoteChanges = {}): PolledRemote {
    const { name = "partner", directory, moveTo, after = "delete" } = changes;
    const { settleMs = 20, timeoutMs = 20_000 } = changes;
    const fetch: FetchSettings = {
      server: { ...server, ...changes.server } as ServerSettings,
      directory,
      moveTo,
    };
    return {
      ...{ companyId: this.companyId, companyCode: "ACME", inboundDirectory: this.inbound },
      ...{ name, fetch, after, settleMs, timeoutMs },
      schedule: { kind: "every", everyMs: rarelyMs },
    };
  }

  /** Polls these from now on. */
  async use(...remotes: readonly PolledRemote[]): Promise<void> {
    this.remotes = remotes;
    await this.endpoint.reload();
    await this.endpoint.pollNow();
  }

  /** One round; resolves when all that came is decided. */
  async poll(): Promise<void> {
    await this.endpoint.pollNow();
    await this.decided();
  }

  /** Resolves when all that came is decided. */
  async decided(): Promise<void> {
    await waitFor("all is decided", () => this.pipeline.waitingTotal === 0);
  }

  async ledger(): Promise<readonly LedgerEntry[]> {
    return (await this.store.read.selectFrom("files").selectAll().orderBy("id").execute()).map(toLedgerEntry);
  }

  /** The names in the ledger, in the order in which they came. */
  async names(): Promise<readonly string[]> {
    return (await this.ledger()).map(({ name }) => name);
  }

  warnings(): readonly string[] {
    return this.lines
      .filter(({ level }) => level === "warn")
      .map(({ msg, reason, file }) => [msg, file, reason].filter((part) => part !== undefined).join(": "));
  }

  /** Downloads that are left over. */
  leftovers(): readonly string[] {
    const folder = join(this.inbound, ".fetching");
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  async close(): Promise<void> {
    await this.endpoint.stop(AbortSignal.timeout(10_000));
    await this.pipeline.stop();
    await this.store.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}
