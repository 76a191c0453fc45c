/** An export that was made before, delivered once more with the same files under the same names. */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import { ActRefused, type ConsoleActs } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { isoOrNull, isoTime } from "../../../lib/iso-time.ts";
import { deliverAgain, type ExportPlan } from "../../../outbound/export-runs.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import type { Reader } from "../../../store/database/database.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { findDelivery } from "../../../store/outbound/delivery-queries.ts";
import { findExportOf, newestDeliveryOf } from "../../../store/outbound/exports.ts";
import { defaultExportPlan, exportPlansOf } from "../../daemon/outbound-settings.ts";
import { companyOf, type RunningAct } from "../running-act.ts";
import { endChanged } from "./one-subject.ts";

type Asked = ConsoleActs["export.again"]["asked"];

async function planOf(act: RunningAct, read: Reader, name: string): Promise<ExportPlan> {
  const company = (await listCompanies(read)).find(({ id }) => id === companyOf(act));
  if (company === undefined) throw new ActRefused("unknown", actWords.notThere);
  const config = act.context.config();
  const byDefault = defaultExportPlan(config, company);
  const plans = byDefault === undefined ? exportPlansOf(config, company) : [byDefault];
  const plan = plans.find((one) => one.name === name);
  if (plan === undefined) throw new ActRefused("changed", actWords.export.notConfigured);
  return plan;
}

/** When it was put in the queue last, if that was after somebody looked at it. */
async function deliveredSince(
  tx: Transaction,
  plan: ExportPlan,
  { sequenceNbr, seenAt }: Asked,
): Promise<number | undefined> {
  const made = await findExportOf(tx, { ...plan, sequenceNbr });
  if (made === undefined) throw new ActRefused("unknown", actWords.notThere);
  const last = await newestDeliveryOf(tx, made.id);
  return last !== undefined && last.createdAt > seenAt ? last.createdAt : undefined;
}

type Again =
  | { readonly kind: "queued"; readonly deliveryId: number }
  | { readonly kind: "changed"; readonly at: number };

export async function deliverExportAgain(
  act: RunningAct,
  asked: Asked,
): Promise<{ readonly delivery: string }> {
  const { name, sequenceNbr, seenAt } = asked;
  const { read } = act.context.store;
  const plan = await planOf(act, read, name);
  const subject = auditSubjectText({ kind: "export", name, sequenceNbr });
  const again = await act.unit(async (tx, note): Promise<Again> => {
    const at = await deliveredSince(tx, plan, asked);
    if (at !== undefined) return { kind: "changed", at };
    const outcome = await deliverAgain(tx, plan, { sequenceNbr, now: act.now });
    if (outcome.kind === "unknown") throw new ActRefused("unknown", actWords.notThere);
    if (outcome.kind === "forgotten")
      throw new ActRefused("changed", actWords.export.forgotten(isoTime(outcome.madeAt)));
    const { made, deliveryId, deliveryName } = outcome.again;
    note({
      ...{ subject, before: { madeAt: isoOrNull(made.createdAt) } },
      after: { target: plan.target, file: deliveryName },
    });
    return { kind: "queued", deliveryId };
  });
  if (again.kind === "changed")
    await endChanged(act, { subject, seenAt }, actWords.changedSince(isoTime(again.at)));
  const made = await findExportOf(read, { ...plan, sequenceNbr });
  const newest = made === undefined ? undefined : await newestDeliveryOf(read, made.id);
  const id = again.kind === "queued" ? again.deliveryId : newest?.id;
  const found = id === undefined ? undefined : await findDelivery(read, id);
  return { delivery: found?.guid ?? "" };
}
