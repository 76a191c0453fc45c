/** Exports: each is a window of completions, and its files are a function of that alone. */
import { type RawBuilder, sql } from "kysely";
import type { DeliveryState } from "../../domain/outbound/delivery-state.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { named, type RowOf } from "../database/named-rows.ts";
import { isOpen } from "./delivery-states.ts";
import type { ExportKey } from "./export-schedules.ts";

const exportForms = ["document", "files"] as const;
export type ExportForm = (typeof exportForms)[number];

export interface ExportRecord extends Omit<RowOf<"exports">, "form" | "windowBegin" | "windowEnd"> {
  /** As the company was registered. */
  readonly companyCode: string;
  /**
   * The window for hosts: how many completions the exports of that name have had, before this one and with it. The ids
   * count those of all companies. Exports of earlier versions have the ids, and the next one goes on from there.
   */
  readonly windowBegin: number;
  readonly windowEnd: number;
  /** How many completions it has; left out for exports of earlier versions. */
  readonly completions?: number;
  readonly form: ExportForm;
}

function readForm(text: string): ExportForm {
  const form = exportForms.find((known) => known === text);
  if (form === undefined) throw new Error(`the database has an export of an unknown form, ${text}`);
  return form;
}

function select(db: Reader | Transaction) {
  return db
    .selectFrom("exports as e")
    .innerJoin("companies as c", "c.id", "e.company_id")
    .selectAll("e")
    .select("c.code as company_code");
}

type ExportRow = Awaited<ReturnType<ReturnType<typeof select>["executeTakeFirstOrThrow"]>>;

function toRecord(row: ExportRow): ExportRecord {
  const { windowBegin, windowEnd, ...rest } = named(row);
  return {
    ...rest,
    windowBegin: windowBegin ?? rest.afterCompletionId,
    windowEnd: windowEnd ?? rest.lastCompletionId,
    ...(windowBegin === null || windowEnd === null ? {} : { completions: windowEnd - windowBegin }),
    form: readForm(row.form),
  };
}

export async function findExport(db: Reader | Transaction, id: number): Promise<ExportRecord | undefined> {
  const row = await select(db).where("e.id", "=", id).executeTakeFirst();
  return row === undefined ? undefined : toRecord(row);
}

/** The export of that number, or the newest one. */
export async function findExportOf(
  db: Reader | Transaction,
  { companyId, name, sequenceNbr }: ExportKey & { readonly sequenceNbr?: number },
): Promise<ExportRecord | undefined> {
  const all = select(db).where("e.company_id", "=", companyId).where("e.name", "=", name);
  const wanted = sequenceNbr === undefined ? all : all.where("e.sequence_nbr", "=", sequenceNbr);
  const row = await wanted.orderBy("e.sequence_nbr", "desc").limit(1).executeTakeFirst();
  return row === undefined ? undefined : toRecord(row);
}

/** Enters an export under the next number of its company and name. */
export async function insertExport(
  tx: Transaction,
  made: Omit<
    ExportRecord,
    "id" | "sequenceNbr" | "companyCode" | "windowBegin" | "windowEnd" | "completions"
  >,
): Promise<ExportRecord> {
  const windowBegin = (await findExportOf(tx, made))?.windowEnd ?? 0;
  const windowEnd = windowBegin + (await countWindow(tx, made));
  const { id } = await tx
    .insertInto("exports")
    .values((eb) => ({
      company_id: made.companyId,
      name: made.name,
      sequence_nbr: eb
        .selectFrom("exports")
        .select((sub) => sub(sub.fn.coalesce(sub.fn.max("sequence_nbr"), sub.lit(0)), "+", 1).as("next"))
        .where("company_id", "=", made.companyId)
        .where("name", "=", made.name),
      after_completion_id: made.afterCompletionId,
      last_completion_id: made.lastCompletionId,
      window_begin: windowBegin,
      window_end: windowEnd,
      form: made.form,
      due_at: made.dueAt,
      created_at: made.createdAt,
    }))
    .returning("id")
    .executeTakeFirstOrThrow();
  const found = await findExport(tx, id);
  if (found === undefined) throw new Error("an inserted export is not there");
  return found;
}

export type CompletionWindow = Pick<ExportRecord, "companyId" | "afterCompletionId" | "lastCompletionId">;

