/**
 * Plays a planned day against a running gateway, by HTTP alone:
 *
 *   is the day new? -> imports, one after the other -> loads, some at a time -> is it all as planned?
 *
 * The requests of a load are sent one after the answer to the other, none before its time. The first answer that is not as
 * planned ends its load: what follows could only be refused too.
 */
import { mapConcurrently } from "../../src/lib/concurrency.ts";
import { checkDayIsNew, importLoads } from "./begin-day.ts";
import type { DayPlan, LoadPlan, PlannedRequest } from "./day-plan.ts";
import {
  type AskedKind,
  createTally,
  type DayTally,
  type Latency,
  latencyOf,
  reasonCodesIn,
  type Refusal,
} from "./day-tally.ts";
import type { GatewayAnswer, GatewayClient } from "./gateway-client.ts";
import { askAsPlanned, type Play, rest } from "./play-requests.ts";
import { differencesOfLoad } from "./verify-day.ts";

export interface DayProgress {
  readonly phase: "import" | "play" | "verify";
  /** Answered up to now. */
  readonly requests: number;
  /** Of the plan; requests besides it are not counted. */
  readonly plannedRequests: number;
  /** Played in full. */
  readonly loadsDone: number;
  readonly loads: number;
}

export interface PlayOptions {
  /** Simulated seconds in a real one, 0.1 or more; as fast as the gateway answers when not given. */
  readonly speed?: number;
  /** Loads that are played at the same time; 4 when not given. */
  readonly connections?: number;
  /** Whether each load is read and compared at the end; true when not given. */
  readonly verify?: boolean;
  readonly onProgress?: (progress: DayProgress) => void;
  /** Ends the day: what is under way is answered, nothing more is sent. */
  readonly signal?: AbortSignal;
}

export interface DayReport {
  /** All was answered as planned, to the end, and nothing differs. */
  readonly isAsPlanned: boolean;
  readonly isInterrupted: boolean;
  /** Of the whole play, in real time. */
  readonly tookMs: number;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly requestsByKind: Readonly<Partial<Record<AskedKind, number>>>;
  /** By status, and for a refusal its reason codes. */
  readonly answers: Readonly<Record<string, number>>;
  /** Milliseconds. */
  readonly latencyMs: Latency;
  readonly loads: { readonly planned: number; readonly completed: number };
  readonly stops: { readonly planned: number; readonly completed: number; readonly closed: number };
  readonly repeats: number;
  /** Answers 429 and 503 that were waited for. */
  readonly waits: number;
  /** Requests that were sent again because no answer came. */
  readonly retries: number;
  readonly refusalCount: number;
  /** The first ones, in full. */
  readonly refusals: readonly Refusal[];
  /** Undefined when nothing was compared. */
  readonly differences: readonly string[] | undefined;
}

/** Milliseconds of real time for a simulated one. */
type Pace = (simulatedMs: number) => number;

function isPlanned({ refusal }: PlannedRequest, answer: GatewayAnswer): boolean {
  return refusal === undefined ? answer.status === 200 : reasonCodesIn(answer).includes(refusal);
}

/** Whether the load was played in full. */
async function playLoad(play: Play, { requests }: LoadPlan, realMs: Pace): Promise<boolean> {
  const startedAt = performance.now();
  const firstAt = requests[0]?.at ?? 0;
  for (const planned of requests) {
    const { kind, sender, body, at, isRepeat } = planned;
    if (!(await rest(startedAt + realMs(at - firstAt) - performance.now(), play.signal))) return false;
    const request = { method: "POST", path: `${planned.path}/${play.companyCode}`, body, sender } as const;
    const answer = await askAsPlanned(play, { kind, request }, (one) => isPlanned(planned, one));
    if (answer === undefined) return false;
    if (isRepeat) play.tally.repeats += 1;
  }
  return true;
}

interface Stage {
  readonly plan: DayPlan;
  readonly options: PlayOptions;
  readonly done: LoadPlan[];
  phase: DayProgress["phase"];
}

