/**
 * One remote:
 *
 *   waiting ──due──> listing ──new files──> settling ──settleMs──> listing again ──> taking ──> waiting
 *                       └──────── trouble, told once ──> waiting, longer each time ──┘
 *
 * What was seen once is kept for the next round; nothing of it is kept over a restart. How it stands is written to the store
 * when that changes, and each minute, for commands to show. A command that asks for a round (`heed`) ends its pause.
 */
import { nextDue } from "../../domain/time/cron-schedule.ts";
import { pausedUntil } from "../../domain/outbound/retry-schedule.ts";
import type { RemoteState } from "../../inbound/remotes/remote-states.ts";
import { messageOf } from "../../lib/errors.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { sleep, sleepAtLeast } from "../../lib/sleep.ts";
import { failedBy } from "../../remote/transfer-fault.ts";
import { StopsKeptBack } from "./order-of-stops.ts";
import { listRemote } from "./read-remote.ts";
import { RemoteCandidates } from "./remote-candidates.ts";
import { createRemoteClient, type RemoteClient } from "./remote-client.ts";
import type { PolledRemote, RemoteDeps, RemoteStatistics } from "./remote-deps.ts";
import { RemoteReports } from "./remote-reports.ts";
import { RemoteStanding } from "./remote-standing.ts";
import { FileTaker, RoundTrouble, sweepDownloads, type Trouble } from "./take-files.ts";

/** Names that are kept of one round; the rest comes in later ones. */
const defaultMaxCandidates = 10_000;
/** Timers are set for so long at most: the clock may be changed meanwhile, and Node knows no timer of a month. */
const longestSleepMs = 60_000;

function faultOf(trouble: Trouble): string {
  return trouble.kind === "failed" ? trouble.fault : "ownFault";
}

export class RemotePoller {
  readonly remote: PolledRemote;
  readonly #deps: RemoteDeps;
  readonly #log: Logger;
  readonly #client: RemoteClient | undefined;
  readonly #candidates: RemoteCandidates;
  readonly #reports: RemoteReports;
  readonly #taker: FileTaker | undefined;
  readonly #aborted = new AbortController();
  #turn: Promise<void> = Promise.resolve();
  #running: Promise<void> | undefined;
  #isSwept = false;
  #told: string | undefined;
  #isLeftOutTold = false;
  #isFirst = true;
  /** The last round: by a clock that never jumps, and by that of the wall. */
  #endedMs = performance.now();
  #endedAt: number;
  #pauseMs = 0;
  #failuresInRow = 0;
  #failures = 0;
  #filesTaken = 0;
  #lastSuccessAt: number | undefined;
  readonly #standing: RemoteStanding;
  #trouble: Trouble | undefined;

