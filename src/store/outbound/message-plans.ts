/** Which customer messages the configuration asks for, as the transactions of state changes read it. */
import type { MessagePlan } from "../../domain/messages/message-settings.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import { rememberInTransaction } from "../database/transaction-answers.ts";

const planQuery = prepareQuery<{ companyId: number }, { plan: string }>((db, arg) =>
  db.selectFrom("message_plans").select("plan").where("company_id", "=", arg("companyId")),
);

const plans = rememberInTransaction((tx, companyId) =>
  planQuery.first(tx, { companyId }, ({ plan }) => JSON.parse(plan) as MessagePlan),
);

/** The plan of a company: read once in each transaction. Undefined when nothing is configured. */
export function messagePlan(tx: Transaction, companyId: number): Promise<MessagePlan | undefined> {
  return plans.get(tx, companyId);
}

/** Updates the stored copy of the configuration. */
export async function saveMessagePlan(
  tx: Transaction,
  companyId: number,
  plan: MessagePlan | undefined,
): Promise<void> {
  plans.forget(tx);
  await tx.deleteFrom("message_plans").where("company_id", "=", companyId).execute();
  if (plan === undefined) return;
  const row = { company_id: companyId, plan: JSON.stringify(plan) };
  await tx.insertInto("message_plans").values(row).execute();
}
