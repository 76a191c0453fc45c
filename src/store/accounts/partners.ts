/** Business partners of companies. */
import type { BusinessPartner } from "../../domain/order/business-partner.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedArguments, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

type PartnerKey = Pick<RowOf<"partners">, "companyId" | "partnerCode">;

const partnerByCode = prepareQuery<PartnerKey, { id: number }>((db, arg) =>
  db
    .selectFrom("partners")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("partner_code", "=", arg("partnerCode")),
);

/** Whether the company has a partner of exactly that code. */
export async function isPartner(tx: Transaction, companyId: number, partnerCode: string): Promise<boolean> {
  return (await partnerByCode.find(tx, { companyId, partnerCode })) !== undefined;
}

interface PartnerArguments extends Pick<RowOf<"partners">, keyof PartnerKey | "partnerType" | "body"> {
  readonly now: number;
}

const savePartnerQuery = prepareQuery<PartnerArguments>((db, arg) => {
  const sent = { ...namedArguments(arg, "partner_type", "body"), updated_at: arg("now") };
  return db
    .insertInto("partners")
    .values({ ...namedArguments(arg, "company_id", "partner_code"), ...sent, created_at: arg("now") })
    .onConflict((conflict) => conflict.columns(["company_id", "partner_code"]).doUpdateSet(excluded(sent)));
});

/** Stores the partner, replacing what was stored of it before. */
export async function savePartner(
  tx: Transaction,
  { companyId, partner, now }: { companyId: number; partner: BusinessPartner; now: number },
): Promise<void> {
  const { partnerCode, partnerType = null } = partner;
  const body = JSON.stringify(partner);
  await savePartnerQuery.run(tx, { companyId, partnerCode, partnerType, body, now });
}
