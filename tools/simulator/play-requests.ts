/**
 * Sends requests with patience: requests that the gateway asks to send later, and those without an answer, are sent
 * again.
 */
import { setTimeout as pause } from "node:timers/promises";
import { type AskedKind, type DayTally, noteAnswer, noteRefusal } from "./day-tally.ts";
import {
  type GatewayAnswer,
  type GatewayClient,
  type GatewayRequest,
  UnreachableError,
} from "./gateway-client.ts";

/** One play of a day. */
export interface Play {
  readonly client: GatewayClient;
  readonly companyCode: string;
  readonly tally: DayTally;
  /** Aborted by whoever plays the day, or by `giveUp`. */
  readonly signal: AbortSignal;
  /** Ends the play because nothing further can succeed. */
  readonly giveUp: () => void;
  readonly onAnswer: () => void;
}

/** Reports are idempotent, so all of them may be sent again. A daemon that is started anew is back within this. */
const retryMs = [200, 500, 1_000, 2_000, 3_000, 3_000, 3_000] as const;
/** A longer `Retry-After` is a ban; nobody waits for its end. */
const longestWaitMs = 60_000;
const mostWaits = 100;

/** Resolves with false when the play has ended meanwhile. */
export async function rest(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms > 0 && !signal.aborted) {
    // It rejects only when the signal aborts, which is the answer.
    await pause(ms, undefined, { signal }).catch(() => undefined);
  }
  return !signal.aborted;
}

function isToWait({ status, retryAfterMs = 1_000 }: GatewayAnswer, waits: number): boolean {
  return (status === 429 || status === 503) && retryAfterMs <= longestWaitMs && waits < mostWaits;
}

/** The answer that counts; undefined when the play was ended before. Rejects with the last `UnreachableError`. */
async function sendPatiently(play: Play, request: GatewayRequest): Promise<GatewayAnswer | undefined> {
  const { client, tally, signal } = play;
  let [waits, retries] = [0, 0];
  while (!signal.aborted) {
    try {
      const answer = await client.send(request);
      if (!isToWait(answer, waits)) return answer;
      waits += 1;
      tally.waits += 1;
      await rest(answer.retryAfterMs ?? 1_000, signal);
    } catch (error) {
      const retryInMs = retryMs[retries];
      if (!(error instanceof UnreachableError) || retryInMs === undefined) throw error;
      retries += 1;
      tally.retries += 1;
      await rest(retryInMs, signal);
    }
  }
  return undefined;
}

/** Signed in wrongly, banned, or nobody there: every further request would meet the same, and count against the address. */
function isHopeless({ status }: Pick<GatewayAnswer, "status">): boolean {
  return status === 0 || status === 401 || status === 403 || status === 429 || status === 503;
}

/** What a request is expected to be answered with, to be judged by its answer. */
export type IsPlanned = (answer: GatewayAnswer) => boolean;

/**
 * Sends the request, counts its answer, and keeps it as a refusal when it is not as planned. Gives the answer when it is;
 * undefined when it is not, or when the play was ended before.
 */
export async function askAsPlanned(
  play: Play,
  asked: { readonly kind: AskedKind; readonly request: GatewayRequest },
  isPlanned: IsPlanned,
): Promise<GatewayAnswer | undefined> {
  const { kind, request } = asked;
  const { tally } = play;
  try {
    const answer = await sendPatiently(play, request);
    if (answer === undefined) return undefined;
    noteAnswer(tally, kind, answer);
    play.onAnswer();
    if (isPlanned(answer)) return answer;
    noteRefusal(tally, kind, { request, answer });
    if (isHopeless(answer)) play.giveUp();
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    noteRefusal(tally, kind, { request, answer: { status: 0, body: error.message } });
    play.giveUp();
  }
  return undefined;
}
