/** Applies one imported load in a unit of work, or refuses it; its outcome is kept in the same transaction. */
import type { Load } from "../../domain/load/load.ts";
import { DropgateError, type Fault } from "../../lib/errors.ts";
import { isDiskFault } from "../../lib/files/disk-fault.ts";
import type { Logger } from "../../lib/logs/log.ts";
import { isStoreFault } from "../../lib/store-error.ts";
import { attempt, type Transaction } from "../../store/database/groups/group-commit.ts";
import { decideImportItem, isItemWaiting, type WaitingItem } from "../../store/stops/imports.ts";
import { applyLoad, type LoadToApply } from "../loads/apply-load.ts";
import type { WriteDeps } from "../operation-deps.ts";

export interface DecideLoadDeps extends WriteDeps {
  readonly log: Logger;
}

/** A load with its text parsed, or why it cannot be. */
export interface ReadLoad {
  readonly item: WaitingItem;
  readonly load: Load | undefined;
  readonly error?: unknown;
}

/** Without faults the load was applied. */
export interface Decision {
  readonly faults: readonly Fault[];
  /** A fault of the program, for the log. */
  readonly failure?: unknown;
}

/** Rejects when the store is at fault; then nothing was decided. */
export async function decideLoad(deps: DecideLoadDeps, read: ReadLoad): Promise<void> {
  const { store, log } = deps;
  const decision = await store.write(read.item.companyId, (tx) => apply(deps, tx, read));
  if (decision === "decided before") return;
  const { faults, failure } = decision;
  if (failure !== undefined) log.error({ err: failure }, "an imported load cannot be applied");
  const { loadNbr, companyId, guid: importId } = read.item;
  const line = { loadNbr, companyId, importId };
  if (faults.length === 0) log.info(line, "load applied");
  else log.warn({ ...line, faults }, "load refused");
}

async function apply(
  { clock }: DecideLoadDeps,
  tx: Transaction,
  read: ReadLoad,
): Promise<Decision | "decided before"> {
  const { item, load } = read;
  if (!(await isItemWaiting(tx, item))) return "decided before";
  const now = clock.now();
  const { companyId, position } = item;
  const path = `loads[${position}]`;
  const decision =
    load === undefined
      ? await decisionOf(() => Promise.reject(read.error))
      : await applyOrRefuse(tx, { companyId, load, path, now });
  const { faults } = decision;
  const state = faults.length === 0 ? "applied" : "refused";
  await decideImportItem(tx, { ...item, state, faults, now });
  return decision;
}

/** Applies the load, or says why not: then nothing of it was done. Rejects when the store is at fault. */
export function applyOrRefuse(tx: Transaction, input: LoadToApply): Promise<Decision> {
  return decisionOf(() => attempt(tx, () => applyLoad(tx, input)));
}

/** A load that makes the program fail must not block all others for ever: it is refused too, and the log has why. */
async function decisionOf(work: () => Promise<void>): Promise<Decision> {
  try {
    await work();
    return { faults: [] };
  } catch (failure) {
    if (failure instanceof DropgateError && failure.code === "overloaded") throw failure;
    if (failure instanceof DropgateError && failure.code !== "internal") return { faults: faultsOf(failure) };
    if (isStoreFault(failure) || isDiskFault(failure)) throw failure;
    const message = "internal error; the operator finds its cause in the log.";
    return { faults: [{ code: "internal", message }], failure };
  }
}

function faultsOf(error: DropgateError): readonly Fault[] {
  return error.faults.length > 0 ? error.faults : [{ code: error.code, message: error.message }];
}
