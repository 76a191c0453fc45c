/** Ends the hold of deliveries that a restore has begun. */
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { type DeliveryHold, endDeliveryHold, findDeliveryHold } from "../../store/outbound/delivery-hold.ts";
import { listOutboundTargets } from "../../store/outbound/outbound-targets.ts";
import { sendAgainText } from "../watch/delivery-hold-watch.ts";
import { type StateConfig, withAdminStore } from "./admin-store.ts";
import { findRunningDaemons, type RunningDaemons } from "./running-daemons.ts";

export interface ReleasedTarget {
  readonly company: string;
  readonly target: string;
  /** Deliveries that go out now, or when their target takes them. */
  readonly open: number;
}

export interface ReleasedDeliveries extends RunningDaemons {
  /** False when they were not held. */
  readonly isReleased: boolean;
  /** Those with open deliveries. */
  readonly targets: readonly ReleasedTarget[];
  /** From when hosts have to send again, in words. */
  readonly sendAgain?: string;
}

/** Ends the hold in a unit of work; undefined when deliveries are not held. */
export async function releaseHeld(
  tx: Transaction,
): Promise<{ readonly hold: DeliveryHold; readonly targets: readonly ReleasedTarget[] } | undefined> {
  const hold = await findDeliveryHold(tx);
  if (hold === undefined) return undefined;
  const targets = (await listOutboundTargets(tx))
    .filter(({ open }) => open > 0)
    .map(({ companyCode, name, open }) => ({ company: companyCode, target: name, open }));
  await endDeliveryHold(tx);
  return { hold, targets };
}

/** Lets deliveries go out again; changes nothing when they are not held. */
export async function releaseDeliveries(config: StateConfig): Promise<ReleasedDeliveries> {
  return await withAdminStore(config, async (store) => {
    const daemons = await findRunningDaemons(config, store);
    const released = await store.write("site", releaseHeld);
    if (released === undefined) return { isReleased: false, targets: [], ...daemons };
    const { hold, targets } = released;
    return { isReleased: true, targets, sendAgain: sendAgainText(hold), ...daemons };
  });
}
