/** Companies: the tenants to which every row of state belongs (decisions 1). */
import { companyCodeKey } from "../domain/company-code.ts";
import type { Reader } from "./database.ts";
import type { Transaction } from "./group-commit.ts";
import { prepareQuery } from "./prepared-query.ts";

export interface Company {
  readonly id: number;
  /** As it was registered. */
  readonly code: string;
  /** Milliseconds UTC. */
  readonly createdAt: number;
}

interface CompanyRow {
  id: number;
  code: string;
  created_at: number;
}

function toCompany(row: CompanyRow): Company {
  return { id: row.id, code: row.code, createdAt: row.created_at };
}

const companyByKey = prepareQuery<{ key: string }, CompanyRow>((db, arg) =>
  db.selectFrom("companies").select(["id", "code", "created_at"]).where("code_key", "=", arg("key")),
);

/** The company of that code, without regard to case, or undefined. */
export async function findCompany(read: Reader | Transaction, code: string): Promise<Company | undefined> {
  const { rows } = await companyByKey.run(read, { key: companyCodeKey(code) });
  const row = rows[0];
  return row === undefined ? undefined : toCompany(row);
}

/** All companies, by code. */
export async function listCompanies(read: Reader): Promise<readonly Company[]> {
  const rows = await read
    .selectFrom("companies")
    .select(["id", "code", "created_at"])
    .orderBy("code_key")
    .execute();
  return rows.map(toCompany);
}

/** Registers the code unless it is there in any case; gives the company as it now is and whether it is new. */
export async function insertCompany(
  tx: Transaction,
  company: { code: string; createdAt: number },
): Promise<{ readonly company: Company; readonly isNew: boolean }> {
  const known = await findCompany(tx, company.code);
  if (known !== undefined) return { company: known, isNew: false };
  const row = await tx
    .insertInto("companies")
    .values({ code: company.code, code_key: companyCodeKey(company.code), created_at: company.createdAt })
    .returning(["id", "code", "created_at"])
    .executeTakeFirstOrThrow();
  return { company: toCompany(row), isNew: true };
}
