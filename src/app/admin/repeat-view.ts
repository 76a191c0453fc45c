/** The result of retries and repetitions of deliveries, as commands show it. */
import { isoTime } from "../../lib/iso-time.ts";
import type { RepeatOutcome } from "../../operations/deliveries/repeat-delivery.ts";

export interface RepeatView {
  readonly id: number;
  readonly isQueued: boolean;
  readonly name: string | null;
  /** Why not, or a remark. */
  readonly remarks: readonly string[];
}

type Refused = Extract<RepeatOutcome, { kind: "refused" }>;
type Queued = Extract<RepeatOutcome, { kind: "queued" }>;

const removed =
  "it was removed `outbound.keepDays` days after its delivery and cannot be sent any more: the host can still read the stop over HTTP";
const never = "there is no such delivery: `dropgate deliveries` lists them";

function remarksOf({ newerDelivered, isTargetConfigured, delivery }: Queued): string[] {
  const behind = delivery.state === "behind" ? ["earlier ones of the same stop or export are before it"] : [];
  const left = isTargetConfigured ? [] : ["its target is not in the configuration: it waits until it is"];
  if (newerDelivered === null) return [...behind, ...left];
  const { id, name, deliveredAt } = newerDelivered;
  const newer = `a newer file of the same stop, ${name} (delivery ${id}), was delivered at ${isoTime(deliveredAt)}: this one comes after it, and \`dropgate delivery resend ${id}\` sends the newer one once more behind it`;
  return [...behind, ...left, newer];
}

/** Why a delivery that does not exist cannot be repeated. */
export function unknownRemark({ wasRemoved }: { readonly wasRemoved: boolean }): string {
  return wasRemoved ? removed : never;
}

/** `whyNot` says why an existing delivery cannot be repeated in this way. */
export function toRepeatView(
  id: number,
  outcome: RepeatOutcome,
  whyNot: (refused: Refused) => string,
): RepeatView {
  switch (outcome.kind) {
    case "unknown":
      return { id, isQueued: false, name: null, remarks: [unknownRemark(outcome)] };
    case "refused":
      return { id, isQueued: false, name: outcome.delivery.name, remarks: [whyNot(outcome)] };
    case "queued":
      return { id, isQueued: true, name: outcome.delivery.name, remarks: remarksOf(outcome) };
  }
}
