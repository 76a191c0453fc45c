/** Says that deliveries are held after a restore: once in the log, and in readiness as long as it lasts. */
import { isoTime } from "../../lib/iso-time.ts";
import type { Logger } from "../../lib/logs/log.ts";
import type { Store } from "../../store/database/database.ts";
import { type DeliveryHold, findDeliveryHold } from "../../store/outbound/delivery-hold.ts";
import { startRounds } from "../../lib/rounds.ts";

/** From when hosts have to send again, in words. */
export function sendAgainText({ sendAgainFrom, lastReceivedAt }: DeliveryHold): string {
  const newest =
    lastReceivedAt === null ? "it has no file" : `its newest file was received ${isoTime(lastReceivedAt)}`;
  return `hosts have to send again what they sent since ${isoTime(sendAgainFrom)} (${newest})`;
}

/** The text for readiness, `check`, `explain` and the log. */
export function holdText(hold: DeliveryHold): string {
  const [what, since] =
    hold.backup === undefined
      ? ["the database was put back to an earlier moment", "that moment"]
      : [`this state was restored from the backup ${hold.backup}`, "the backup"];
  return (
    `${what}: ${sendAgainText(hold)}, and deliveries are held until \`dropgate delivery release\`, because what went out ` +
    `since ${since} would go out again`
  );
}

const lookEveryMs = 1_000;

export interface DeliveryHoldWatch {
  /** Undefined while deliveries go out. */
  current(): DeliveryHold | undefined;
  stop(): Promise<void>;
}

/**
 * Looks once, and while they are held again each second: a command ends the hold in another process. On a server a hold may
 * begin at any time: another node has noticed that the database was put back.
 */
export async function startDeliveryHoldWatch({
  store,
  log,
}: {
  readonly store: Pick<Store, "read" | "isOnServer">;
  readonly log: Logger;
}): Promise<DeliveryHoldWatch> {
  let hold = await findDeliveryHold(store.read);
  if (hold !== undefined) log.warn(holdText(hold));
  else if (!store.isOnServer) return { current: () => undefined, stop: async () => undefined };
  const look = async () => {
    if (hold === undefined && !store.isOnServer) return;
    try {
      const before = hold;
      hold = await findDeliveryHold(store.read);
      if (before !== undefined && hold === undefined) log.info("deliveries are released");
      if (before === undefined && hold !== undefined) log.warn(holdText(hold));
    } catch (error) {
      log.error({ err: error }, "whether deliveries are held cannot be read; retrying");
    }
  };
  const rounds = startRounds(look, { everyMs: lookEveryMs });
  return { current: () => hold, stop: () => rounds.stop() };
}
