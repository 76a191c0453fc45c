/** Addresses that want no customer messages, by company. */
import { addressKey } from "../../domain/messages/message-address.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export interface OptOut {
  readonly companyId: number;
  /** An e-mail address, or a number for text messages. */
  readonly address: string;
}

const optOutQuery = prepareQuery<{ companyId: number; key: string }, { created_at: number }>((db, arg) =>
  db
    .selectFrom("message_opt_outs")
    .select("created_at")
    .where("company_id", "=", arg("companyId"))
    .where("address_key", "=", arg("key")),
);

/** Whether the address wants none. */
export async function isOptedOut(db: Reader | Transaction, { companyId, address }: OptOut): Promise<boolean> {
  return (await optOutQuery.find(db, { companyId, key: addressKey(address) })) !== undefined;
}

/** Whether it was not among them yet. */
export async function addOptOut(
  tx: Transaction,
  { companyId, address, now }: OptOut & { readonly now: number },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto("message_opt_outs")
    .values({ company_id: companyId, address_key: addressKey(address), created_at: now })
    .onConflict((conflict) => conflict.columns(["company_id", "address_key"]).doNothing())
    .executeTakeFirstOrThrow();
  return Number(numInsertedOrUpdatedRows ?? 0) > 0;
}

/** Whether it was among them. */
export async function removeOptOut(tx: Transaction, { companyId, address }: OptOut): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom("message_opt_outs")
    .where("company_id", "=", companyId)
    .where("address_key", "=", addressKey(address))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows) > 0;
}

export interface ListedOptOut {
  readonly company: string;
  readonly address: string;
  /** Milliseconds UTC. */
  readonly createdAt: number;
}

/** All, or those of one company, by company and address. */
export async function listOptOuts(
  read: Reader,
  companyId: number | undefined,
): Promise<readonly ListedOptOut[]> {
  let query = read
    .selectFrom("message_opt_outs as o")
    .innerJoin("companies as c", "c.id", "o.company_id")
    .select(["c.code as company", "o.address_key as address", "o.created_at as createdAt"]);
  if (companyId !== undefined) query = query.where("o.company_id", "=", companyId);
  return await query.orderBy("c.code").orderBy("o.address_key").execute();
}
