/**
 * The endpoint that takes files from servers of others. Every remote has a poller and a thread of its own, so that one that
 * hangs blocks no other. The endpoint reads the list of remotes now and then, and starts, restarts and stops pollers as
 * remotes come, change and go with a reload or with their company. Where several nodes share a database, each polls the remotes
 * of the companies that it has (`begin`, `end`).
 */
import { isDeepStrictEqual } from "node:util";
import type { UntakenOfRemote } from "../../inbound/remotes/untaken-files.ts";
import { aborted } from "../../lib/aborted.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Service } from "../../lib/service.ts";
import { TakenCompanies } from "../../lib/taken-companies.ts";
import type { PolledRemote, RemoteDeps, RemoteStatistics } from "./remote-deps.ts";
import { type PollerOptions, RemotePoller } from "./remote-poller.ts";

export interface RemoteEndpointDeps extends Omit<RemoteDeps, "runId" | "isOurs"> {
  /** Whether this process has all companies for ever; otherwise those that it is given. Default true. */
  readonly isSole?: boolean;
  /** Default: always. */
  readonly isOurs?: RemoteDeps["isOurs"];
  readonly remotes: () => Promise<readonly PolledRemote[]>;
  /** How many names the poller keeps of one round. Default 10,000. */
  readonly maxCandidates?: number;
  /** Time between two readings of the list of remotes. Default 10 s. */
  readonly refreshMs?: number;
  /** Time between two checks whether somebody has asked for a round. Default 1 s. */
  readonly heedMs?: number;
}

/** How many files are told that are not taken: the list is written anew each time it changes. */
const mostUntaken = 10_000;
const mostUntakenOfRemote = 1_000;

const defaultRefreshMs = 10_000;
const defaultHeedMs = 1_000;

function keyOf({ companyId, name }: Pick<PolledRemote, "companyId" | "name">): string {
  return `${companyId} ${name}`;
}

/** Give it the inbox of the same process, or files are handed over twice. */
export class RemoteEndpoint implements Service {
  readonly name = "remotes";
  readonly #deps: RemoteEndpointDeps;
  readonly #pollerDeps: Omit<RemoteDeps, "runId">;
  readonly #companies: TakenCompanies;
  readonly #pollers = new Map<string, RemotePoller>();
  readonly #closing = new Map<string, Promise<void>>();
  #turn: Promise<void> = Promise.resolve();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #refreshing: ReturnType<typeof loggingFirstFailure>;
  readonly #heeding: ReturnType<typeof loggingFirstFailure>;
  #isStopped = false;

