/** A target that somebody has repaired: its pause ends, and what waits for its next attempt is tried at once. */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import { ActRefused, type NamedAsked } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { hastenAll } from "../../../operations/deliveries/repeat-delivery.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { listOutboundTargets, type OutboundTarget } from "../../../store/outbound/outbound-targets.ts";
import { endPausesIn } from "../../admin/delivery-retry.ts";
import { companyOf, type RunningAct } from "../running-act.ts";

/** The target of the company that has that name. Rejects when there is none. */
export async function requireTarget(
  tx: Transaction,
  { companyId, name }: { readonly companyId: number; readonly name: string },
): Promise<OutboundTarget> {
  const found = (await listOutboundTargets(tx)).find(
    (target) => target.companyId === companyId && target.name === name,
  );
  if (found === undefined) throw new ActRefused("unknown", actWords.notThere);
  return found;
}

/** To be asked for twice does no harm: the second finds nothing that waits. */
export async function retryTargetAtOnce(
  act: RunningAct,
  { name }: NamedAsked,
): Promise<{ readonly hastened: number }> {
  const companyId = companyOf(act);
  return await act.unit(async (tx, note) => {
    const target = await requireTarget(tx, { companyId, name });
    const { now } = act;
    const hastened = await hastenAll(tx, { targetId: target.id, now });
    await endPausesIn(tx, [target], now);
    const pausedUntil = target.pausedUntil > now ? isoTime(target.pausedUntil) : null;
    const subject = auditSubjectText({ kind: "target", name });
    note({ subject, before: { pausedUntil, failures: target.failures }, after: { hastened } });
    return { hastened };
  });
}
