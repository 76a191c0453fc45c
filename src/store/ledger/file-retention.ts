/**
 * Files whose bytes are removed because of their age. The row of a file is kept, and says so:
 *
 *   filed ──removed_at, pruned_days, is_pruning = 1──> about to be removed ──is_pruning = 0──> pruned
 *
 * A mark for each company and kind says how far the removal has come, so that nothing is looked at twice. What cannot be
 * removed holds its mark; `pruned` is a mark of its own that nothing holds: no bytes of a later decision were ever removed.
 */
import { sql } from "kysely";
import { decidedStates } from "../../domain/files/file-state.ts";
import type { RetentionKind } from "../../domain/retention/retention.ts";
import { unindexed } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { excluded, prepareQuery } from "../database/prepared-query.ts";

/** A place in the order of decisions. */
export interface Mark {
  /** Milliseconds UTC. */
  readonly decidedAt: number;
  readonly fileId: number;
}

export const firstMark: Mark = { decidedAt: 0, fileId: 0 };

const prunedKind = "pruned";
type MarkKind = RetentionKind | typeof prunedKind;

interface MarkKey {
  readonly companyId: number;
  readonly kind: RetentionKind;
}

export async function findMark(read: Reader, { companyId, kind }: MarkKey): Promise<Mark> {
  const row = await read
    .selectFrom("retention_marks")
    .select(namedColumns("decided_at", "file_id"))
    .where("company_id", "=", companyId)
    .where("kind", "=", kind)
    .executeTakeFirst();
  return row ?? firstMark;
}

export async function noteMark(tx: Transaction, { companyId, kind }: MarkKey, mark: Mark): Promise<void> {
  const at = { decided_at: mark.decidedAt, file_id: mark.fileId };
  await tx
    .insertInto("retention_marks")
    .values({ company_id: companyId, kind, ...at })
    .onConflict((conflict) => conflict.columns(["company_id", "kind"]).doUpdateSet(at))
    .execute();
}

/** The next pass begins with the oldest decision again. */
export async function forgetMarks(tx: Transaction): Promise<void> {
  await tx.deleteFrom("retention_marks").where("kind", "!=", prunedKind).execute();
}

/** Bytes of the company's files that were decided before `decidedBefore` (milliseconds UTC) are about to be removed. */
export const notePruned = prepareQuery<{ companyId: number; decidedBefore: number }>((db, arg) =>
  db
    .insertInto("retention_marks")
    .values({
      company_id: arg("companyId"),
      kind: prunedKind,
      decided_at: arg("decidedBefore"),
      file_id: firstMark.fileId,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["company_id", "kind"])
        .doUpdateSet(excluded({ decided_at: 0 }))
        .whereRef("excluded.decided_at", ">", "retention_marks.decided_at"),
    ),
).run;

/**
 * The files of these companies whose bytes were removed because of their age were decided before this, milliseconds UTC; 0
 * when there are none, and the largest number where marks of an earlier version do not tell.
 */
export async function findPrunedBefore(read: Reader, companyIds: readonly number[]): Promise<number> {
  const marks = await read
    .selectFrom("retention_marks")
    .select(namedColumns("company_id", "kind", "decided_at"))
    .where("company_id", "in", [...companyIds])
    .where("kind", "in", [prunedKind, "archive", "error"] satisfies MarkKind[])
    .execute();
  const isNoted = new Set(marks.flatMap(({ kind, companyId }) => (kind === prunedKind ? [companyId] : [])));
  const ends = marks.flatMap(({ kind, companyId, decidedAt }) => {
    if (kind === prunedKind) return [decidedAt];
    return isNoted.has(companyId) ? [] : [Number.MAX_SAFE_INTEGER];
  });
  return Math.max(0, ...ends);
}

function selectFiles(read: Reader) {
  return read
    .selectFrom("files")
    .select(namedColumns("id", "company_id", "name", "sha256", "size", "state", "decided_at", "location"))
    .select(namedColumns("removed_at", "pruned_days", "pruned_to", "is_pruning"));
}

type AgingRow = Awaited<ReturnType<ReturnType<typeof selectFiles>["execute"]>>[number];

/** A decided file that is filed away. */
export interface AgingFile extends AgingRow {
  readonly decidedAt: number;
}

