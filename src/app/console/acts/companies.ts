/** Registers companies, as `dropgate company add` does. */
import { auditSubjectText } from "../../../domain/audit/audit-subject.ts";
import { ActRefused, type NewCompanyAsked } from "../../../endpoints/http/console/console-acts.ts";
import { actWords } from "../../../endpoints/http/console/words/act-words.ts";
import { ensureCompanyTree } from "../../../exchange/folders/company-folders.ts";
import { createLocations } from "../../../inbound/places/locations.ts";
import { checkCompanyCode, readCompanyChange } from "../../../operations/users/company-admin.ts";
import { insertCompany, saveCompanyFields } from "../../../store/accounts/companies.ts";
import { enterOutbound } from "../../daemon/outbound-settings.ts";
import type { RunningAct } from "../running-act.ts";

/**
 * The row comes first and the folders after it: a start makes those that a crash has left out. They are made for a company
 * that is there too, so that asking again mends what a full disk has kept back.
 */
export async function addCompany(
  act: RunningAct,
  { code, name }: NewCompanyAsked,
): Promise<{ readonly code: string }> {
  checkCompanyCode(code);
  const fields = readCompanyChange({ name });
  const { config, stateDir } = act.context;
  const { company, isNew } = await act.unit(async (tx, note) => {
    const added = await insertCompany(tx, { code, createdAt: act.now });
    if (!added.isNew) return added;
    await saveCompanyFields(tx, added.company.id, fields);
    await enterOutbound(tx, config(), added.company);
    const subject = auditSubjectText({ kind: "company", name: added.company.code });
    note({ subject, after: { code: added.company.code, ...fields } });
    return added;
  });
  await ensureCompanyTree(createLocations(stateDir).companiesDirectory, company.code);
  if (!isNew) throw new ActRefused("changed", actWords.hasCompany(company.code));
  return { code: company.code };
}
