/**
 * One attempt: render, send, and have an outcome within a time that does not depend on the peer.
 *
 *   taken ──render──> rendered ──deliver──> outcome
 *                        │         ├── the time is over, or the daemon stops: the signal is aborted
 *                        │         └── nothing comes then either: the attempt is left behind
 *                        └── fails: a fault of the content, temporary
 */
import type { FailedOutcome } from "../domain/outbound/delivery-fault.ts";
import { messageOf } from "../lib/errors.ts";
import { killPoint } from "../lib/kill-point.ts";
import type { Logger } from "../lib/logs/log.ts";
import type {
  DeliveryToRender,
  RenderOrWithhold,
  RenderedDelivery,
  WithheldDelivery,
} from "./delivery-to-render.ts";
import type { DeliveryOutcome, Target } from "./target.ts";
import { minuteMs } from "../lib/durations.ts";

/** A target with the time that an attempt may take in all. */
export interface TargetInUse {
  readonly target: Target;
  readonly timeoutMs: number;
}

export type AttemptResult =
  /** The daemon stops, or another node has the company: nothing is known, nothing is spent. */
  | { readonly kind: "aborted" }
  /** Nothing was sent: it says nothing of the target. */
  | { readonly kind: "unrendered"; readonly outcome: FailedOutcome }
  /** It is not to be sent, or not now: it says nothing of the target either. */
  | { readonly kind: "withheld"; readonly why: WithheldDelivery }
  | { readonly kind: "tried"; readonly outcome: DeliveryOutcome; readonly rendered: RenderedDelivery };

export interface AttemptDeps {
  readonly render: RenderOrWithhold;
  readonly log: Logger;
  readonly inUse: TargetInUse;
  /** Aborted when the daemon will not wait any more. */
  readonly stopping: AbortSignal;
  /** Asked when it is about to be sent: whoever has the company sends it, and what comes after it. Default: always. */
  readonly isOurs?: () => boolean;
}

/** How long a target may take to say that it has given up. */
const graceMs = 1_000;
/** Rendering reads from the own disk only: it takes that long when the disk hangs. */
const renderTimeoutMs = 15 * minuteMs;

type Ending<T> =
  | { readonly kind: "settled"; readonly value: T }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "overdue" }
  | { readonly kind: "aborted" };

async function settle<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<Ending<T>> {
  try {
    return { kind: "settled", value: await work(signal) };
  } catch (error) {
    return { kind: "failed", error };
  }
}

/** Resolves a moment after the signal is aborted at the latest, whatever the work does. */
async function underDeadline<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { timeoutMs, stopping }: { readonly timeoutMs: number; readonly stopping: AbortSignal },
): Promise<Ending<T>> {
  const controller = new AbortController();
  const { promise: leftBehind, resolve } = Promise.withResolvers<Ending<T>>();
  let isOverdue = false;
  let grace: NodeJS.Timeout | undefined;
  const abort = (reason: unknown) => {
    if (controller.signal.aborted) return;
    controller.abort(reason);
    grace = setTimeout(() => resolve({ kind: "failed", error: reason }), graceMs);
  };
  const onStopping = () => abort(stopping.reason);
  const timer = setTimeout(() => {
    isOverdue = true;
    abort(new Error(`no outcome within ${timeoutMs} ms`));
  }, timeoutMs);
  stopping.addEventListener("abort", onStopping, { once: true });
  if (stopping.aborted) onStopping();
  try {
    const ending = await Promise.race([settle(work, controller.signal), leftBehind]);
    if (ending.kind !== "failed" || !controller.signal.aborted) return ending;
    return { kind: isOverdue ? "overdue" : "aborted" };
  } finally {
    clearTimeout(timer);
    clearTimeout(grace);
    stopping.removeEventListener("abort", onStopping);
  }
}

function overdue(timeoutMs: number): FailedOutcome {
  return {
    kind: "failed",
    fault: "timeout",
    isPermanent: false,
    scope: "target",
    message: `no result within ${timeoutMs} ms, the longest that an attempt may take: check whether the server is slow, or raise timeoutMs of the target`,
  };
}

function ourFault(fault: "content" | "protocol", error: unknown): FailedOutcome {
  const what = fault === "content" ? "the file could not be made" : "sending failed within dropgate";
  const message = `${what}: ${messageOf(error)}; the log has more`;
  return { kind: "failed", fault, isPermanent: false, scope: "delivery", message };
}

async function send(deps: AttemptDeps, rendered: RenderedDelivery): Promise<AttemptResult> {
  const { inUse, log, stopping } = deps;
  const { delivery } = rendered;
  const ending = await underDeadline((signal) => inUse.target.deliver(delivery, signal), {
    timeoutMs: inUse.timeoutMs,
    stopping,
  });
  switch (ending.kind) {
    case "settled":
      return { kind: "tried", outcome: ending.value, rendered };
    case "overdue":
      return { kind: "tried", outcome: overdue(inUse.timeoutMs), rendered };
    case "aborted":
      return { kind: "aborted" };
    case "failed":
      log.error({ err: ending.error, delivery: delivery.id }, "a target failed unexpectedly");
      return { kind: "tried", outcome: ourFault("protocol", ending.error), rendered };
  }
}

/** The files, or why there are none. */
async function render(
  { render: make, log, stopping }: AttemptDeps,
  row: DeliveryToRender,
): Promise<RenderedDelivery | Exclude<AttemptResult, { kind: "tried" }>> {
  const ending = await underDeadline(() => make(row), { timeoutMs: renderTimeoutMs, stopping });
  if (ending.kind === "settled") {
    const made = ending.value;
    return "kind" in made ? { kind: "withheld", why: made } : made;
  }
  if (ending.kind === "aborted") return { kind: "aborted" };
  const error =
    ending.kind === "failed" ? ending.error : new Error("it took too long; see whether the disk hangs");
  log.error({ err: error, delivery: row.guid, name: row.name }, "a delivery could not be rendered");
  return { kind: "unrendered", outcome: ourFault("content", error) };
}

/** Tries the delivery once. Never rejects, and resolves at the latest a second after its time is over. */
export async function attemptDelivery(deps: AttemptDeps, row: DeliveryToRender): Promise<AttemptResult> {
  killPoint("delivery.taken");
  const rendered = await render(deps, row);
  if ("kind" in rendered) return rendered;
  killPoint("delivery.rendered");
  const { stopping, isOurs = () => true } = deps;
  // A process that stood still has not heard yet that its lease is over.
  if (stopping.aborted || !isOurs()) return { kind: "aborted" };
  const result = await send(deps, rendered);
  killPoint("delivery.sent");
  return result;
}