function withDecision(rows: readonly AgingRow[]): readonly AgingFile[] {
  return rows.map((row) => ({ ...row, decidedAt: row.decidedAt ?? 0 }));
}

/** Files of a company that were decided before that, in the order of their decisions. */
export async function listAgingFiles(
  read: Reader,
  page: {
    readonly companyId: number;
    readonly before: number;
    readonly after: Mark;
    readonly limit: number;
  },
): Promise<readonly AgingFile[]> {
  const { decidedAt, fileId } = page.after;
  const rows = await selectFiles(read)
    .where("company_id", "=", page.companyId)
    // A literal, not a parameter: only then does SQLite see that the partial index serves.
    .where("is_filed", "=", sql.lit(1))
    .where("decided_at", "<", page.before)
    .where(sql<boolean>`(decided_at, id) > (${decidedAt}, ${fileId})`)
    .orderBy("decided_at")
    .orderBy("id")
    .limit(page.limit)
    .execute();
  return withDecision(rows);
}

/** Files of a company whose bytes were about to be removed when something came between. */
export async function listInterrupted(
  read: Reader,
  page: { readonly companyId: number; readonly afterId: number; readonly limit: number },
): Promise<readonly AgingFile[]> {
  const rows = await selectFiles(read)
    .where("company_id", "=", page.companyId)
    .where("is_pruning", "=", sql.lit(1))
    .where("id", ">", page.afterId)
    .orderBy("id")
    .limit(page.limit)
    .execute();
  return withDecision(rows);
}

type BeginArguments = Pick<AgingFile, "id" | "decidedAt" | "location"> & {
  at: number;
  days: number;
  to: string | null;
};

/**
 * Notes that the bytes are about to be removed; false when somebody else wants the file, it was decided anew since it was
 * listed, they are gone, or another entry claims them too, for whose company they may be young.
 */
export const beginPruning = prepareQuery<BeginArguments>((db, arg) =>
  db
    .updateTable("files")
    .set({ removed_at: arg("at"), pruned_days: arg("days"), pruned_to: arg("to"), is_pruning: 1 })
    .where("id", "=", arg("id"))
    .where("is_filed", "=", 1)
    .where("decided_at", "=", arg("decidedAt"))
    .where("location", "=", arg("location"))
    .where("removed_at", "is", null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("files as other")
            .select("other.id")
            .whereRef("other.location", "=", "files.location")
            .whereRef("other.id", "!=", "files.id")
            .where("other.removed_at", "is", null),
        ),
      ),
    ),
).changes;

/** The bytes are gone; `prunedTo`: where they were moved to. */
export const endPruning = prepareQuery<Pick<RowOf<"files">, "id" | "prunedTo">>((db, arg) =>
  db
    .updateTable("files")
    .set({ is_pruning: 0, pruned_to: arg("prunedTo") })
    .where("id", "=", arg("id"))
    .where("is_pruning", "=", 1),
).run;

/** They are not removed after all. */
export const forgetPruning = prepareQuery<{ id: number }>((db, arg) =>
  db
    .updateTable("files")
    .set({ removed_at: null, pruned_days: null, pruned_to: null, is_pruning: 0 })
    .where("id", "=", arg("id"))
    .where("is_pruning", "=", 1),
).run;

/** Whether the entry is filed away with the decision that it had when it was listed. */
export async function isDecidedAsBefore(
  read: Reader,
  { id, decidedAt }: Pick<AgingFile, "id" | "decidedAt">,
): Promise<boolean> {
  const row = await read
    .selectFrom("files")
    .select("id")
    .where("id", "=", id)
    .where("is_filed", "=", 1)
    .where("decided_at", "=", decidedAt)
    .executeTakeFirst();
  return row !== undefined;
}

/** When the oldest decided file of a company that is still being filed away was decided; undefined when there is none. */
export async function findOldestUnfiled(read: Reader, companyId: number): Promise<number | undefined> {
  const { at } = await read
    .selectFrom("files")
    .select((eb) => eb.fn.min("decided_at").as("at"))
    .where("is_filed", "=", sql.lit(0))
    .where("state", "in", decidedStates)
    // The sign hides the company from the planner, which would read all its entries by that: few are not filed away.
    .where(sql<boolean>`${unindexed}company_id = ${companyId}`)
    .executeTakeFirstOrThrow();
  return at ?? undefined;
}
