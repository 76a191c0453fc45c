/** Counts what was asked and answered while a day is played. */
import type { RequestKind } from "./day-plan.ts";
import type { GatewayAnswer, GatewayRequest } from "./gateway-client.ts";

/** Requests besides the plan: whether loads exist already, how an import proceeds, what a load has become. */
export type AskedKind = RequestKind | "loadSearch" | "importInfo" | "loadDetail";

/** An answer other than planned, with all that is needed to see why. */
export interface Refusal {
  readonly kind: AskedKind;
  readonly sender: string | undefined;
  readonly path: string;
  readonly request: string;
  /** 0 when no answer came. */
  readonly status: number;
  readonly answer: string;
}

/** So many refusals are kept in full; the others are only counted. */
const keptRefusals = 10;
/** A document makes a request long, and its text says nothing. */
const keptLength = 2_000;

export interface DayTally {
  readonly requestsByKind: Partial<Record<AskedKind, number>>;
  /** By status, and for a refusal its reason codes: `200`, `409 981`. */
  readonly answers: Record<string, number>;
  readonly refusals: Refusal[];
  readonly tookMs: number[];
  refusalCount: number;
  repeats: number;
  /** Answers 429 and 503 that were waited for and asked again. */
  waits: number;
  /** Requests that were sent again because no answer came. */
  retries: number;
}

export function createTally(): DayTally {
  return {
    ...{ requestsByKind: {}, answers: {}, refusals: [], tookMs: [] },
    ...{ refusalCount: 0, repeats: 0, waits: 0, retries: 0 },
  };
}

/** The reason codes of a refusal; empty for a success, and for what is no JSON. */
export function reasonCodesIn({ body, status }: Pick<GatewayAnswer, "body" | "status">): readonly number[] {
  if (status === 200) return [];
  try {
    const { Reasons = [] } = JSON.parse(body) as { readonly Reasons?: readonly { reasonCode: number }[] };
    return Reasons.map(({ reasonCode }) => reasonCode);
  } catch {
    return []; // something between us and the gateway answered; it is shown in full with the refusal
  }
}

/** Counts an answer. */
export function noteAnswer(tally: DayTally, kind: AskedKind, answer: GatewayAnswer): void {
  tally.requestsByKind[kind] = (tally.requestsByKind[kind] ?? 0) + 1;
  const name = [answer.status, ...reasonCodesIn(answer)].join(" ");
  tally.answers[name] = (tally.answers[name] ?? 0) + 1;
  tally.tookMs.push(answer.tookMs);
}

/** Keeps an answer that is not as planned. */
export function noteRefusal(
  tally: DayTally,
  kind: AskedKind,
  {
    request,
    answer,
  }: { readonly request: GatewayRequest; readonly answer: Pick<GatewayAnswer, "status" | "body"> },
): void {
  tally.refusalCount += 1;
  if (tally.refusals.length >= keptRefusals) return;
  const { sender, path, method, body = "" } = request;
  tally.refusals.push({
    ...{ kind, sender, path: `${method} ${path}`, request: body.slice(0, keptLength) },
    ...{ status: answer.status, answer: answer.body },
  });
}

export interface Latency {
  readonly median: number;
  readonly p99: number;
  readonly greatest: number;
}

/** Of all answers, in milliseconds; 0 without any. */
export function latencyOf({ tookMs }: Pick<DayTally, "tookMs">): Latency {
  const sorted = Float64Array.from(tookMs).sort();
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
  return { median: at(0.5), p99: at(0.99), greatest: at(1) };
}
