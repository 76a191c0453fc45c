/**
 * One remote:
 *
 *   waiting ──due──> listing ──new files──> settling ──settleMs──> listing again ──> taking ──> waiting
 *                       └──────── trouble, reported once ──> waiting, longer each time ──┘
 *
 * `RoundSchedule` says when a round is due, `SettlingFiles` lists, `FileTaker` takes, `RemoteHealth` keeps the results.
 * All of that is in memory. The store has the state of the remote for commands and alerts, written when it changes and each
 * minute; the failures in a row go on from there, so that a restart ends none. A command that asks for a round (`heed`) ends its pause, and is answered by one that began after it asked.
 */
import type { RemoteState } from "../../inbound/remotes/remote-memory.ts";
import type { UntakenOfRemote } from "../../inbound/remotes/untaken-files.ts";
import { secondMs } from "../../lib/durations.ts";
import { messageOf } from "../../lib/errors.ts";
import { sleep } from "../../lib/sleep.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import { RemoteCandidates } from "./remote-candidates.ts";
import { RemoteClient } from "./remote-client.ts";
import type { PolledRemote, RemoteDeps, RemoteStatistics } from "./remote-deps.ts";
import { RemoteHealth } from "./remote-health.ts";
import { RemoteReports } from "./remote-reports.ts";
import { RemoteStanding } from "./remote-standing.ts";
import { RoundSchedule } from "./round-schedule.ts";
import { SettlingFiles } from "./settling-files.ts";
import { FileTaker, RoundTrouble, sweepDownloads } from "./take-files.ts";

/** Names kept of one round; later rounds take the rest. */
const defaultMaxCandidates = 10_000;
/** How long a poller that is paused by hand sleeps until it looks whether it still is. */
const pausedSleepMs = 1_000;
/** The longest timer: the clock may change meanwhile, and Node has no timer of a month. */
const longestSleepMs = 60_000;

/** The parts that need a server; there are none when its settings cannot be read. */
interface Source {
  readonly client: RemoteClient;
  readonly candidates: RemoteCandidates;
  readonly files: SettlingFiles;
  readonly taker: FileTaker;
}

export interface PollerOptions {
  /** How many names are kept of one round. Default 10,000. */
  readonly maxCandidates?: number | undefined;
  /** How many rounds of earlier pollers have failed in a row since the last success. */
  readonly failuresBefore: number;
  /** Somebody has paused it by hand. */
  readonly isPaused: boolean;
}

export class RemotePoller {
  readonly remote: PolledRemote;
  readonly #deps: RemoteDeps;
  readonly #reports: RemoteReports;
  readonly #health: RemoteHealth;
  readonly #schedule: RoundSchedule;
  readonly #standing: RemoteStanding;
  readonly #source: Source | undefined;
  readonly #aborted = new AbortController();
  #turn: Promise<void> = Promise.resolve();
  #running: Promise<void> | undefined;
  #isSwept = false;
  #isPaused = false;

  constructor(
    deps: RemoteDeps,
    remote: PolledRemote,
    { maxCandidates, failuresBefore, isPaused }: PollerOptions,
  ) {
    const { companyId, companyCode, name, fetch, settleMs, timeoutMs } = remote;
    const log = deps.log.child({ company: companyCode, remote: name });
    this.#deps = deps;
    this.remote = remote;
    this.#isPaused = isPaused;
    this.#reports = new RemoteReports(log);
    this.#health = new RemoteHealth({ clock: deps.clock, log, reports: this.#reports, failuresBefore });
    this.#schedule = new RoundSchedule(deps, remote.schedule);
    this.#standing = new RemoteStanding(deps.states, remote, log);
    if ("fault" in fetch) return;
    const client = new RemoteClient(fetch, timeoutMs);
    const { server, directory = "" } = fetch;
    const key = { companyId, remote: `${name} ${server.host}:${server.port}/${directory}` };
    const candidates = new RemoteCandidates(maxCandidates ?? defaultMaxCandidates);
    const listed = { key, client, candidates, reports: this.#reports };
    const taken = (count: number) => this.#health.taken(count);
    this.#source = {
      ...{ client, candidates },
      files: new SettlingFiles({ ...deps, log, listed, settleMs }),
      taker: new FileTaker(deps, { ...listed, remote, log, taken }),
    };
  }

