/** The files of a scope that were refused or superseded last. */
import { type SqlBool, sql } from "kysely";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type { Refusal } from "../../../endpoints/http/console/live/standing.ts";
import type { RefusalsAsked, RefusalsFound } from "../../../endpoints/http/console/pages/today/today-view.ts";
import { type Fault, reasonCodeOf } from "../../../lib/errors.ts";
import { dayMs } from "../../../lib/durations.ts";
import type { Reader } from "../../../store/database/database.ts";
import type { QueryContext } from "../query-context.ts";

/** Older ones are no news. */
const newsMs = 7 * dayMs;
/** As long as those that are told live. */
const longestMessage = 300;
const states = ["refused", "superseded"] as const;

const columns = ["id", "company_id", "name", "state", "reasons", "received_at", "decided_at"] as const;

/** By arrival: the index of a company and a state gives them so, and a file is decided soon after it came. */
function newestOf(read: Reader, companyId: number, state: (typeof states)[number], page: RefusalsAsked) {
  return (
    read
      .selectFrom("files")
      .select(columns)
      .where("company_id", "=", companyId)
      .where("state", "=", state)
      // The very condition of the index.
      .where(sql<SqlBool>`state in ('refused', 'duplicate', 'superseded')`)
      .orderBy("received_at", "desc")
      .limit(page.limit)
  );
}

type Row = Awaited<ReturnType<ReturnType<typeof newestOf>["execute"]>>[number];

function shortened(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

export async function queryRecentRefusals(
  { read, ledgerNumbers, now }: QueryContext,
  { companies }: Scope,
  { limit }: RefusalsAsked,
): Promise<RefusalsFound> {
  const codes = new Map(companies.map(({ id, code }) => [id, code]));
  const rows: Row[] = [];
  for (const { id } of companies)
    for (const state of states)
      rows.push(
        ...(await newestOf(read, id, state, { limit })
          .where("received_at", ">=", now - newsMs)
          .execute()),
      );
  const toRefusal = (row: Row): readonly Refusal[] => {
    const [first] = JSON.parse(row.reasons) as readonly Fault[];
    if (first === undefined || (row.state !== "refused" && row.state !== "superseded")) return [];
    const { name, state } = row;
    return [
      {
        ...{ companyId: row.company_id, companyCode: codes.get(row.company_id) ?? "", name, state },
        reference: ledgerNumbers.seal(row.id),
        code: first.code,
        reasonCode: reasonCodeOf(first.code),
        message: shortened(first.message),
        at: row.decided_at ?? row.received_at,
      },
    ];
  };
  const refusals = rows.flatMap(toRefusal).toSorted((one, other) => other.at - one.at);
  return { refusals: refusals.slice(0, limit) };
}
