/**
 * How a driver is found (specification/stop-states.md#actions-on-a-load): by user name, else e-mail, else licence, else
 * name; or an available one.
 */
import { type Static, Type } from "@sinclair/typebox";
import { code, reference, text } from "../../domain/fields/fields.ts";
import { LoadAssignment } from "../../domain/load/load.ts";
import { DropgateError } from "../../lib/errors.ts";
import {
  type Driver,
  type DriverKey,
  findAvailableDriver,
  findDriversBy,
} from "../../store/accounts/drivers.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import type { LoadAssignmentRecord } from "../../store/stops/loads.ts";
import { asksForAvailableDriver } from "../stops/carrier-assignment.ts";

/** The body of assigning and unassigning a driver; without the number in the path it stands here. */
export const DriverAssignment = Type.Composite([
  Type.Object({ loadNbr: Type.Optional(reference("loadNbr")) }),
  Type.Pick(LoadAssignment, ["assignmentCriteria"]),
  Type.Object({
    driverCdl: Type.Optional(reference("driverCdl")),
    driverEmail: Type.Optional(code("driverEmail")),
    driverName: Type.Optional(text("driverName")),
    driverUserName: Type.Optional(code("driverUserName")),
  }),
]);
export type DriverAssignment = Static<typeof DriverAssignment>;

type Naming = Pick<DriverAssignment, "driverEmail" | "driverName" | "driverCdl" | "driverUserName">;

const fields: readonly { readonly field: keyof Naming; readonly key: DriverKey }[] = [
  { field: "driverUserName", key: "userName" },
  { field: "driverEmail", key: "email" },
  { field: "driverCdl", key: "cdlNumber" },
  { field: "driverName", key: "fullName" },
];

function namedValue(naming: Naming, field: keyof Naming): string {
  const value = String(naming[field] ?? "").trim();
  return field === "driverName" ? value.replaceAll(/\s+/g, " ") : value;
}

/** The first field that names the driver, in the order of the decision; undefined when none does. */
function namedBy(naming: Naming) {
  const first = fields.find(({ field }) => namedValue(naming, field) !== "");
  return first === undefined ? undefined : { ...first, value: namedValue(naming, first.field) };
}

/** Whether the request names a driver at all. */
export function namesDriver(naming: Naming): boolean {
  return namedBy(naming) !== undefined;
}

/** The driver that is named. Throws 926 when there is none, or more than one of that name; undefined when none is named. */
export async function findNamedDriver(
  tx: Transaction,
  companyId: number,
  naming: Naming,
): Promise<Driver | undefined> {
  const named = namedBy(naming);
  if (named === undefined) return undefined;
  const drivers = await findDriversBy(tx, companyId, named);
  const [driver] = drivers;
  if (driver !== undefined && drivers.length === 1) return driver;
  const count =
    drivers.length === 0 ? "there is no enabled driver of it" : `${drivers.length} drivers have it`;
  const remedy =
    drivers.length === 0 ? "Import the user with the role DI_Driver, or correct it." : "Send driverUserName.";
  throw new DropgateError("driverNotFound", `${named.field} ${named.value}: ${count}. ${remedy}`);
}

/**
 * The driver that the assignment asks for: named, or available by `assignmentCriteria` 01. Throws 926 when there is none;
 * undefined when it asks for nobody.
 */
export async function findAssignedDriver(
  tx: Transaction,
  companyId: number,
  wanted: Naming & { readonly assignmentCriteria: string | null; readonly carrierCode: string | null },
): Promise<Driver | undefined> {
  const named = await findNamedDriver(tx, companyId, wanted);
  if (named !== undefined || !asksForAvailableDriver(wanted.assignmentCriteria)) return named;
  const { carrierCode } = wanted;
  const available = await findAvailableDriver(tx, companyId, carrierCode);
  if (available !== undefined) return available;
  const whose = carrierCode === null ? "no driver" : `no driver of the carrier ${carrierCode}`;
  throw new DropgateError(
    "driverNotFound",
    `${whose} is available: each is disabled, cannot use the app, or has a load under way. Name one, or try again later.`,
  );
}

/** The driver of a load, or none: the user, and the driver as the load's detail shows it, as JSON text. */
export function drivenBy(driver: Driver | undefined): Pick<LoadAssignmentRecord, "driverUserId" | "driver"> {
  if (driver === undefined) return { driverUserId: null, driver: "{}" };
  const shown = {
    driverCdl: driver.cdlNumber ?? undefined,
    driverEmail: driver.email ?? undefined,
    driverName: driver.fullName ?? driver.userName,
    driverUserName: driver.userName,
  };
  return { driverUserId: driver.userId, driver: JSON.stringify(shown) };
}
