import { anyFault } from "../../remote/network-faults.ts";
import { failedBy, outcomeOf } from "../../remote/transfer-fault.ts";
import type { DeliveryOutcome } from "../../outbound/target.ts";

export interface DeadlineOptions {
  readonly timeoutMs: number;
  /** The other side, as messages begin with it. */
  readonly where: string;
  readonly secrets: readonly (string | undefined)[];
}

/** Work under its total deadline; faults become outcomes. Rejects with the signal's reason when that is aborted. */
export async function withinDeadline(
  { timeoutMs, where, secrets }: DeadlineOptions,
  work: (bounded: AbortSignal) => Promise<DeliveryOutcome>,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  signal.throwIfAborted();
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await work(AbortSignal.any([signal, deadline]));
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (deadline.aborted) return failedBy("timeout", `${where}: not done within ${timeoutMs} ms.`);
    return outcomeOf(anyFault(error, where, secrets));
  }
}
