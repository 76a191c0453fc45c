/**
 * The files of a scope that were refused or superseded last. Those of a company with the same fault on the same day are one
 * line when they are many, so that a flood hides nothing else.
 */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type { Refusal, RefusalGroup } from "../../../endpoints/http/console/live/standing.ts";
import type {
  GroupsAsked,
  RefusalsAsked,
  RefusalsFound,
} from "../../../endpoints/http/console/pages/today/today-view.ts";
import { errorCatalogue, reasonCodeOf } from "../../../lib/errors.ts";
import { dayMs } from "../../../lib/durations.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { dayOf } from "../../../store/ledger/daily-files.ts";
import { countFilePage } from "../../../store/ledger/file-page-counts.ts";
import {
  type FaultSpan,
  type FaultyEntry,
  findFirstOfCode,
  listFaultCodes,
  listNewestOfCode,
} from "../../../store/ledger/recent-faults.ts";
import type { QueryContext } from "../query-context.ts";
import type { ScopedCompany } from "./ledger-links.ts";

/** Older ones are no news. */
const newsMs = 7 * dayMs;
/** As long as those that are told live. */
const longestMessage = 300;
/** Fewer of a day are shown one by one. */
const leastOfGroup = 5;

function shortened(text: string): string {
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

function refusalOf(
  entry: FaultyEntry,
  company: ScopedCompany,
  { ledgerNumbers }: Pick<QueryContext, "ledgerNumbers">,
): readonly Refusal[] {
  const [first] = entry.faults;
  if (first === undefined) return [];
  const { id, name, state, receivedAt, decidedAt } = entry;
  const { code, message } = first;
  return [
    {
      ...{ companyId: company.id, companyCode: company.code, name, state, code, message: shortened(message) },
      ...{ reference: ledgerNumbers.seal(id), reasonCode: reasonCodeOf(code), at: decidedAt ?? receivedAt },
    },
  ];
}

/** What of a day is shown: one line, or each by itself. */
interface OfDay {
  readonly refusals: readonly Refusal[];
  readonly groups: readonly RefusalGroup[];
}

/** `newest` are those of the span, which is within a day: as many as make a group, or all. */
async function lineOf(
  { read }: Pick<QueryContext, "read">,
  company: ScopedCompany,
  { span, newest }: { readonly span: FaultSpan; readonly newest: readonly FaultyEntry[] },
): Promise<RefusalGroup | undefined> {
  const { code, since } = span;
  const [last] = newest;
  const isFirst = newest.some(({ faults }) => faults[0]?.code === code);
  if (last === undefined || newest.length < leastOfGroup || !isFirst) return undefined;
  const { companyId, until } = span;
  const counted = await countFilePage(read, { companyIds: [companyId], reasons: [code], since, until });
  const firstAt = await findFirstOfCode(read, span);
  const message = last.faults.find((fault) => fault.code === code)?.message ?? "";
  return {
    ...{ companyId, companyCode: company.code, code, reasonCode: reasonCodeOf(code) },
    ...{ day: isoTime(since).slice(0, 10), count: counted?.count ?? newest.length },
    ...{ isMore: counted?.kind === "moreThan", firstAt: firstAt ?? last.receivedAt },
    ...{ lastAt: last.receivedAt, message: shortened(message) },
  };
}

/** Those of a code, day by day from the newest back, as many lines as are asked for. */
async function linesOfCode(
  context: QueryContext,
  company: ScopedCompany,
  { span, limit }: { readonly span: FaultSpan; readonly limit: number },
): Promise<OfDay> {
  const refusals: Refusal[] = [];
  const groups: RefusalGroup[] = [];
  for (let { until } = span; until > span.since && refusals.length + groups.length < limit; ) {
    const found = await listNewestOfCode(context.read, { ...span, until }, leastOfGroup);
    const [newest] = found;
    if (newest === undefined) break;
    const begin = dayOf(newest.receivedAt) * dayMs;
    const ofDay = found.filter(({ receivedAt }) => receivedAt >= begin);
    const day = { ...span, since: begin, until: begin + dayMs };
    const group = await lineOf(context, company, { span: day, newest: ofDay });
    const own = ofDay.filter(({ faults }) => faults[0]?.code === span.code);
    if (group !== undefined) groups.push(group);
    else refusals.push(...own.flatMap((entry) => refusalOf(entry, company, context)));
    until = begin;
  }
  return { refusals, groups };
}

async function linesOfCompany(context: QueryContext, company: ScopedCompany, limit: number): Promise<OfDay> {
  const { read, now } = context;
  const [since, until] = [now - newsMs, Number.MAX_SAFE_INTEGER];
  const codes = (await listFaultCodes(read, company.id))
    .filter(({ code, lastAt }) => code in errorCatalogue && lastAt >= since)
    .toSorted((one, other) => other.lastAt - one.lastAt)
    .slice(0, limit);
  const lines: OfDay[] = [];
  for (const { code } of codes)
    lines.push(
      await linesOfCode(context, company, { span: { companyId: company.id, code, since, until }, limit }),
    );
  return {
    refusals: lines.flatMap(({ refusals }) => refusals),
    groups: lines.flatMap(({ groups }) => groups),
  };
}

/** As many lines as are asked for, each one refusal or a group. */
export async function queryRecentRefusals(
  context: QueryContext,
  { companies }: Scope,
  { limit }: RefusalsAsked,
): Promise<RefusalsFound> {
  const all: ({ readonly at: number } & (
    | { readonly refusal: Refusal }
    | { readonly group: RefusalGroup }
  ))[] = [];
  for (const company of companies) {
    const { refusals, groups } = await linesOfCompany(context, company, limit);
    all.push(...refusals.map((refusal) => ({ at: refusal.at, refusal })));
    all.push(...groups.map((group) => ({ at: group.lastAt, group })));
  }
  const newest = all.toSorted((one, other) => other.at - one.at).slice(0, limit);
  return {
    refusals: newest.flatMap((line) => ("refusal" in line ? line.refusal : [])),
    groups: newest.flatMap((line) => ("group" in line ? line.group : [])),
  };
}

/** Those of the keys, of companies of the scope, that are as many as make a group. */
export async function queryRefusalGroups(
  context: QueryContext,
  { companies }: Scope,
  { keys }: GroupsAsked,
): Promise<readonly RefusalGroup[]> {
  const groups: RefusalGroup[] = [];
  for (const { companyId, code, day } of keys) {
    const company = companies.find(({ id }) => id === companyId);
    if (company === undefined) continue;
    const since = Date.parse(day);
    const span = { companyId, code, since, until: since + dayMs };
    const newest = await listNewestOfCode(context.read, span, leastOfGroup);
    const group = await lineOf(context, company, { span, newest });
    if (group !== undefined) groups.push(group);
  }
  return groups;
}
