/** Companies: the tenants to which every row of state belongs (specification/accounts.md#companies). */
import { type Selectable, sql } from "kysely";
import { operatorCode, operatorId } from "../../domain/alerts/audience.ts";
import { type CompanyField, companyFields, type CompanyProfile } from "../../domain/users/company-profile.ts";
import { companyCodeKey } from "../../domain/users/company-code.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";
import type { Tables } from "../database/schema.ts";

export interface Company {
  readonly id: number;
  readonly profile: CompanyProfile;
  /** As it was registered. */
  readonly code: string;
  /** Milliseconds UTC. */
  readonly createdAt: number;
}

type CompanyRow = Selectable<Tables["companies"]>;

function toCompany(row: CompanyRow): Company {
  const profile: Partial<Record<CompanyField, string>> = {};
  for (const field of companyFields) {
    const value = row[field];
    if (value !== null) profile[field] = value;
  }
  return { id: row.id, code: row.code, createdAt: row.created_at, profile };
}

const companyByKey = prepareQuery<{ key: string }, CompanyRow>((db, arg) =>
  db
    .selectFrom("companies")
    .selectAll()
    .where("code_key", "=", arg("key"))
    .where("id", "<>", sql.lit(operatorId)),
);

/** The company of that code, without regard to case, or undefined. */
export function findCompany(read: Reader | Transaction, code: string): Promise<Company | undefined> {
  return companyByKey.first(read, { key: companyCodeKey(code) }, toCompany);
}

/** All companies, by code. */
export async function listCompanies(read: Reader): Promise<readonly Company[]> {
  const rows = await read
    .selectFrom("companies")
    .selectAll()
    .where("id", "<>", operatorId)
    .orderBy("code_key")
    .execute();
  return rows.map(toCompany);
}

/** Registers the code unless it exists in any case; returns the company as it is now and whether it is new. */
export async function insertCompany(
  tx: Transaction,
  company: { code: string; createdAt: number },
): Promise<{ readonly company: Company; readonly isNew: boolean }> {
  const known = await findCompany(tx, company.code);
  if (known !== undefined) return { company: known, isNew: false };
  const row = await tx
    .insertInto("companies")
    .values({ code: company.code, code_key: companyCodeKey(company.code), created_at: company.createdAt })
    .returningAll()
    .executeTakeFirstOrThrow();
  await tx.insertInto("lanes").values({ company_id: row.id }).execute();
  await tx.insertInto("leases").values({ company_id: row.id }).execute();
  return { company: toCompany(row), isNew: true };
}

/** Makes the row of the operator, unless it is there: targets and incidents of no company refer to it. */
export async function enterOperator(tx: Transaction): Promise<void> {
  await tx
    .insertInto("companies")
    .values({ id: operatorId, code: operatorCode, code_key: operatorCode, created_at: 0 })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}

const companyById = prepareQuery<{ id: number }, CompanyRow>((db, arg) =>
  db.selectFrom("companies").selectAll().where("id", "=", arg("id")),
);

/** The company of that id, which exists. */
export async function readCompany(read: Reader, id: number): Promise<Company> {
  const company = await companyById.first(read, { id }, toCompany);
  if (company === undefined) throw new Error(`the company ${id} is gone`);
  return company;
}

/** Sets the given fields; null clears one. */
export async function saveCompanyFields(
  tx: Transaction,
  id: number,
  fields: Readonly<Partial<Record<CompanyField, string | null>>>,
): Promise<void> {
  if (Object.keys(fields).length === 0) return;
  await tx.updateTable("companies").set(fields).where("id", "=", id).execute();
}
