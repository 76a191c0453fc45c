/** A round of a remote at once, whatever it waits for: the daemon begins within a second. */
import { remoteSettingsOf } from "../../../config/company-settings.ts";
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import { ActRefused, type NamedAsked } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { isoOrNull, isoTime } from "../../../lib/iso-time.ts";
import { listCompanies } from "../../../store/accounts/companies.ts";
import type { Transaction } from "../../../store/database/groups/group-commit.ts";
import { askForRemote, listRemoteStates } from "../../../store/ledger/remote-states.ts";
import { listHandPauses } from "../../../store/outbound/hand-pauses.ts";
import { companyOf, type RunningAct } from "../running-act.ts";

/** Rejects when the configuration has no remote of that name for the company of the act. */
export async function requireRemote(act: RunningAct, tx: Transaction, name: string): Promise<number> {
  const companyId = companyOf(act);
  const company = (await listCompanies(tx)).find(({ id }) => id === companyId);
  const isConfigured =
    company !== undefined && remoteSettingsOf(act.context.config(), company.code).has(name);
  if (!isConfigured) throw new ActRefused("unknown", actWords.notThere);
  return companyId;
}

/** To be asked for twice is one round. */
export async function pollRemote(act: RunningAct, { name }: NamedAsked): Promise<undefined> {
  await act.unit(async (tx, note) => {
    const companyId = await requireRemote(act, tx, name);
    const pause = (await listHandPauses(tx)).find(
      (one) => one.kind === "remote" && one.companyId === companyId && one.name === name,
    );
    if (pause !== undefined)
      throw new ActRefused("changed", actWords.pause.resumeFirst(pause.pausedBy, isoTime(pause.pausedAt)));
    const state = (await listRemoteStates(tx)).find(
      (one) => one.companyId === companyId && one.remote === name,
    );
    await askForRemote(tx, { companyId, remote: name, now: act.now });
    const before = { polledAt: isoOrNull(state?.polledAt ?? null), failures: state?.failures ?? 0 };
    const subject = auditSubjectText({ kind: "remote", name });
    note({ subject, before, after: { askedAt: isoTime(act.now) } });
  });
  return undefined;
}
