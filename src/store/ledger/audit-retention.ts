/** What was asked for again or given up of files and deliveries, and what was done in the console, by its age. */
import { sql } from "kysely";
import { operatorId } from "../../domain/alerts/audience.ts";
import { decidedStates } from "../../domain/files/file-state.ts";
import { endedDeliveryStates, givenUpFault } from "../../domain/outbound/delivery-state.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";

/** Where it is noted. */
export const auditTables = ["file_repeats", "delivery_repeats", "audit"] as const;
export type AuditTable = (typeof auditTables)[number];

export interface AuditRow {
  readonly id: number;
  readonly companyId: number;
  readonly askedAt: number;
  /** Whether nothing depends on it any more. */
  readonly isOver: boolean;
}

interface AuditPage {
  /** Only what was asked for before this, milliseconds UTC. */
  readonly before: number;
  /** Where the page before this one has ended. */
  readonly after: Pick<AuditRow, "askedAt" | "id">;
  readonly limit: number;
}

/** Over when the file is decided and filed away: of others the last request is still being carried out. */
function ofFiles(read: Reader, { before, after, limit }: AuditPage) {
  return read
    .selectFrom("file_repeats as r")
    .innerJoin("files as f", "f.id", "r.file_id")
    .select(["r.id", "f.company_id as companyId", "r.asked_at as askedAt"])
    .select((eb) => eb.and([eb("f.state", "in", decidedStates), eb("f.is_filed", "=", 1)]).as("isOver"))
    .where("r.asked_at", "<", before)
    .where(sql<boolean>`(r.asked_at, r.id) > (${after.askedAt}, ${after.id})`)
    .orderBy("r.asked_at")
    .orderBy("r.id")
    .limit(limit);
}

/** Over when the delivery was delivered: how long one that was given up is kept counts from when it was. */
function ofDeliveries(read: Reader, { before, after, limit }: AuditPage) {
  return read
    .selectFrom("delivery_repeats as r")
    .innerJoin("deliveries as d", "d.id", "r.delivery_id")
    .select(["r.id", "d.company_id as companyId", "r.asked_at as askedAt"])
    .select((eb) =>
      eb
        .and([
          eb("d.state", "in", endedDeliveryStates),
          eb.or([eb("d.fault", "is", null), eb("d.fault", "!=", givenUpFault)]),
        ])
        .as("isOver"),
    )
    .where("r.asked_at", "<", before)
    .where(sql<boolean>`(r.asked_at, r.id) > (${after.askedAt}, ${after.id})`)
    .orderBy("r.asked_at")
    .orderBy("r.id")
    .limit(limit);
}

/** What belongs to no company is the operator's. */
function ofConsole(read: Reader, { before, after, limit }: AuditPage) {
  return read
    .selectFrom("audit as r")
    .select(["r.id", "r.at as askedAt"])
    .select((eb) => eb.fn.coalesce("r.company_id", eb.lit(operatorId)).as("companyId"))
    .select(sql<number>`1`.as("isOver"))
    .where("r.at", "<", before)
    .where(sql<boolean>`(r.at, r.id) > (${after.askedAt}, ${after.id})`)
    .orderBy("r.at")
    .orderBy("r.id")
    .limit(limit);
}

const pagesOf = { file_repeats: ofFiles, delivery_repeats: ofDeliveries, audit: ofConsole };

/** Those of all companies, page by page, the oldest first. */
export async function listAudit(
  read: Reader,
  table: AuditTable,
  page: AuditPage,
): Promise<readonly AuditRow[]> {
  const rows = await pagesOf[table](read, page).execute();
  return rows.map((row) => ({ ...row, isOver: Boolean(row.isOver) }));
}

export async function removeAudit(tx: Transaction, table: AuditTable, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom(table).where("id", "in", ids).execute();
}
