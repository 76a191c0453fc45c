/** What completions and exports were made of, for explanations. */
import type { Reader } from "../database/database.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { type ListedDelivery, listed, selectDeliveries } from "./delivery-queries.ts";

export type CompletionOrigin = Pick<
  RowOf<"completions">,
  "id" | "companyId" | "stopNbr" | "name" | "triggerCode" | "stopStatus" | "createdAt"
>;

function selectOrigins(read: Reader) {
  return read
    .selectFrom("completions")
    .select(
      namedColumns("id", "company_id", "stop_nbr", "name", "trigger_code", "stop_status", "created_at"),
    );
}

/** The completion of that id; undefined when it was removed with its age. */
export async function findCompletionOrigin(read: Reader, id: number): Promise<CompletionOrigin | undefined> {
  return await selectOrigins(read).where("id", "=", id).executeTakeFirst();
}

/** The completion of that name. */
export async function findCompletionOfName(
  read: Reader,
  { companyId, name }: { readonly companyId: number; readonly name: string },
): Promise<CompletionOrigin | undefined> {
  return await selectOrigins(read)
    .where("company_id", "=", companyId)
    .where("name", "=", name)
    .executeTakeFirst();
}

/** The first completions of a window, in its order. */
export async function listWindow(
  read: Reader,
  window: {
    readonly companyId: number;
    readonly afterCompletionId: number;
    readonly lastCompletionId: number;
    readonly limit: number;
  },
): Promise<readonly CompletionOrigin[]> {
  return await selectOrigins(read)
    .where("company_id", "=", window.companyId)
    .where("id", ">", window.afterCompletionId)
    .where("id", "<=", window.lastCompletionId)
    .orderBy("id")
    .limit(window.limit)
    .execute();
}

export interface ContainingExport {
  readonly name: string;
  readonly sequenceNbr: number;
  readonly deliveries: readonly ListedDelivery[];
}

/** The exports that have a completion, the newest first. */
export async function listExportsWith(
  read: Reader,
  { id, companyId, limit }: Pick<CompletionOrigin, "id" | "companyId"> & { readonly limit: number },
): Promise<readonly ContainingExport[]> {
  const exports = await read
    .selectFrom("exports")
    .select(namedColumns("id", "name", "sequence_nbr"))
    .where("company_id", "=", companyId)
    .where("after_completion_id", "<", id)
    .where("last_completion_id", ">=", id)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return await Promise.all(
    exports.map(async ({ id: subjectId, ...one }) => ({
      ...one,
      deliveries: (
        await selectDeliveries(read)
          .where("d.kind", "=", "export")
          .where("d.subject_id", "=", subjectId)
          .orderBy("d.id")
          .execute()
      ).map(listed),
    })),
  );
}
