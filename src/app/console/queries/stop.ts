/** What is known of one stop: its state, its times, and everything that came and went about it. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  DocumentView,
  StopAppointment,
  StopAsked,
  StopFileView,
  StopFound,
} from "../../../endpoints/http/console/pages/stop/stop-view.ts";
import type { DocumentObject } from "../../../domain/documents/document-object.ts";
import { readGuid } from "../../../domain/documents/document-content.ts";
import type { StopExecution } from "../../../domain/execution/stop-execution.ts";
import { visitsOf } from "../../../domain/execution/stop-visits.ts";
import type { LoadHeader } from "../../../domain/load/load.ts";
import { recordedEventName } from "../../../domain/outbound/recorded-events.ts";
import type { Stop } from "../../../domain/stop/stop.ts";
import { remediesOf } from "../../../inbound/explain/file-words.ts";
import { reasonCodeOf } from "../../../lib/errors.ts";
import { findAppointment } from "../../../store/appointments/appointments.ts";
import { listFiles } from "../../../store/ledger/file-lists.ts";
import type { LedgerEntry } from "../../../store/ledger/files.ts";
import { listDeliveries } from "../../../store/outbound/delivery-lists.ts";
import { findDocument } from "../../../store/stops/documents.ts";
import { findStopOnLoad, type StopOnLoad } from "../../../store/stops/shown-stops.ts";
import { findStopSummaries, listStopEvents, type StopSummary } from "../../../store/stops/stop-history.ts";
import type { QueryContext } from "../query-context.ts";
import { companyOfScope, deliveryLinkOf, fileLinkOf, type ScopedCompany } from "./ledger-links.ts";
import { momentOrNone, visitViewsOf } from "./visit-views.ts";

const maxEvents = 100;
const maxFiles = 50;
const maxDeliveries = 50;
const maxDocuments = 50;

/** The stop of that number, else the only one whose number differs in case alone. */
async function summaryOf(
  { read }: QueryContext,
  key: { readonly companyId: number; readonly stopNbr: string },
): Promise<StopSummary | undefined> {
  const found = await findStopSummaries(read, key);
  return found.find(({ stopNbr }) => stopNbr === key.stopNbr) ?? (found.length === 1 ? found[0] : undefined);
}

async function eventsOf({ read }: QueryContext, key: { companyId: number; stopNbr: string }) {
  const events = await listStopEvents(read, { ...key, limit: maxEvents });
  return events
    .map(({ code, recordedAt, eventDTTM, eventTz }) => ({
      ...{ code, name: recordedEventName(code), recordedAt },
      happenedAt: momentOrNone(eventDTTM, eventTz ?? "UTC") ?? recordedAt,
    }))
    .toSorted((one, other) => one.happenedAt - other.happenedAt);
}

function fileViewOf(context: QueryContext, entry: LedgerEntry): StopFileView {
  const reasons = entry.faults.map(({ code, message }) => ({ reasonCode: reasonCodeOf(code), message }));
  const { decidedAt, faults } = entry;
  return { ...fileLinkOf(context, entry), decidedAt, reasons, remedies: remediesOf(faults) };
}

async function documentsOf(
  { read }: QueryContext,
  companyId: number,
  documents: readonly DocumentObject[],
): Promise<readonly DocumentView[]> {
  const views: DocumentView[] = [];
  for (const { documentName, documentType, reference } of documents.slice(0, maxDocuments)) {
    const guid = reference === undefined ? undefined : readGuid(String(reference));
    const stored = guid === undefined ? undefined : await findDocument(read, companyId, guid);
    views.push({
      name: documentName ?? stored?.name ?? null,
      type: documentType === undefined ? null : String(documentType),
      size: stored?.size ?? null,
    });
  }
  return views;
}

async function appointmentOf(
  { read }: QueryContext,
  companyId: number,
  stopNbr: string,
): Promise<StopAppointment | undefined> {
  const found = await findAppointment(read, companyId, stopNbr);
  if (found === undefined) return undefined;
  const zone = found.timeZone ?? "UTC";
  const [begin, end] = [momentOrNone(found.timeFrom, zone), momentOrNone(found.timeTo, zone)];
  return { region: found.region, begin, end, zone };
}

const referenceFields = ["shipmentNbr", "bol", "proNumber", "reference1", "reference2", "sealNbr"] as const;

interface Read {
  readonly company: ScopedCompany;
  readonly summary: StopSummary;
  readonly stored: StopOnLoad;
}

/** What stands in the stop itself. */
function bodyOf({ stored }: Read) {
  const stop = JSON.parse(stored.body) as Stop;
  const execution = JSON.parse(stored.execution) as StopExecution;
  const header = stored.load === undefined ? undefined : (JSON.parse(stored.load.body) as LoadHeader);
  const visitKind = visitsOf(stop, header ?? {});
  return {
    ...{ stop, execution, visitKind },
    visits: visitViewsOf(stop, execution, { visits: visitKind, loadZone: header?.loadTimeZone }),
    references: referenceFields.flatMap((name) => {
      const value = stop[name];
      return value === undefined || value === "" ? [] : [[name, String(value)] as const];
    }),
    exceptions: execution.exceptions ?? [],
  };
}

async function foundOf(context: QueryContext, read: Read): Promise<StopFound> {
  const { company, summary } = read;
  const { stopNbr, status, carrierCode, load, createdAt, updatedAt } = summary;
  const key = { companyId: company.id, stopNbr };
  const { stop, execution, ...body } = bodyOf(read);
  const files = await listFiles(context.read, { ...key, limit: maxFiles });
  const deliveries = await listDeliveries(context.read, { ...key, limit: maxDeliveries });
  const documents = [...(stop.documents ?? []), ...(execution.documents ?? [])];
  return {
    ...{ company: company.code, stopNbr, status, carrierCode, createdAt, updatedAt },
    isReceived: summary.receiveStatus === "10",
    load: load ?? undefined,
    ...body,
    events: await eventsOf(context, key),
    files: files.map((entry) => fileViewOf(context, entry)),
    deliveries: deliveries.map(deliveryLinkOf),
    appointment: await appointmentOf(context, company.id, stopNbr),
    documents: await documentsOf(context, company.id, documents),
  };
}

/** The stop of that number; undefined when there is none that the user may see. */
export async function queryStop(
  context: QueryContext,
  scope: Scope,
  { companyCode, stopNbr }: StopAsked,
): Promise<StopFound | undefined> {
  const company = companyOfScope(scope, companyCode);
  if (company === undefined) return undefined;
  const summary = await summaryOf(context, { companyId: company.id, stopNbr });
  if (summary === undefined) return undefined;
  const key = { companyId: company.id, stopNbr: summary.stopNbr };
  const stored = await findStopOnLoad(context.read, key);
  return stored === undefined ? undefined : await foundOf(context, { company, summary, stored });
}
