/** Drivers: enabled members of a company with the role DI_Driver (decisions 3). Users and their roles are in `users.ts`. */
import type { Transaction } from "./group-commit.ts";

export interface Driver {
  readonly userId: number;
  readonly userName: string;
  readonly email: string | null;
  readonly cdlNumber: string | null;
  /** First and last name. */
  readonly fullName: string | null;
}

/** By what a driver can be named. */
export type DriverKey = "userName" | "email" | "cdlNumber" | "fullName";

const keyColumns = {
  userName: "memberships.user_name",
  email: "memberships.email",
  cdlNumber: "memberships.cdl_number",
  fullName: "memberships.full_name",
} as const satisfies Record<DriverKey, string>;

function isDriver({ roles }: { roles: string }): boolean {
  return (JSON.parse(roles) as readonly string[]).includes("DI_Driver");
}

function enabledMembers(tx: Transaction, companyId: number) {
  return tx
    .selectFrom("memberships")
    .innerJoin("users", "users.id", "memberships.user_id")
    .select([
      "memberships.user_id as userId",
      "memberships.user_name as userName",
      "memberships.email as email",
      "memberships.cdl_number as cdlNumber",
      "memberships.full_name as fullName",
      "memberships.roles as roles",
    ])
    .where("memberships.company_id", "=", companyId)
    .where("users.is_enabled", "=", 1);
}

function driverOf({ roles: _, ...driver }: Driver & { roles: string }): Driver {
  return driver;
}

/** The drivers whose key is exactly this. */
export async function findDriversBy(
  tx: Transaction,
  companyId: number,
  named: { readonly key: DriverKey; readonly value: string },
): Promise<readonly Driver[]> {
  const rows = await enabledMembers(tx, companyId).where(keyColumns[named.key], "=", named.value).execute();
  return rows.filter(isDriver).map(driverOf);
}

/**
 * The driver with no load under way who has the fewest assigned loads, then by user name; of the carrier when one is
 * given. Undefined when there is none.
 */
export async function findAvailableDriver(
  tx: Transaction,
  companyId: number,
  carrierCode: string | null,
): Promise<Driver | undefined> {
  let query = enabledMembers(tx, companyId)
    // A first choice by text, so that the list is short; the role itself is looked at below.
    .where("memberships.roles", "like", '%"DI_Driver"%')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("loads")
            .select("loads.id")
            .where("loads.company_id", "=", companyId)
            .whereRef("loads.driver_user_id", "=", "memberships.user_id")
            .where("loads.load_status", "in", [40, 70]),
        ),
      ),
    )
    .orderBy((eb) =>
      eb
        .selectFrom("loads")
        .select((inner) => inner.fn.countAll<number>().as("count"))
        .where("loads.company_id", "=", companyId)
        .whereRef("loads.driver_user_id", "=", "memberships.user_id")
        .where("loads.load_status", "=", 30),
    )
    .orderBy("memberships.user_name")
    .limit(1);
  if (carrierCode !== null) {
    query = query.where("memberships.user_id", "in", (eb) =>
      eb
        .selectFrom("user_carriers")
        .select("user_carriers.user_id")
        .where("user_carriers.company_id", "=", companyId)
        .where("user_carriers.partner_code", "=", carrierCode),
    );
  }
  const row = (await query.execute()).find(isDriver);
  return row === undefined ? undefined : driverOf(row);
}
