/** Deliveries of alerts that have not ended: they wait, are behind others, or are dead. */
import { alertTargetName, alertWays } from "../../domain/alerts/audience.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { isInState, isOpen } from "./delivery-states.ts";
import type { AttemptFault } from "./delivery-outcomes.ts";

/** All of them, of all audiences or one. */
export async function listUndeliveredAlerts(db: Reader | Transaction, audienceId?: number) {
  const inState = (isOf: ReturnType<typeof isOpen>) =>
    db
      .selectFrom("outbound_targets as t")
      .innerJoin("deliveries as d", "d.target_id", "t.id")
      .select(["d.id", "d.company_id as companyId", "d.target_id as targetId", "d.state"])
      .select("d.order_key as receiver")
      .where("t.name", "in", alertWays.map(alertTargetName))
      .$if(audienceId !== undefined, (some) => some.where("t.company_id", "=", audienceId ?? 0))
      .where(isOf)
      .execute();
  // One after the other: each of the two has an index of its own.
  return [...(await inState(isOpen("d.state"))), ...(await inState(isInState("d.state", "dead")))];
}

/** Drops one that has not ended. */
export const dropUndelivered = prepareQuery<{ id: number } & AttemptFault>((db, arg) =>
  db
    .updateTable("deliveries")
    .set({ state: "dropped", ...namedArguments(arg, "fault", "fault_text") })
    .where("id", "=", arg("id")),
).run;
