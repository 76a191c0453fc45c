/** Business partners of companies. */
import type { BusinessPartner } from "../../domain/order/business-partner.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export interface KnownPartner {
  readonly id: number;
  readonly partnerCode: string;
  readonly partnerType: string | null;
}

interface PartnerRow {
  id: number;
  partner_code: string;
  partner_type: string | null;
}

const partnerByCode = prepareQuery<{ companyId: number; partnerCode: string }, PartnerRow>((db, arg) =>
  db
    .selectFrom("partners")
    .select(["id", "partner_code", "partner_type"])
    .where("company_id", "=", arg("companyId"))
    .where("partner_code", "=", arg("partnerCode")),
);

/** The company's partner of exactly that code, or undefined. */
export async function findPartner(
  read: Reader | Transaction,
  companyId: number,
  partnerCode: string,
): Promise<KnownPartner | undefined> {
  const { rows } = await partnerByCode.run(read, { companyId, partnerCode });
  const row = rows[0];
  if (row === undefined) return undefined;
  return { id: row.id, partnerCode: row.partner_code, partnerType: row.partner_type };
}

interface PartnerArguments {
  readonly companyId: number;
  readonly partnerCode: string;
  readonly partnerType: string | null;
  readonly body: string;
  readonly now: number;
}

const savePartnerQuery = prepareQuery<PartnerArguments>((db, arg) =>
  db
    .insertInto("partners")
    .values({
      company_id: arg("companyId"),
      partner_code: arg("partnerCode"),
      partner_type: arg("partnerType"),
      body: arg("body"),
      created_at: arg("now"),
      updated_at: arg("now"),
    })
    .onConflict((conflict) =>
      conflict.columns(["company_id", "partner_code"]).doUpdateSet((set) => ({
        partner_type: set.ref("excluded.partner_type"),
        body: set.ref("excluded.body"),
        updated_at: set.ref("excluded.updated_at"),
      })),
    ),
);

/** Stores the partner, replacing what was stored of it before. */
export async function savePartner(
  tx: Transaction,
  entry: { companyId: number; partner: BusinessPartner; now: number },
): Promise<void> {
  const { companyId, partner, now } = entry;
  const { partnerCode, partnerType } = partner;
  await savePartnerQuery.run(tx, {
    companyId,
    partnerCode,
    partnerType: partnerType ?? null,
    body: JSON.stringify(partner),
    now,
  });
}
