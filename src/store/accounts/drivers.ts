/**
 * Drivers: enabled members of a company with the role DI_Driver (specification/stop-states.md#available-drivers). Users
 * and their roles are in `users.ts`.
 */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export interface Driver {
  readonly userId: number;
  readonly userName: string;
  readonly email: string | null;
  readonly cdlNumber: string | null;
  /** First and last name. */
  readonly fullName: string | null;
  /** Reports no events by himself; the host may report for him. */
  readonly isUnableToUseApp: boolean;
}

/** The values by which a request can name a driver. */
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
    .select(namedColumns("memberships.user_id", "memberships.user_name", "memberships.email"))
    .select(namedColumns("memberships.cdl_number", "memberships.full_name"))
    .select(namedColumns("memberships.roles", "memberships.unable_to_use_app"))
    .where("memberships.company_id", "=", companyId)
    .where("users.is_enabled", "=", 1);
}

type DriverRow = Awaited<ReturnType<ReturnType<typeof enabledMembers>["execute"]>>[number];

function driverOf({ roles: _, unableToUseApp, ...driver }: DriverRow): Driver {
  return { ...driver, isUnableToUseApp: unableToUseApp === 1 };
}

/** The drivers whose key is exactly this; e-mail addresses are the same in any case. */
export async function findDriversBy(
  tx: Transaction,
  companyId: number,
  named: { readonly key: DriverKey; readonly value: string },
): Promise<readonly Driver[]> {
  const members = enabledMembers(tx, companyId);
  const { key, value } = named;
  const found =
    key === "email"
      ? members.where(({ fn, val, eb }) =>
          eb(fn("lower", ["memberships.email"]), "=", fn("lower", [val(value)])),
        )
      : members.where(keyColumns[key], "=", value);
  const rows = await found.execute();
  return rows.filter(isDriver).map(driverOf);
}

/**
 * The driver who can use the app, has no load under way and has the fewest assigned loads, then by user name; of the
 * carrier when one is given. Undefined when there is none.
 */
export async function findAvailableDriver(
  tx: Transaction,
  companyId: number,
  carrierCode: string | null,
): Promise<Driver | undefined> {
  let query = enabledMembers(tx, companyId)
    // By text first, so that the list is short; `isDriver` checks the role itself.
    .where("memberships.roles", "like", '%"DI_Driver"%')
    .where("memberships.unable_to_use_app", "=", 0)
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

const appMarkOf = prepareQuery<{ companyId: number; userName: string }, { unable: number }>((db, arg) =>
  db
    .selectFrom("memberships")
    .select("unable_to_use_app as unable")
    .where("company_id", "=", arg("companyId"))
    .where("user_name", "=", arg("userName")),
);

/** Whether the company has marked its user as one who cannot use the driver application (`unableToUseApp`). */
export async function isUnableToUseApp(
  db: Transaction | Reader,
  user: { readonly companyId: number; readonly userName: string },
): Promise<boolean> {
  return (await appMarkOf.find(db, user))?.unable === 1;
}
