/**
 * Deliveries that somebody gives up: one that waits, is behind another or is dead is dropped, and the next of its line
 * goes on. Who did so, when and why is kept (`delivery_repeats`). A running attempt continues; when it succeeds, the
 * delivery is delivered after all.
 */
import { isEndedDelivery } from "../../domain/outbound/delivery-state.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import {
  type Asked,
  dropGivenUp,
  findAsked,
  findWaitingOfLine,
  keepHistory,
  type RepeatedDelivery,
  type UnknownDelivery,
  unknownDelivery,
} from "../../store/outbound/delivery-requests.ts";
import { promoteNext } from "../../store/outbound/delivery-outcomes.ts";
import { announceNews, changeTargetCounts } from "../../store/outbound/outbound-targets.ts";

export interface GiveUp extends Asked {
  /** Who gives it up, as the machine knows them. */
  readonly by: string;
  readonly reason: string;
}

export type GiveUpOutcome =
  | UnknownDelivery
  /** It was delivered, or dropped before. */
  | { readonly kind: "refused"; readonly delivery: RepeatedDelivery }
  | {
      readonly kind: "givenUp";
      /** As it was. */
      readonly delivery: RepeatedDelivery;
      /** The next one of its stop or export, which this one blocked. */
      readonly next: Pick<RepeatedDelivery, "id" | "name"> | undefined;
    };

/** Gives one up, and lets the next of its line go on. */
export async function giveUpDelivery(
  tx: Transaction,
  { id, now, by, reason }: GiveUp,
): Promise<GiveUpOutcome> {
  const found = await findAsked(tx, id);
  if (found === undefined) return await unknownDelivery(tx, id);
  if (isEndedDelivery(found.state)) return { kind: "refused", delivery: found };
  await keepHistory(tx, { id, now, action: "giveUp", by, reason });
  await dropGivenUp(tx, { id, faultText: `given up by ${by}: ${reason}` });
  const isDead = found.state === "dead";
  await changeTargetCounts(tx, { id: found.targetId, open: isDead ? 0 : -1, dead: isDead ? -1 : 0 });
  await promoteNext(tx, found);
  await announceNews(tx, found.targetId);
  const next = found.state === "waiting" ? await findWaitingOfLine(tx, found) : undefined;
  return { kind: "givenUp", delivery: found, next };
}
