/** Gives a load to a carrier or a driver, and takes it from them (specification/stop-states.md#actions-on-a-load). */
import { plannedLoadStatus } from "../../domain/load/load-status.ts";
import { DropgateError } from "../../lib/errors.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import type { StoredLoad } from "../../store/stops/load-queries.ts";
import { type LoadAssignmentRecord, updateLoad } from "../../store/stops/loads.ts";
import { recordEvent } from "../consequences/record-events.ts";
import {
  asksForAvailableDriver,
  checkAssigned,
  readCarrierAssignment,
  requireCarrier,
} from "../stops/carrier-assignment.ts";
import { requireLoad } from "./known-load.ts";
import {
  DriverAssignment,
  drivenBy,
  findAssignedDriver,
  findNamedDriver,
  namesDriver,
} from "./load-driver.ts";
import type { WriteDeps } from "../operation-deps.ts";
import { type CompanyBody, createBodyReader, refusal } from "../request-body.ts";

export interface AssignLoad extends CompanyBody {
  readonly loadNbr: string;
}

/** Without `loadNbr`, the body has it. */
export interface AssignLoadDriver extends CompanyBody {
  readonly loadNbr?: string;
}

interface Assigning {
  readonly companyId: number;
  readonly load: StoredLoad;
  readonly now: number;
}

async function keep(
  tx: Transaction,
  { load, now }: Assigning,
  change: Partial<LoadAssignmentRecord>,
): Promise<void> {
  const next = { ...load, ...change };
  const status = plannedLoadStatus({
    hasCarrier: next.carrierCode !== null,
    hasDriver: next.driverUserId !== null,
  });
  await updateLoad(tx, { ...next, status, updatedAt: now });
}

async function recordDriver(
  tx: Transaction,
  { companyId, load, now }: Assigning,
  kind: "loadAssigned" | "loadUnassigned",
): Promise<void> {
  await recordEvent(tx, { companyId, kind, loadNbr: load.loadNbr, recordedAt: now });
}

/**
 * Assigns the carrier of the body; with `assignmentCriteria` 01 also the carrier's available driver. Throws 920, 906 or
 * 907, 925, 926, or the faults of the body.
 */
export async function assignLoadCarrier(deps: WriteDeps, input: AssignLoad): Promise<void> {
  const { companyId, loadNbr } = input;
  const { carrierCode, assignmentCriteria } = readCarrierAssignment(input);
  await deps.store.write(companyId, async (tx) => {
    const load = await requireLoad(tx, { companyId, loadNbr, action: "assignCarrier" });
    await requireCarrier(tx, companyId, carrierCode);
    const assigning = { companyId, load, now: deps.clock.now() };
    if (!asksForAvailableDriver(assignmentCriteria)) {
      await keep(tx, assigning, { carrierCode, assignmentCriteria });
      return;
    }
    const driver = await findAssignedDriver(tx, companyId, { assignmentCriteria, carrierCode });
    await keep(tx, assigning, { carrierCode, assignmentCriteria, ...drivenBy(driver) });
    await recordDriver(tx, assigning, "loadAssigned");
  });
}

/** Takes the load from the carrier of the body. Throws 920, 906 or 907, 964, or the faults of the body. */
export async function unassignLoadCarrier(deps: WriteDeps, input: AssignLoad): Promise<void> {
  const { companyId, loadNbr } = input;
  const { carrierCode } = readCarrierAssignment(input);
  await deps.store.write(companyId, async (tx) => {
    const load = await requireLoad(tx, { companyId, loadNbr, action: "unassignCarrier" });
    checkAssigned(`load ${loadNbr}`, load.carrierCode, carrierCode);
    const now = deps.clock.now();
    await keep(tx, { companyId, load, now }, { carrierCode: null, assignmentCriteria: null });
  });
}

const readDriverAssignment = createBodyReader(DriverAssignment);

function numberOf(input: AssignLoadDriver, body: DriverAssignment): string {
  const inBody = body.loadNbr === undefined ? undefined : String(body.loadNbr);
  const { loadNbr } = input;
  if (loadNbr === undefined && (inBody === undefined || inBody === "")) {
    const message = "loadNbr is missing. Send it in the body, or in the path before the company.";
    throw refusal([{ code: "missing", path: "loadNbr", message }]);
  }
  if (loadNbr !== undefined && inBody !== undefined && inBody !== loadNbr) {
    const message = `loadNbr is ${inBody}, but the path names ${loadNbr}. Send the same number in both.`;
    throw refusal([{ code: "wrongType", path: "loadNbr", message }]);
  }
  return loadNbr ?? inBody ?? "";
}

function criteriaOf({ assignmentCriteria }: DriverAssignment): string | null {
  return assignmentCriteria === undefined ? null : String(assignmentCriteria);
}

/**
 * Assigns the driver whom the body names, or with `assignmentCriteria` 01 an available one (of the load's carrier, when
 * it has one). Throws 1505 when it names nobody, 920, 906 or 907, 926, or the faults of the body.
 */
export async function assignLoadDriver(deps: WriteDeps, input: AssignLoadDriver): Promise<void> {
  const { companyId } = input;
  const body = readDriverAssignment(input);
  const loadNbr = numberOf(input, body);
  const assignmentCriteria = criteriaOf(body);
  if (!namesDriver(body) && !asksForAvailableDriver(assignmentCriteria)) {
    throw new DropgateError(
      "driverRequired",
      "a driver is required. Send driverUserName, driverEmail, driverCdl or driverName, or assignmentCriteria 01.",
    );
  }
  await deps.store.write(companyId, async (tx) => {
    const load = await requireLoad(tx, { companyId, loadNbr, action: "assignDriver" });
    const { carrierCode } = load;
    const driver = await findAssignedDriver(tx, companyId, { ...body, assignmentCriteria, carrierCode });
    const assigning = { companyId, load, now: deps.clock.now() };
    await keep(tx, assigning, drivenBy(driver));
    await recordDriver(tx, assigning, "loadAssigned");
  });
}

/**
 * Takes the load from its driver, who must be the one that the body names, if it names one. Throws 920, 906 or 907, 926,
 * 964, or the faults of the body.
 */
export async function unassignLoadDriver(deps: WriteDeps, input: AssignLoadDriver): Promise<void> {
  const { companyId } = input;
  const body = readDriverAssignment(input);
  const loadNbr = numberOf(input, body);
  await deps.store.write(companyId, async (tx) => {
    const load = await requireLoad(tx, { companyId, loadNbr, action: "unassignDriver" });
    const named = await findNamedDriver(tx, companyId, body);
    if (named !== undefined && named.userId !== load.driverUserId) {
      throw new DropgateError(
        "notAssigned",
        `the load ${loadNbr} is assigned to another driver. Nothing was unassigned.`,
      );
    }
    const assigning = { companyId, load, now: deps.clock.now() };
    // Left as it is, 01 would ask for an available driver again as soon as the load is sent as it is shown.
    const isAsking = asksForAvailableDriver(load.assignmentCriteria);
    await keep(tx, assigning, { ...drivenBy(undefined), ...(isAsking ? { assignmentCriteria: null } : {}) });
    await recordDriver(tx, assigning, "loadUnassigned");
  });
}