  get statistics(): RemoteStatistics {
    const { companyCode: company, name } = this.remote;
    return { company, remote: name, isPausedByHand: this.#isPaused, ...this.#health.statistics };
  }

  /** What has been seen there and is not taken, at most so many files. */
  untaken(most: number): UntakenOfRemote {
    const [now, nowMs] = [this.#deps.clock.now(), performance.now()];
    // Whole seconds: the two clocks differ by a little at each call, and the list is written when it has changed.
    const atOf = (ms: number) => Math.round((now + ms - nowMs) / secondMs) * secondMs;
    const files = new Map(this.#reports.untaken(atOf).map((file) => [file.name, file]));
    for (const { file, sinceMs } of this.#source?.candidates.seen() ?? []) {
      const { name, size } = file;
      const settling = { kind: "settling", unchangedSince: atOf(sinceMs) } as const;
      files.set(name, { name, size, why: this.#reports.whyNotTaken(name, atOf) ?? settling });
    }
    const shown = [...files.values()].slice(0, Math.max(0, most));
    const { companyCode: company, name: remote } = this.remote;
    const nextPollAt = atOf(nowMs + Math.max(0, this.#schedule.waitMs()));
    return { company, remote, nextPollAt, files: shown, more: files.size - shown.length };
  }

  /** Polls from now on until it is closed. */
  run(): void {
    this.#running ??= this.#run();
  }

  /** One round that begins after this call. Never rejects. */
  pollNow(): Promise<void> {
    const turn = this.#turn.then(() => this.#round());
    this.#turn = turn;
    return turn;
  }

  /** No round begins while somebody has paused it; one that is under way goes on to its end. */
  setPaused(isPaused: boolean): void {
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    const { companyCode: company, name: remote } = this.remote;
    const what = isPaused ? "the remote is paused by hand" : "the remote is resumed";
    this.#deps.log.info({ company, remote }, what);
  }

  /** Begins a round, after one that is under way, when somebody has asked for one and none has begun since. */
  heed(state: Pick<RemoteState, "askedAt" | "answeredAskedAt">): void {
    if (this.#aborted.signal.aborted || this.#isPaused || !this.#standing.isNewRequest(state)) return;
    void this.pollNow();
  }

  /** Ends at once what waits for the server; resolves when the fetched files are handed over. Safe to call twice. */
  async close(): Promise<void> {
    this.#aborted.abort();
    await this.#running;
    await this.#turn;
    await this.#source?.client.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#aborted;
    while (!signal.aborted) {
      const waitMs = this.#isPaused ? pausedSleepMs : this.#schedule.waitMs();
      if (waitMs > 0) await sleep(Math.min(waitMs, longestSleepMs), signal);
      else await this.pollNow();
    }
  }

  async #round(): Promise<void> {
    if (this.#aborted.signal.aborted || this.#isPaused) return;
    const { companyId } = this.remote;
    const { requestToAnswer, isAwaited } = this.#standing;
    if (isAwaited) this.#reports.endRests();
    try {
      await this.#poll();
      this.#health.succeeded();
    } catch (error) {
      // Also before it is told that the company is another node's: that was no fault of the remote.
      if (this.#aborted.signal.aborted || !this.#deps.isOurs(companyId)) return;
      if (error instanceof RoundTrouble) this.#health.failed(error.trouble);
      else this.#health.failed({ kind: "ownFault", message: messageOf(error) }, error);
    } finally {
      this.#schedule.ended(this.#health.failuresInRow);
    }
    if (!this.#deps.isOurs(companyId)) return;
    const rounds = { ...this.#schedule.standing, ...this.#health.standing };
    await this.#standing.note(rounds, requestToAnswer);
  }

  async #poll(): Promise<void> {
    const { fetch, inboundDirectory } = this.remote;
    const { signal } = this.#aborted;
    if ("fault" in fetch) throw new RoundTrouble(failedBy("configuration", fetch.fault));
    if (!this.#isSwept) await sweepDownloads(this.#deps.runId, inboundDirectory);
    this.#isSwept = true;
    const settled = await this.#source?.files.settled(signal);
    await this.#source?.taker.take(settled ?? [], this.#source.files.keptBack(), signal);
  }
}
