/**
 * The lag of targets over time, from what the store keeps of deliveries: those that were made in the span, or up to a day
 * before it. Of older ones only those count that wait now.
 */
import { alertWayOf } from "../../../domain/alerts/audience.ts";
import { isSameCompanyCode } from "../../../domain/users/company-code.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  LagPoint,
  LagsAsked,
  LagsFound,
  LagSpan,
} from "../../../endpoints/http/console/pages/deliveries/lag-view.ts";
import { dayMs, hourMs, minuteMs } from "../../../lib/durations.ts";
import { type LagGroup, listLagGroups } from "../../../store/outbound/delivery-lag.ts";
import {
  listOldestOpen,
  listOutboundTargets,
  type OutboundTarget,
} from "../../../store/outbound/outbound-targets.ts";
import type { QueryContext } from "../query-context.ts";

const spans: Readonly<Record<LagSpan, { readonly lengthMs: number; readonly stepMs: number }>> = {
  "24h": { lengthMs: dayMs, stepMs: 15 * minuteMs },
  "14d": { lengthMs: 14 * dayMs, stepMs: 2 * hourMs },
};
/** What was made before the span, and delivered in it, is seen as far back as this. */
const beforeMs = dayMs;
const looks = 20_000;

/** The steps of a span, those before it too. */
interface Steps {
  readonly since: number;
  readonly stepMs: number;
  readonly count: number;
  /** The first that is shown. */
  readonly first: number;
  readonly now: number;
}

function stepsOf(span: LagSpan, now: number): Steps {
  const { lengthMs, stepMs } = spans[span];
  const end = now - (now % stepMs);
  const [first, count] = [beforeMs / stepMs, (beforeMs + lengthMs) / stepMs + 1];
  return { since: end - beforeMs - lengthMs, stepMs, count, first, now };
}

interface Standing {
  readonly target: Pick<OutboundTarget, "open">;
  /** When the oldest that is open was made. */
  readonly oldestAt: number | undefined;
  readonly groups: readonly LagGroup[];
  readonly each: number;
}

/** At the end of each step how many waited since when, and what was delivered in it. */
function pointsOf({ since, stepMs, count, first, now }: Steps, standing: Standing): readonly LagPoint[] {
  const { target, oldestAt, groups, each } = standing;
  const open = groups.filter(({ ended }) => ended === null).reduce((sum, { rows }) => sum + rows * each, 0);
  const older = Math.max(0, target.open - Math.round(open));
  const steps = Array.from({ length: count }, () => ({
    waiting: older,
    firstAt: older > 0 ? oldestAt : undefined,
    longestMs: undefined as number | undefined,
  }));
  for (const { begun, ended, rows, firstAt, longestMs } of groups) {
    for (const step of steps.slice(Math.max(0, begun), ended ?? count)) {
      step.waiting += rows * each;
      step.firstAt = Math.min(step.firstAt ?? firstAt, firstAt);
    }
    const delivered = ended === null || longestMs === null ? undefined : steps[ended];
    if (delivered !== undefined) delivered.longestMs = Math.max(delivered.longestMs ?? 0, longestMs ?? 0);
  }
  return steps.slice(first).map(({ waiting, firstAt, longestMs }, index) => {
    const at = Math.min(now, since + (first + index + 1) * stepMs);
    const oldestMs = firstAt === undefined ? undefined : Math.max(0, at - firstAt);
    return { at, waiting: Math.round(waiting), oldestMs, longestMs };
  });
}

/** The longest that anything has waited or taken. */
function worstOf(points: readonly LagPoint[]): number {
  return points.reduce(
    (worst, { oldestMs = 0, longestMs = 0 }) => Math.max(worst, oldestMs, longestMs),
    Number.NEGATIVE_INFINITY,
  );
}

function isNothing(points: readonly LagPoint[]): boolean {
  return points.every(({ waiting, longestMs }) => waiting === 0 && longestMs === undefined);
}

/** The targets of the scope that have had deliveries, without those of alerts. */
export async function queryTargetLags(
  { read, now }: QueryContext,
  { companies }: Scope,
  { span, company, target, limit }: LagsAsked,
): Promise<LagsFound> {
  const asked = companies.filter(({ code }) => company === undefined || isSameCompanyCode(code, company));
  const companyIds = asked.map(({ id }) => id);
  const targets = (await listOutboundTargets(read)).filter(
    ({ companyId, name }) =>
      companyIds.includes(companyId) &&
      alertWayOf(name) === undefined &&
      (target === undefined || name === target),
  );
  if (targets.length === 0) return { targets: [], more: 0, each: 1 };
  const steps = stepsOf(span, now);
  const { groups, each } = await listLagGroups(read, { companyIds, ...steps, looks });
  const ofTarget = Map.groupBy(groups, ({ targetId }) => targetId);
  const oldest = await listOldestOpen(read);
  const lags = targets
    .map((one) => {
      const standing = { oldestAt: oldest.get(one.id), groups: ofTarget.get(one.id) ?? [], each };
      const points = pointsOf(steps, { target: one, ...standing });
      return { company: one.companyCode, name: one.name, points };
    })
    .filter(({ points }) => !isNothing(points))
    .toSorted((one, other) => worstOf(other.points) - worstOf(one.points));
  return { targets: lags.slice(0, limit), more: Math.max(0, lags.length - limit), each };
}
