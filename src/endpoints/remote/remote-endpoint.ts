/**
 * The endpoint that takes files from servers of others. Every remote has a poller and a thread of its own, so that one that
 * hangs blocks no other. The endpoint reads the list of remotes now and then, and starts, restarts and stops pollers as
 * remotes come, change and go with a reload or with their company.
 */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { UntakenOfRemote } from "../../inbound/remotes/untaken-files.ts";
import { aborted } from "../../lib/aborted.ts";
import { loggingFirstFailure } from "../../lib/logs/first-failure.ts";
import type { Service } from "../../lib/service.ts";
import type { PolledRemote, RemoteDeps, RemoteStatistics } from "./remote-deps.ts";
import { type PollerOptions, RemotePoller } from "./remote-poller.ts";

export interface RemoteEndpointDeps extends Omit<RemoteDeps, "runId"> {
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
  readonly #pollerDeps: RemoteDeps;
  readonly #pollers = new Map<string, RemotePoller>();
  readonly #closing = new Map<string, Promise<void>>();
  #turn: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #heedTimer: NodeJS.Timeout | undefined;
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
    this.#pollerDeps = { ...deps, log, runId: randomBytes(6).toString("hex") };
  }

  async start(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await this.reload();
    const { refreshMs = defaultRefreshMs, heedMs = defaultHeedMs } = this.#deps;
    this.#timer = setInterval(() => void this.reload(), refreshMs);
    this.#heedTimer = setInterval(() => void this.heed(), heedMs);
    this.#heedTimer.unref();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    clearInterval(this.#heedTimer);
    const closed = Promise.all([...this.#pollers.values()].map((poller) => poller.close()));
    await Promise.race([Promise.all([closed, ...this.#closing.values()]), aborted(deadline)]);
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
    const wanted = new Map(remotes.map((remote) => [keyOf(remote), remote]));
    for (const [key, poller] of this.#pollers) {
      if (!isDeepStrictEqual(wanted.get(key), poller.remote)) this.#close(key, poller);
    }
    for (const [key, remote] of wanted) {
      if (this.#pollers.has(key)) continue;
      // Never two pollers of one remote: each would take files that the other has not noted yet.
      await this.#closing.get(key);
      const failuresBefore = await this.#failuresOf(remote);
      const isPaused = (await this.#pausedKeys()).has(key);
      if (!this.#isStopped) this.#open(key, remote, { failuresBefore, isPaused });
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
    const poller = new RemotePoller(this.#pollerDeps, remote, { maxCandidates, ...standing });
    this.#pollers.set(key, poller);
    poller.run();
  }

  #close(key: string, poller: RemotePoller): void {
    this.#pollers.delete(key);
    const closed = poller.close().finally(() => this.#closing.delete(key));
    this.#closing.set(key, closed);
  }
}
