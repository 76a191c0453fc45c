/** Exports that were made: their windows and files as their manifests say them, and their newest deliveries. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  ExportsAsked,
  ExportsFound,
  ShownExport,
} from "../../../endpoints/http/console/pages/deliveries/deliveries-view.ts";
import { exportNames } from "../../../outbound/export-runs.ts";
import {
  countWindow,
  type ExportRecord,
  findExport,
  listNewestExports,
  newestDeliveryOf,
} from "../../../store/outbound/exports.ts";
import { findDelivery } from "../../../store/outbound/delivery-queries.ts";
import type { QueryContext } from "../query-context.ts";
import { companyOfScope, type ScopedCompany } from "./ledger-links.ts";

async function shownOf({ read }: QueryContext, made: ExportRecord): Promise<ShownExport> {
  const { companyCode: company, name, sequenceNbr, createdAt: madeAt, form } = made;
  const names = exportNames(made);
  const newest = await newestDeliveryOf(read, made.id);
  const delivery = newest === undefined ? undefined : await findDelivery(read, newest.id);
  return {
    ...{ company, name, sequenceNbr, madeAt, form },
    ...{ afterCompletion: made.windowBegin, lastCompletion: made.windowEnd },
    count: await countWindow(read, made),
    ...{ file: names.delivery, manifest: names.manifest },
    delivery: delivery === undefined ? null : { guid: delivery.guid, state: delivery.state },
  };
}

/** The export of that id, when it is one of the company. */
export async function exportOfDelivery(
  context: QueryContext,
  company: ScopedCompany,
  id: number,
): Promise<ShownExport | undefined> {
  const made = await findExport(context.read, id);
  return made?.companyId === company.id ? await shownOf(context, made) : undefined;
}

export async function queryExports(
  context: QueryContext,
  scope: Scope,
  { company: code, limit }: ExportsAsked,
): Promise<ExportsFound> {
  const named = code === undefined ? undefined : companyOfScope(scope, code);
  const companies = code === undefined ? scope.companies : named === undefined ? [] : [named];
  const made: ExportRecord[] = [];
  for (const { id: companyId } of companies)
    made.push(...(await listNewestExports(context.read, { companyId, limit })));
  const newest = made.toSorted((one, other) => other.id - one.id).slice(0, limit);
  const exports: ShownExport[] = [];
  for (const one of newest) exports.push(await shownOf(context, one));
  return { exports };
}