/** The newest completion of the company after that one; that one itself when there is none. */
export async function newestCompletionAfter(
  tx: Transaction,
  { companyId, after }: { readonly companyId: number; readonly after: number },
): Promise<number> {
  const row = await tx
    .selectFrom("completions")
    .select("id")
    .where("company_id", "=", companyId)
    .where("id", ">", after)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? after;
}

/** How many completions a window has. */
export async function countWindow(db: Reader | Transaction, window: CompletionWindow): Promise<number> {
  const row = await db
    .selectFrom("completions")
    .select((eb) => eb.fn.countAll<number>().as("count"))
    .where("company_id", "=", window.companyId)
    .where("id", ">", window.afterCompletionId)
    .where("id", "<=", window.lastCompletionId)
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Which of these exports still have an open delivery. */
export async function listOpenExports(db: Reader, ids: readonly number[]): Promise<ReadonlySet<number>> {
  if (ids.length === 0) return new Set();
  const rows = await db
    .selectFrom("deliveries as d")
    .select("d.subject_id")
    .distinct()
    .where("d.kind", "=", "export")
    .where("d.subject_id", "in", ids)
    .where(isOpen("d.state"))
    .execute();
  return new Set(rows.map(({ subject_id }) => subject_id));
}

/** Whether an export still has a delivery, done or not; as long as it has one, its completions are kept. */
export async function isExportKept(db: Reader | Transaction, id: number): Promise<boolean> {
  const row = await db
    .selectFrom("deliveries")
    .select("id")
    .where("kind", "=", "export")
    .where("subject_id", "=", id)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The delivery of an export that was put in the queue last; undefined when it has none any more. */
export async function newestDeliveryOf(
  db: Reader | Transaction,
  id: number,
): Promise<{ readonly id: number; readonly guid: string; readonly createdAt: number } | undefined> {
  const row = await db
    .selectFrom("deliveries")
    .select(["id", "guid", "created_at as createdAt"])
    .where("kind", "=", "export")
    .where("subject_id", "=", id)
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row;
}

/** The names that exports of the company have, each found by a step in the index and not among all of its exports. */
async function exportNamesOf(db: Reader, companyId: number): Promise<readonly string[]> {
  const behind = (name: RawBuilder<unknown>) =>
    sql`(select min(name) from exports where company_id = ${companyId} and name > ${name})`;
  const { rows } = await sql<{ name: string }>`with recursive names(name) as (
    select ${behind(sql`''`)} union all select ${behind(sql`names.name`)} from names where names.name is not null)
    select name from names where name is not null`.execute(db);
  return rows.map(({ name }) => name);
}

export interface ExportSelection {
  readonly companyId: number;
  readonly limit: number;
  /** Only those that were made before the one of this id. */
  readonly before?: number;
}

/** The exports of a company, the newest first. */
export async function listNewestExports(
  db: Reader,
  { companyId, limit, before }: ExportSelection,
): Promise<readonly ExportRecord[]> {
  const found: ExportRecord[] = [];
  for (const name of await exportNamesOf(db, companyId)) {
    const all = select(db).where("e.company_id", "=", companyId).where("e.name", "=", name);
    const ofName = before === undefined ? all : all.where("e.id", "<", before);
    const rows = await ofName.orderBy("e.sequence_nbr", "desc").limit(limit).execute();
    found.push(...rows.map(toRecord));
  }
  return found.toSorted((one, other) => other.id - one.id).slice(0, limit);
}

/** Of each of these exports the delivery that was put in the queue last, by the id of the export. */
export async function newestDeliveriesOf(
  db: Reader,
  exportIds: readonly number[],
): Promise<ReadonlyMap<number, { readonly guid: string; readonly state: DeliveryState }>> {
  const newest = db
    .selectFrom("deliveries")
    .select((eb) => eb.fn.max("id").as("id"))
    .where("kind", "=", "export")
    .where("subject_id", "in", [...exportIds])
    .groupBy("subject_id");
  const rows = await db
    .selectFrom("deliveries")
    .select(["subject_id as exportId", "guid", "state"])
    .where("id", "in", newest)
    .execute();
  return new Map(rows.map(({ exportId, guid, state }) => [exportId, { guid, state }]));
}
