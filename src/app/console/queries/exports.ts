/** Exports that were made: their windows and files as their manifests say them, and their newest deliveries. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  ExportAsked,
  ExportsAsked,
  ExportsFound,
  ShownExport,
} from "../../../endpoints/http/console/pages/deliveries/deliveries-view.ts";
import { given } from "../../../lib/given.ts";
import { exportNames } from "../../../outbound/export-runs.ts";
import {
  countWindow,
  type ExportRecord,
  findExport,
  findExportOf,
  listNewestExports,
  newestDeliveriesOf,
} from "../../../store/outbound/exports.ts";
import type { QueryContext } from "../query-context.ts";
import { companyOfScope, type ScopedCompany } from "./ledger-links.ts";

/** With the newest delivery of each, as long as it has one. */
async function shownOf(
  { read }: QueryContext,
  exports: readonly ExportRecord[],
): Promise<readonly ShownExport[]> {
  const newest = await newestDeliveriesOf(
    read,
    exports.map(({ id }) => id),
  );
  const shown: ShownExport[] = [];
  for (const made of exports) {
    const { id, companyCode: company, name, sequenceNbr, createdAt: madeAt, form } = made;
    const names = exportNames(made);
    shown.push({
      ...{ company, name, sequenceNbr, madeAt, form },
      ...{ afterCompletion: made.windowBegin, lastCompletion: made.windowEnd },
      count: made.completions ?? (await countWindow(read, made)),
      ...{ file: names.delivery, manifest: names.manifest },
      delivery: newest.get(id) ?? null,
    });
  }
  return shown;
}

/** The export of that id, when it is one of the company. */
export async function exportOfDelivery(
  context: QueryContext,
  company: ScopedCompany,
  id: number,
): Promise<ShownExport | undefined> {
  const made = await findExport(context.read, id);
  return made?.companyId === company.id ? (await shownOf(context, [made]))[0] : undefined;
}

export async function queryExports(
  context: QueryContext,
  scope: Scope,
  { company: code, limit, before }: ExportsAsked,
): Promise<ExportsFound> {
  const named = code === undefined ? undefined : companyOfScope(scope, code);
  const companies = code === undefined ? scope.companies : named === undefined ? [] : [named];
  const made: ExportRecord[] = [];
  for (const { id: companyId } of companies)
    made.push(
      ...(await listNewestExports(context.read, { companyId, limit: limit + 1, ...given({ before }) })),
    );
  const newest = made.toSorted((one, other) => other.id - one.id);
  const page = newest.slice(0, limit);
  return {
    exports: await shownOf(context, page),
    before: newest.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}

/** The export of that name and number; undefined for one of a company that is not in the scope, too. */
export async function queryExport(
  context: QueryContext,
  scope: Scope,
  { company: code, name, sequenceNbr }: ExportAsked,
): Promise<ShownExport | undefined> {
  const company = companyOfScope(scope, code);
  const made = company && (await findExportOf(context.read, { companyId: company.id, name, sequenceNbr }));
  return made && (await shownOf(context, [made]))[0];
}
