/** How the queues of targets stand, for people: what was made lately, and why it waits. Bounded, however long a queue is. */
import type { Reader } from "../database/database.ts";
import { isOpen } from "./delivery-states.ts";

export interface LatelyMade {
  readonly made: number;
  /** So many of them. */
  readonly open: number;
}

/** So many of the newest are counted: more than a company makes in ten minutes, but for a backlog. */
const mostCounted = 20_000;

/** How many deliveries of a company were made since then for each of its targets, by their ids; of very many the newest. */
export async function countLately(
  read: Reader,
  { companyId, since }: { readonly companyId: number; readonly since: number },
): Promise<ReadonlyMap<number, LatelyMade>> {
  const newest = read
    .selectFrom("deliveries")
    .select(["target_id as targetId", "state"])
    .where("company_id", "=", companyId)
    .where("created_at", ">=", since)
    .orderBy("created_at", "desc")
    .limit(mostCounted)
    .as("newest");
  const rows = await read
    .selectFrom(newest)
    .select((eb) => [
      "targetId",
      eb.fn.countAll<number>().as("made"),
      eb.fn.sum<number>(eb.case().when(isOpen("state")).then(1).else(0).end()).as("open"),
    ])
    .groupBy("targetId")
    .execute();
  return new Map(
    rows.map(({ targetId, made, open }) => [targetId, { made: Number(made), open: Number(open) }]),
  );
}

/** Among so many of the oldest the fault is looked for: what has not been tried yet has none. */
const mostTried = 1_000;

/** The fault of the oldest open delivery of a target that was tried; undefined when none of the oldest has one. */
export async function findOpenFault(
  read: Reader,
  targetId: number,
): Promise<{ readonly fault: string; readonly faultText: string | null } | undefined> {
  const oldest = read
    .selectFrom("deliveries as d")
    .select(["d.id", "d.fault", "d.fault_text as faultText"])
    .where("d.target_id", "=", targetId)
    .where(isOpen("d.state"))
    .orderBy("d.id")
    .limit(mostTried)
    .as("oldest");
  const row = await read
    .selectFrom(oldest)
    .select(["oldest.fault", "oldest.faultText"])
    .where("oldest.fault", "is not", null)
    .orderBy("oldest.id")
    .limit(1)
    .executeTakeFirst();
  return row === undefined || row.fault === null ? undefined : { ...row, fault: row.fault };
}
