/** When exports run next, and up to which completion each has gone. */
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, type RowOf } from "../database/named-rows.ts";

export type ExportSchedule = RowOf<"export_schedules">;

export type ExportKey = Pick<ExportSchedule, "companyId" | "name">;

/** Of all exports that ever existed. */
export async function listExportSchedules(read: Reader): Promise<readonly ExportSchedule[]> {
  return (await read.selectFrom("export_schedules").selectAll().execute()).map(named);
}

/** When an export was last made, and when it is due next; milliseconds UTC, null when it never was, or is not planned. */
export interface ExportTimes extends ExportKey {
  readonly lastAt: number | null;
  readonly nextAt: number | null;
}

/** The same of all exports that ever existed. */
export async function listExportTimes(read: Reader): Promise<readonly ExportTimes[]> {
  const rows = await read
    .selectFrom("export_schedules as s")
    .select(["s.company_id", "s.name", "s.next_due_at"])
    .select((eb) =>
      eb
        .selectFrom("exports as e")
        .select("e.created_at")
        .whereRef("e.company_id", "=", "s.company_id")
        .whereRef("e.name", "=", "s.name")
        .orderBy("e.sequence_nbr", "desc")
        .limit(1)
        .as("last_at"),
    )
    .execute();
  return rows.map(({ company_id, name, next_due_at, last_at }) => ({
    ...{ companyId: company_id, name, lastAt: last_at, nextAt: next_due_at },
  }));
}

export async function findExportSchedule(
  tx: Transaction,
  { companyId, name }: ExportKey,
): Promise<ExportSchedule | undefined> {
  const row = await tx
    .selectFrom("export_schedules")
    .selectAll()
    .where("company_id", "=", companyId)
    .where("name", "=", name)
    .executeTakeFirst();
  return row === undefined ? undefined : named(row);
}

/** Notes when an export runs next, keeping how far it has gone; one that is new begins before the first completion. */
export async function planExport(
  tx: Transaction,
  plan: ExportKey & Pick<ExportSchedule, "schedule" | "nextDueAt">,
): Promise<void> {
  const planned = { schedule: plan.schedule, next_due_at: plan.nextDueAt };
  await tx
    .insertInto("export_schedules")
    .values({ company_id: plan.companyId, name: plan.name, ...planned, watermark: 0 })
    .onConflict((conflict) => conflict.columns(["company_id", "name"]).doUpdateSet(planned))
    .execute();
}

/**
 * Moves an export on from one completion to another. False, and without a change, when it has gone on from there
 * already: each completion is in one window of the export only.
 */
export async function moveWatermark(
  tx: Transaction,
  move: ExportKey & { readonly from: number; readonly to: number },
): Promise<boolean> {
  const row = await tx
    .updateTable("export_schedules")
    .set({ watermark: move.to })
    .where("company_id", "=", move.companyId)
    .where("name", "=", move.name)
    .where("watermark", "=", move.from)
    .returning("name")
    .executeTakeFirst();
  return row !== undefined;
}