  constructor(deps: RemoteDeps, remote: PolledRemote, maxCandidates = defaultMaxCandidates) {
    this.#deps = deps;
    this.remote = remote;
    this.#endedAt = deps.clock.now();
    this.#log = deps.log.child({ company: remote.companyCode, remote: remote.name });
    this.#candidates = new RemoteCandidates(maxCandidates);
    this.#reports = new RemoteReports(this.#log);
    this.#standing = new RemoteStanding(deps.states, remote, this.#log);
    if ("fault" in remote.fetch) return;
    this.#client = createRemoteClient(remote.fetch, remote.timeoutMs);
    this.#taker = new FileTaker(deps, {
      ...this.#listed(this.#client),
      remote,
      log: this.#log,
      taken: (count) => {
        this.#filesTaken += count;
      },
    });
  }

  get statistics(): RemoteStatistics {
    return {
      company: this.remote.companyCode,
      remote: this.remote.name,
      filesTaken: this.#filesTaken,
      failures: this.#failures,
      isFailing: this.#failuresInRow > 0 || this.#reports.hasLinkBreakers,
      lastSuccessAt: this.#lastSuccessAt,
    };
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

  /** Somebody may have asked for a round, by what the store says: then there is one at once, and nothing rests any more. */
  heed(state: Pick<RemoteState, "askedAt" | "polledAt">): void {
    if (this.#aborted.signal.aborted || !this.#standing.isNewWish(state)) return;
    this.#reports.endRests();
    void this.pollNow();
  }

  /** Ends at once what waits for the server, and resolves when what was fetched is handed over. Safe to call twice. */
  async close(): Promise<void> {
    this.#aborted.abort();
    await this.#running;
    await this.#turn;
    await this.#client?.close();
  }

  #listed(client: RemoteClient) {
    const { companyId, name, fetch } = this.remote;
    const place =
      "fault" in fetch ? "" : ` ${fetch.server.host}:${fetch.server.port}/${fetch.directory ?? ""}`;
    const key = { companyId, remote: name + place };
    return { key, client, candidates: this.#candidates, reports: this.#reports };
  }

  async #run(): Promise<void> {
    const { signal } = this.#aborted;
    while (!signal.aborted) {
      const waitMs = this.#waitMs();
      if (waitMs > 0) await sleep(Math.min(waitMs, longestSleepMs), signal);
      else await this.pollNow();
    }
  }

  /** After trouble by the schedule of retries: sooner than one by the clock would come, later than a short interval. */
  #waitMs(): number {
    const { schedule } = this.remote;
    const sinceMs = performance.now() - this.#endedMs;
    const pausedMs = this.#failuresInRow === 0 ? undefined : this.#pauseMs - sinceMs;
    if (schedule.kind === "every") {
      const everyMs = this.#isFirst ? 0 : schedule.everyMs;
      return Math.max(everyMs - sinceMs, pausedMs ?? 0);
    }
    const now = this.#deps.clock.now();
    this.#endedAt = Math.min(this.#endedAt, now); // the clock may have been put back
    const dueMs = nextDue(schedule.cron, schedule.zone, this.#endedAt) - now;
    return Math.min(dueMs, pausedMs ?? dueMs);
  }

  #ended(): void {
    this.#isFirst = false;
    this.#endedMs = performance.now();
    this.#endedAt = this.#deps.clock.now();
    const failures = this.#failuresInRow;
    this.#pauseMs = failures === 0 ? 0 : pausedUntil({ failures, now: 0, random: this.#deps.random() });
  }

  async #note(): Promise<void> {
    const trouble = this.#trouble;
    await this.#standing.note({
      polledAt: this.#endedAt,
      succeededAt: this.#lastSuccessAt ?? null,
      failures: this.#failuresInRow,
      pausedUntil: this.#pauseMs === 0 ? 0 : this.#endedAt + this.#pauseMs,
      fault: trouble === undefined ? null : faultOf(trouble),
      faultText: trouble?.message ?? null,
    });
  }

  async #round(): Promise<void> {
    if (this.#aborted.signal.aborted) return;
    try {
      await this.#poll();
      this.#succeeded();
    } catch (error) {
      if (this.#aborted.signal.aborted) return;
      if (error instanceof RoundTrouble) this.#failed(error.trouble);
      else this.#failed({ kind: "ownFault", message: messageOf(error) }, error);
    } finally {
      this.#ended();
    }
    await this.#note();
  }

  async #poll(): Promise<void> {
    const { fetch, inboundDirectory, settleMs } = this.remote;
    const { signal } = this.#aborted;
    if ("fault" in fetch) throw new RoundTrouble(failedBy("configuration", fetch.fault));
    if (!this.#isSwept) await sweepDownloads(this.#deps.runId, inboundDirectory);
    this.#isSwept = true;
    await this.#list();
    let settled = this.#candidates.settled(settleMs);
    if (settled.length < this.#candidates.size) {
      await sleepAtLeast(settleMs, signal);
      await this.#list();
      settled = this.#candidates.settled(settleMs);
    }
    await this.#taker?.take(settled, this.#keptBack(), signal);
  }

  /** By what the server still has in the making, and by what could not be fetched. */
  #keptBack(): StopsKeptBack {
    const kept = new StopsKeptBack();
    for (const { name } of this.#candidates.unsettled(this.remote.settleMs)) kept.add(name);
    const { giveUpAfterMs } = this.#deps.limits();
    for (const name of this.#reports.failing(performance.now(), giveUpAfterMs)) kept.add(name);
    return kept;
  }

  async #list(): Promise<void> {
    const { signal } = this.#aborted;
    signal.throwIfAborted();
    if (this.#client === undefined) return;
    const outcome = await listRemote(this.#deps, this.#listed(this.#client), signal);
    if (outcome.kind === "failed" || outcome.kind === "ownFault") throw new RoundTrouble(outcome);
    this.#tellLeftOut();
  }

  #tellLeftOut(): void {
    const { hasLeftOut, size } = this.#candidates;
    if (hasLeftOut && !this.#isLeftOutTold)
      this.#log.warn(
        { files: size },
        "the remote has more files than one poll takes; later polls take the rest",
      );
    this.#isLeftOutTold = hasLeftOut;
  }

  #succeeded(): void {
    this.#failuresInRow = 0;
    this.#trouble = undefined;
    this.#lastSuccessAt = this.#deps.clock.now();
    // The files that break the link are resting, and it will be broken again.
    if (this.#told === undefined || this.#reports.hasLinkBreakers) return;
    this.#log.info({}, "the remote can be used again");
    this.#told = undefined;
  }

  #failed(trouble: Trouble, error?: unknown): void {
    this.#failures += 1;
    this.#failuresInRow += 1;
    this.#trouble = trouble;
    const fault = faultOf(trouble);
    if (this.#told === fault) return;
    this.#told = fault;
    this.#log.warn(
      { fault, reason: trouble.message, ...(error === undefined ? {} : { err: error }) },
      "a remote cannot be polled; retrying after pauses that grow to 10 minutes",
    );
  }
}
