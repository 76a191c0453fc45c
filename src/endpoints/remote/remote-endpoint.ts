/**
 * The endpoint that takes files from servers of others. Every remote has a poller and a thread of its own, so that one that
 * hangs holds up no other. The list of remotes is asked for now and then: one that came, changed or went, with a reload or
 * with its company, is started, started anew or stopped.
 */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { aborted } from "../../lib/aborted.ts";
import type { Service } from "../../lib/service.ts";
import type { PolledRemote, RemoteDeps, RemoteStatistics } from "./remote-deps.ts";
import { RemotePoller } from "./remote-poller.ts";

export interface RemoteEndpointDeps extends Omit<RemoteDeps, "runId"> {
  readonly remotes: () => Promise<readonly PolledRemote[]>;
  /** How many names are kept of one round. Default 10,000. */
  readonly maxCandidates?: number;
  /** Time between two questions for the list of remotes. Default 10 s. */
  readonly refreshMs?: number;
  /** Time between two looks whether somebody has asked for a round. Default 1 s. */
  readonly heedMs?: number;
}

export interface RemoteEndpoint extends Service {
  /** Takes over the list of remotes as it is now. */
  reload(): Promise<void>;
  /** One round of every remote; resolves when all are done. */
  pollNow(): Promise<void>;
  /** Begins the rounds that somebody has asked for. */
  heed(): Promise<void>;
  statistics(): readonly RemoteStatistics[];
}

const defaultRefreshMs = 10_000;
const defaultHeedMs = 1_000;

function keyOf({ companyId, name }: Pick<PolledRemote, "companyId" | "name">): string {
  return `${companyId} ${name}`;
}

class RemotePollers implements RemoteEndpoint {
  readonly name = "remotes";
  readonly #deps: RemoteEndpointDeps;
  readonly #pollerDeps: RemoteDeps;
  readonly #pollers = new Map<string, RemotePoller>();
  readonly #closing = new Map<string, Promise<void>>();
  #turn: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #heedTimer: NodeJS.Timeout | undefined;
  #isListFailing = false;
  #isHeedFailing = false;
  #isStopped = false;

  constructor(deps: RemoteEndpointDeps) {
    this.#deps = deps;
    const log = deps.log.child({ endpoint: "remotes" });
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

  reload(): Promise<void> {
    this.#turn = this.#turn.then(() => this.#refresh());
    return this.#turn;
  }

  async pollNow(): Promise<void> {
    await Promise.all([...this.#pollers.values()].map((poller) => poller.pollNow()));
  }

  statistics(): readonly RemoteStatistics[] {
    return [...this.#pollers.values()].map(({ statistics }) => statistics);
  }

  async heed(): Promise<void> {
    try {
      for (const state of await this.#deps.states.list())
        this.#pollers.get(keyOf({ companyId: state.companyId, name: state.remote }))?.heed(state);
      this.#isHeedFailing = false;
    } catch (error) {
      if (!this.#isHeedFailing)
        this.#deps.log.error({ err: error }, "requests to poll a remote cannot be read; retrying");
      this.#isHeedFailing = true;
    }
  }

  async #refresh(): Promise<void> {
    try {
      await this.#use(await this.#deps.remotes());
      this.#isListFailing = false;
    } catch (error) {
      if (!this.#isListFailing)
        this.#deps.log.error({ err: error }, "the list of remotes cannot be read; the last one stays in use");
      this.#isListFailing = true;
    }
  }

  async #use(remotes: readonly PolledRemote[]): Promise<void> {
    if (this.#isStopped) return;
    const wanted = new Map(remotes.map((remote) => [keyOf(remote), remote]));
    for (const [key, poller] of this.#pollers) {
      if (!isDeepStrictEqual(wanted.get(key), poller.remote)) this.#close(key, poller);
    }
    for (const [key, remote] of wanted) {
      if (this.#pollers.has(key)) continue;
      // Never two of one remote: each would take what the other has not noted yet.
      await this.#closing.get(key);
      if (!this.#isStopped) this.#open(key, remote);
    }
  }

  #open(key: string, remote: PolledRemote): void {
    const poller = new RemotePoller(this.#pollerDeps, remote, this.#deps.maxCandidates);
    this.#pollers.set(key, poller);
    poller.run();
  }

  #close(key: string, poller: RemotePoller): void {
    this.#pollers.delete(key);
    const closed = poller.close().finally(() => this.#closing.delete(key));
    this.#closing.set(key, closed);
  }
}

/** Makes the endpoint. Give it the inbox of the same process, or files are handed over twice. */
export function createRemoteEndpoint(deps: RemoteEndpointDeps): RemoteEndpoint {
  return new RemotePollers(deps);
}