/** Loads begin at their time of the day, or later when all connections are taken. */
async function playLoads(play: Play, stage: Stage, applied: ReadonlySet<string>): Promise<void> {
  const { speed = Number.POSITIVE_INFINITY, connections = 4 } = stage.options;
  const loads = stage.plan.loads.filter(({ loadNbr }) => applied.has(loadNbr));
  const realMs: Pace = (simulatedMs) => simulatedMs / speed;
  const dayAt = loads[0]?.requests[0]?.at ?? 0;
  const startedAt = performance.now();
  await mapConcurrently(loads, connections, async (load) => {
    const dueAt = startedAt + realMs((load.requests[0]?.at ?? 0) - dayAt);
    if (!(await rest(dueAt - performance.now(), play.signal))) return;
    if (await playLoad(play, load, realMs)) stage.done.push(load);
    play.onAnswer();
  });
}

/** Reads every load that was played in full; gives what differs from the plan, one line each. */
async function verifyLoads(play: Play, { done, options }: Stage): Promise<readonly string[]> {
  const { connections = 4 } = options;
  const differences = await mapConcurrently(done, connections, async (load) => {
    const path = `/v5/load/info/${encodeURIComponent(load.loadNbr)}/${play.companyCode}`;
    const asked = { kind: "loadDetail", request: { method: "GET", path, sender: undefined } } as const;
    const answer = await askAsPlanned(play, asked, ({ status }) => status === 200);
    return answer === undefined ? [] : differencesOfLoad(load, answer.body);
  });
  return differences.flat();
}

function stopCounts(plan: DayPlan, done: readonly LoadPlan[]) {
  const statuses = done.flatMap(({ outcome }) => outcome.stops.map(({ stopStatus }) => stopStatus));
  return {
    planned: plan.loads.reduce((sum, { outcome }) => sum + outcome.stops.length, 0),
    completed: statuses.filter((status) => status === "90").length,
    closed: statuses.filter((status) => status === "80").length,
  };
}

function plannedRequestsOf({ imports, loads }: DayPlan): number {
  return loads.reduce((sum, { requests }) => sum + requests.length, imports.length);
}

interface Ending {
  readonly tally: DayTally;
  readonly tookMs: number;
  readonly isInterrupted: boolean;
  readonly differences: readonly string[] | undefined;
}

function reportOf({ plan, done }: Stage, { tally, tookMs, isInterrupted, differences }: Ending): DayReport {
  const requests = tally.tookMs.length;
  const isComplete = done.length === plan.loads.length && !isInterrupted;
  return {
    isAsPlanned: isComplete && tally.refusalCount === 0 && (differences ?? []).length === 0,
    ...{ isInterrupted, tookMs, requests },
    requestsPerSecond: tookMs > 0 ? (requests * 1_000) / tookMs : 0,
    requestsByKind: tally.requestsByKind,
    answers: tally.answers,
    latencyMs: latencyOf(tally),
    loads: { planned: plan.loads.length, completed: done.length },
    stops: stopCounts(plan, done),
    ...{ repeats: tally.repeats, waits: tally.waits, retries: tally.retries },
    ...{ refusalCount: tally.refusalCount, refusals: tally.refusals, differences },
  };
}

/**
 * Plays the day and reports on it. Rejects with a `DayNotPlayableError` when it cannot even begin: nobody there, the
 * user refused, or loads that are done already. The client stays open.
 */
export async function playDay(
  plan: DayPlan,
  client: GatewayClient,
  options: PlayOptions = {},
): Promise<DayReport> {
  const { signal: ended = new AbortController().signal, onProgress, verify = true } = options;
  const stage: Stage = { plan, options, done: [], phase: "import" };
  const tally = createTally();
  const given = new AbortController();
  const totals = { plannedRequests: plannedRequestsOf(plan), loads: plan.loads.length };
  const onAnswer = () =>
    onProgress?.({
      ...totals,
      phase: stage.phase,
      requests: tally.tookMs.length,
      loadsDone: stage.done.length,
    });
  const play: Play = {
    ...{ client, tally, onAnswer, companyCode: encodeURIComponent(plan.options.companyCode) },
    signal: AbortSignal.any([ended, given.signal]),
    giveUp: () => given.abort(),
  };
  const startedAt = performance.now();
  await checkDayIsNew(play, plan);
  const applied = await importLoads(play, plan);
  stage.phase = "play";
  await playLoads(play, stage, applied);
  stage.phase = "verify";
  const differences = verify && !play.signal.aborted ? await verifyLoads(play, stage) : undefined;
  const tookMs = performance.now() - startedAt;
  return reportOf(stage, { tally, tookMs, differences, isInterrupted: ended.aborted });
}
