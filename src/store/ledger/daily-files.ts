/**
 * How many files were decided how, by the day (UTC) of their arrival: kept in the transaction of the decision, and not lowered
 * by the removal of old entries. And which files have a fault, by its code, as long as their entries are there.
 */
import { sql } from "kysely";
import { dayMs } from "../../lib/durations.ts";
import type { ErrorCode, Fault } from "../../lib/errors.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { prepareQuery } from "../database/prepared-query.ts";

/** The day of a moment (milliseconds UTC), counted from 1970-01-01. */
export function dayOf(at: number): number {
  return Math.floor(at / dayMs);
}

/** One more, or one less, of the state that the entry has at this moment. */
const countFile = prepareQuery<{ id: number; files: number }>(
  (db, arg) =>
    db
      .insertInto("daily_files")
      .columns(["company_id", "day", "state", "channel", "files"])
      .expression((eb) =>
        eb
          .selectFrom("files")
          .select([
            "company_id",
            sql<number>`received_at / ${sql.lit(dayMs)}`.as("day"),
            "state",
            "channel",
            sql<number>`${arg("files")}`.as("files"),
          ])
          .where("id", "=", arg("id")),
      )
      .onConflict((conflict) =>
        conflict.columns(["company_id", "day", "state", "channel"]).doUpdateSet((eb) => ({
          files: sql<number>`${eb.ref("daily_files.files")} + ${eb.ref("excluded.files")}`,
        })),
      ),
  { adds: "files" },
);

const noteFault = prepareQuery<{ id: number; code: string }>((db, arg) =>
  db
    .insertInto("file_faults")
    .columns(["company_id", "code", "received_at", "file_id"])
    .expression((eb) =>
      eb
        .selectFrom("files")
        .select(["company_id", sql<string>`${arg("code")}`.as("code"), "received_at", "id"])
        .where("id", "=", arg("id")),
    )
    .onConflict((conflict) => conflict.doNothing()),
);

function codesOf(faults: readonly Fault[]): ReadonlySet<ErrorCode> {
  return new Set(faults.map(({ code }) => code));
}

/** An entry has just been decided: it counts, and is found by the codes of its faults. */
export async function countDecided(tx: Transaction, id: number, faults: readonly Fault[]): Promise<void> {
  await countFile.run(tx, { id, files: 1 });
  for (const code of codesOf(faults)) await noteFault.run(tx, { id, code });
}

/** An entry that was decided is to be decided anew; to be called before its state changes. */
export async function uncountDecided(tx: Transaction, id: number): Promise<void> {
  await countFile.run(tx, { id, files: -1 });
  await forgetFaults(tx, [id]);
}

/** To be called before the entries are changed or removed. */
export async function forgetFaults(tx: Transaction, ids: readonly number[]): Promise<void> {
  const entries = await tx
    .selectFrom("files")
    .select(["id", "company_id", "received_at", "reasons"])
    .where("id", "in", [...ids])
    .where("reasons", "!=", "[]")
    .execute();
  for (const entry of entries) {
    const codes = codesOf(JSON.parse(entry.reasons) as readonly Fault[]);
    await tx
      .deleteFrom("file_faults")
      .where("company_id", "=", entry.company_id)
      .where("code", "in", [...codes])
      .where("received_at", "=", entry.received_at)
      .where("file_id", "=", entry.id)
      .execute();
  }
}

/** The channels of files that arrived since that time, in order. */
export async function listChannels(
  read: Reader,
  { companyIds, since }: { readonly companyIds: readonly number[]; readonly since: number },
): Promise<readonly string[]> {
  const rows = await read
    .selectFrom("daily_files")
    .select("channel")
    .distinct()
    .where("company_id", "in", [...companyIds])
    .where("day", ">=", dayOf(since))
    .orderBy("channel")
    .execute();
  return rows.map(({ channel }) => channel);
}
