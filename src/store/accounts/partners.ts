/** Business partners of companies. */
import type { BusinessPartner } from "../../domain/order/business-partner.ts";
import type { Transaction } from "../database/group-commit.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

interface PartnerKey {
  readonly companyId: number;
  readonly partnerCode: string;
}

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

interface PartnerArguments extends PartnerKey {
  readonly partnerType: string | null;
  readonly body: string;
  readonly now: number;
}

const savePartnerQuery = prepareQuery<PartnerArguments>((db, arg) => {
  const sent = { partner_type: arg("partnerType"), body: arg("body"), updated_at: arg("now") };
  const key = { company_id: arg("companyId"), partner_code: arg("partnerCode") };
  return db
    .insertInto("partners")
    .values({ ...key, ...sent, created_at: arg("now") })
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