  constructor(deps: RemoteEndpointDeps) {
    this.#deps = deps;
    const log = deps.log.child({ endpoint: "remotes" });
    this.#refreshing = loggingFirstFailure(
      deps.log,
      "the list of remotes cannot be read; the last one stays in use",
    );
    this.#heeding = loggingFirstFailure(deps.log, "requests to poll a remote cannot be read; retrying");
    const { isSole = true, isOurs = () => true } = deps;
    this.#companies = new TakenCompanies({ isSole });
    this.#pollerDeps = { ...deps, log, isOurs };
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.reload();
    const { refreshMs = defaultRefreshMs, heedMs = defaultHeedMs } = this.#deps;
    this.#timers.push(setInterval(() => void this.reload(), refreshMs));
    this.#timers.push(setInterval(() => void this.heed(), heedMs).unref());
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearInterval(timer);
    const closed = Promise.all([...this.#pollers.values()].map((poller) => poller.close()));
    await Promise.race([Promise.all([closed, ...this.#closing.values()]), aborted(deadline)]);
  }

  /** From now on the remotes of the company are polled here. */
  async begin(companyId: number): Promise<void> {
    this.#companies.take(companyId);
    // Not waited for: it asks no server, but reads files that the configuration names, which may lie on a share that hangs.
    void this.reload();
  }

  /** Nothing more of the company is fetched. Resolves when nothing is in hand. */
  async end(companyId: number): Promise<void> {
    this.#companies.leave(companyId);
    for (const [key, poller] of this.#pollers)
      if (poller.remote.companyId === companyId) this.#close(key, poller);
    const own = [...this.#closing].filter(([key]) => key.startsWith(`${companyId} `));
    await Promise.all(own.map(([, closed]) => closed));
  }

  /** Takes over the list of remotes as it is now. */
  reload(): Promise<void> {
    const refresh = async () => await this.#use(await this.#deps.remotes());
    this.#turn = this.#turn.then(() => this.#refreshing(refresh));
    return this.#turn;
  }

  /** One round of every remote; resolves when all are done. */
  async pollNow(): Promise<void> {
    await Promise.all([...this.#pollers.values()].map((poller) => poller.pollNow()));
  }

  statistics(): readonly RemoteStatistics[] {
    return [...this.#pollers.values()].map(({ statistics }) => statistics);
  }

  /** What the remotes have that is not taken; those that have nothing of the kind are left out. */
  untaken(): readonly UntakenOfRemote[] {
    let room = mostUntaken;
    return [...this.#pollers.values()].flatMap((poller) => {
      const untaken = poller.untaken(Math.min(room, mostUntakenOfRemote));
      room -= untaken.files.length;
      return untaken.files.length + untaken.more === 0 ? [] : [untaken];
    });
  }

  /** Takes over which remotes are paused by hand, and begins the rounds that somebody has asked for. */
  heed(): Promise<void> {
    return this.#heeding(async () => {
      const paused = await this.#pausedKeys();
      for (const [key, poller] of this.#pollers) poller.setPaused(paused.has(key));
      for (const state of await this.#deps.states.list())
        this.#pollers.get(keyOf({ companyId: state.companyId, name: state.remote }))?.heed(state);
    });
  }

  async #use(remotes: readonly PolledRemote[]): Promise<void> {
    if (this.#isStopped) return;
    const wanted = new Map(this.#companies.of(remotes).map((remote) => [keyOf(remote), remote]));
    for (const [key, poller] of this.#pollers) {
      if (!isDeepStrictEqual(wanted.get(key), poller.remote)) this.#close(key, poller);
    }
    for (const [key, remote] of wanted) {
      if (this.#pollers.has(key)) continue;
      // Never two pollers of one remote: each would take files that the other has not noted yet.
      await this.#closing.get(key);
      const failuresBefore = await this.#failuresOf(remote);
      const isPaused = (await this.#pausedKeys()).has(key);
      if (!this.#isStopped && this.#companies.has(remote.companyId))
        this.#open(key, remote, { failuresBefore, isPaused });
    }
  }

  async #pausedKeys(): Promise<ReadonlySet<string>> {
    const paused = await this.#deps.states.paused();
    return new Set(paused.map(({ companyId, remote: name }) => keyOf({ companyId, name })));
  }

  /** How many rounds have failed in a row, by what its last poller has recorded. */
  async #failuresOf({ companyId, name }: PolledRemote): Promise<number> {
    const states = await this.#deps.states.list();
    const state = states.find((one) => one.companyId === companyId && one.remote === name);
    return state?.failures ?? 0;
  }

  #open(
    key: string,
    remote: PolledRemote,
    standing: Pick<PollerOptions, "failuresBefore" | "isPaused">,
  ): void {
    const { maxCandidates } = this.#deps;
    const runId = this.#companies.runIdOf(remote.companyId);
    const poller = new RemotePoller({ ...this.#pollerDeps, runId }, remote, { maxCandidates, ...standing });
    this.#pollers.set(key, poller);
    poller.run();
  }

  #close(key: string, poller: RemotePoller): void {
    this.#pollers.delete(key);
    const closed = poller.close().finally(() => this.#closing.delete(key));
    this.#closing.set(key, closed);
  }
}
