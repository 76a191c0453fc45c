/** How the targets stand: what waits, since when, and why. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type { ShownTarget } from "../../../endpoints/http/console/pages/deliveries/deliveries-view.ts";
import { alertWayOf } from "../../../domain/alerts/audience.ts";
import { minuteMs } from "../../../lib/durations.ts";
import { listHandPauses } from "../../../store/outbound/hand-pauses.ts";
import { listOldestOpen, listOutboundTargets } from "../../../store/outbound/outbound-targets.ts";
import { countLately, findOpenFault, type LatelyMade } from "../../../store/outbound/target-counts.ts";
import { faultRemedies, moveOfFault } from "../../admin/fault-remedies.ts";
import type { QueryContext } from "../query-context.ts";

const latelyMs = 10 * minuteMs;

async function faultOf(
  { read }: Pick<QueryContext, "read">,
  targetId: number,
): Promise<ShownTarget["fault"]> {
  const found = await findOpenFault(read, targetId);
  if (found === undefined) return undefined;
  const remedy = Object.entries(faultRemedies).find(([name]) => name === found.fault)?.[1];
  return { text: found.faultText ?? found.fault, remedy, move: moveOfFault(found.fault) };
}

/** What was made in the last minutes, by the ids of targets. */
async function latelyOf(
  { read, now }: Pick<QueryContext, "read" | "now">,
  companyIds: Iterable<number>,
): Promise<ReadonlyMap<number, LatelyMade>> {
  const counts: (readonly [number, LatelyMade])[] = [];
  for (const companyId of companyIds)
    counts.push(...(await countLately(read, { companyId, since: now - latelyMs })));
  return new Map(counts);
}

/**
 * The targets of these companies, or those of a name among them, those with most open ones first; those of alerts are left
 * out.
 */
export async function standingsOf(
  context: QueryContext,
  scope: Scope,
  named?: string,
): Promise<readonly ShownTarget[]> {
  const { read, now } = context;
  const companies = new Set(scope.companies.map(({ id }) => id));
  const targets = (await listOutboundTargets(read)).filter(
    ({ companyId, name }) =>
      companies.has(companyId) && alertWayOf(name) === undefined && (named ?? name) === name,
  );
  const oldest = await listOldestOpen(read);
  const pauses = await listHandPauses(read);
  const lately = await latelyOf(context, new Set(targets.map(({ companyId }) => companyId)));
  const standings: ShownTarget[] = [];
  for (const { id, companyId, companyCode: company, name, isConfigured, ...target } of targets) {
    const { open, dead, failures, pausedUntil } = target;
    const pause = pauses.find(
      (one) => one.kind === "target" && one.companyId === companyId && one.name === name,
    );
    standings.push({
      ...{ company, name, isConfigured, open, dead, failures },
      oldestAt: oldest.get(id) ?? null,
      lately: lately.get(id) ?? { made: 0, open: 0 },
      restsUntil: failures > 0 && pausedUntil > now ? pausedUntil : null,
      fault: open > 0 ? await faultOf(context, id) : undefined,
      pause: pause && { by: pause.pausedBy, at: pause.pausedAt, reason: pause.reason },
    });
  }
  return standings.toSorted((one, other) => other.open - one.open);
}
