/**
 * Failed sign-ins and bans, as nodes of one database tell them to one another. Written by units of none (`unowned`), which come
 * one after the other: so who reads the rows after the last id, or after the last change, that it knows has missed none.
 */
import { sql } from "kysely";
import { greater } from "../database/dialects/sql-forms.ts";
import type { Reader } from "../database/database.ts";
import type { Transaction } from "../database/groups/group-commit.ts";
import { namedColumns, type RowOf } from "../database/named-rows.ts";
import { prepareQuery } from "../database/prepared-query.ts";

export type SignInFault = RowOf<"sign_in_faults">;
export type SignInBan = RowOf<"sign_in_bans">;

const faultsAfter = prepareQuery<{ id: number; limit: number }, SignInFault>((db, arg) =>
  db
    .selectFrom("sign_in_faults")
    .select(namedColumns("id", "peer", "subject", "score", "at"))
    .where("id", ">", arg("id"))
    .orderBy("id")
    .limit(arg("limit")),
);

const bansAfter = prepareQuery<{ changedAt: number; limit: number }, SignInBan>((db, arg) =>
  db
    .selectFrom("sign_in_bans")
    .select(namedColumns("peer", "banned_until", "times", "changed_at"))
    .where("changed_at", ">", arg("changedAt"))
    .orderBy("changed_at")
    .limit(arg("limit")),
);

/** Lists of any length make as many texts of statements as there are bits in the length. */
function* inPowersOfTwo<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  let at = 0;
  while (at < rows.length) {
    const size = 2 ** Math.floor(Math.log2(rows.length - at));
    yield rows.slice(at, at + size);
    at += size;
  }
}

/** Gives their ids. */
export async function insertSignInFaults(
  tx: Transaction,
  faults: readonly Omit<SignInFault, "id">[],
): Promise<readonly number[]> {
  const ids: number[] = [];
  for (const some of inPowersOfTwo(faults)) {
    const made = await tx
      .insertInto("sign_in_faults")
      .values([...some])
      .returning("id")
      .execute();
    ids.push(...made.map(({ id }) => id));
  }
  return ids;
}

/** A time that is later than that of every change before, whatever the clocks of the nodes show. */
async function nextChange(tx: Transaction, now: number): Promise<number> {
  const last = await tx
    .selectFrom("sign_in_bans")
    .select("changed_at")
    .orderBy("changed_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return Math.max(now, (last?.changed_at ?? 0) + 1);
}

/**
 * Notes bans that have begun. Of two nodes that have banned the same address at the same moment, the later end and the higher
 * count stay, unless the row is of a time before `forgottenBefore`.
 */
export async function saveSignInBans(
  tx: Transaction,
  bans: readonly Pick<SignInBan, "peer" | "bannedUntil" | "times">[],
  { now, forgottenBefore }: { readonly now: number; readonly forgottenBefore: number },
): Promise<void> {
  if (bans.length === 0) return;
  const changed_at = await nextChange(tx, now);
  await forgetSignInBans(tx, forgottenBefore);
  for (const some of inPowersOfTwo(bans)) {
    const rows = some.map(({ peer, bannedUntil, times }) => ({
      peer,
      banned_until: bannedUntil,
      times,
      changed_at,
    }));
    await tx
      .insertInto("sign_in_bans")
      .values(rows)
      .onConflict((conflict) =>
        conflict.column("peer").doUpdateSet({
          banned_until: sql<number>`${greater}(sign_in_bans.banned_until, excluded.banned_until)`,
          times: sql<number>`${greater}(sign_in_bans.times, excluded.times)`,
          changed_at,
        }),
      )
      .execute();
  }
}

/** Notes that a ban was lifted: as a row, since nobody reads of one that is gone. */
export async function liftSignInBan(tx: Transaction, peer: string, now: number): Promise<void> {
  const lifted = { banned_until: 0, times: 0, changed_at: await nextChange(tx, now) };
  await tx
    .insertInto("sign_in_bans")
    .values({ peer, ...lifted })
    .onConflict((conflict) => conflict.column("peer").doUpdateSet(lifted))
    .execute();
}

/** Removes bans that were over, and liftings that were, before that moment. */
async function forgetSignInBans(tx: Transaction, before: number): Promise<void> {
  await tx
    .deleteFrom("sign_in_bans")
    .where("changed_at", "<", before)
    .where("banned_until", "<", before)
    .execute();
}

/** Removes faults of a time before, the oldest of those that are more than `keep`, and bans that are forgotten. */
export async function pruneSignInGuards(
  tx: Transaction,
  given: { readonly faultsBefore: number; readonly keep: number; readonly bansBefore: number },
): Promise<void> {
  const beyond = (await lastFaultId(tx)) - given.keep;
  await tx
    .deleteFrom("sign_in_faults")
    .where((where) => where.or([where("at", "<", given.faultsBefore), where("id", "<=", beyond)]))
    .execute();
  await forgetSignInBans(tx, given.bansBefore);
}

/** 0 when there is none. */
export async function lastFaultId(read: Reader): Promise<number> {
  const last = await read
    .selectFrom("sign_in_faults")
    .select("id")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return last?.id ?? 0;
}

/** The next ones after that id, in their order. */
export async function listFaultsAfter(
  read: Reader,
  id: number,
  limit: number,
): Promise<readonly SignInFault[]> {
  return await faultsAfter.rows(read, { id, limit });
}

/** The next changes after that one, in their order; those of the same unit come together. */
export async function listBansAfter(
  read: Reader,
  changedAt: number,
  limit: number,
): Promise<readonly SignInBan[]> {
  return await bansAfter.rows(read, { changedAt, limit });
}
