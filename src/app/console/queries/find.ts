/**
 * The box that finds: whatever people have of a file, a stop, a load, an order, a delivery, a user, or of what is configured.
 * Each look into a table that grows is served by an index.
 */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  FindAsked,
  FindFound,
  FoundDelivery,
  Meant,
  NumberKind,
} from "../../../endpoints/http/console/pages/find/find-view.ts";
import { isLoadStatus, loadStatusNames } from "../../../domain/load/load-status.ts";
import type { ListedFile } from "../../../endpoints/http/console/pages/files/files-view.ts";
import { given } from "../../../lib/given.ts";
import { isStopStatus, stopStatusNames } from "../../../domain/stop/stop-status.ts";
import { isGuid } from "../../../inbound/explain/explain-elsewhere.ts";
import { findFile, type LedgerEntry } from "../../../store/ledger/files.ts";
import {
  findFilesByContent,
  findFilesByName,
  type FoundContent,
  indexedDigits,
} from "../../../store/ledger/find-files.ts";
import type { ListedDelivery } from "../../../store/outbound/delivery-queries.ts";
import {
  findDeliveriesByName,
  findDeliveryByGuid,
  findDocuments,
} from "../../../store/outbound/find-deliveries.ts";
import {
  findLoadsByNumber,
  findOrdersByNumber,
  findStopsByNumber,
} from "../../../store/stops/find-numbers.ts";
import { remedyOfFault } from "../../admin/fault-remedies.ts";
import type { QueryContext } from "../query-context.ts";
import { hasTimeToSearch } from "./file-places.ts";
import { listedFile } from "./files.ts";
import { tellElsewhere } from "./find-elsewhere.ts";
import { findPlaces, findUsers } from "./find-names.ts";
import { whatIsMeant } from "./what-is-meant.ts";

/** So many of a kind are shown. */
const limit = 20;
interface Looked {
  readonly context: QueryContext;
  readonly scope: Scope;
  readonly text: string;
  readonly companyIds: readonly number[];
}

const none: FindFound = {
  ...{ files: [], stops: [], loads: [], orders: [], deliveries: [], documents: [], users: [], places: [] },
  ...{ areCut: false, searchedTo: null, meant: null, elsewhere: [] },
};

/** As it was put in, and in capitals: most numbers have them. */
function spellingsOf(text: string): readonly string[] {
  return [...new Set([text, text.toUpperCase()])];
}

/** The name of a receipt or a manifest stands for that of its file. */
function nameOf(text: string): string {
  const name = text.slice(text.lastIndexOf("/") + 1);
  return name.replace(/\.(receipt|manifest)\.xml$/i, ".xml");
}

const hashForm = new RegExp(`^[0-9a-f]{${indexedDigits},64}$`, "i");

/** Entries whose content has a SHA-256 that begins so. */
async function contentsOf({ context, text, companyIds }: Looked, fromId?: number): Promise<FoundContent> {
  const { read } = context;
  const hasTime = hasTimeToSearch(context, { isFurther: fromId !== undefined });
  const asked = { companyIds, sha256: text.toLowerCase(), limit, hasTime, ...given({ fromId }) };
  return await findFilesByContent(read, asked);
}

async function entriesOf(looked: Looked) {
  const { context, scope, text, companyIds } = looked;
  const { read, ledgerNumbers } = context;
  if (isGuid(text)) {
    const id = ledgerNumbers.open(text);
    const entry = id === undefined ? undefined : await findFile(read, id);
    const isSeen = scope.companies.some((company) => company.id === entry?.companyId);
    return { entries: entry !== undefined && isSeen ? [entry] : [], isCut: false, searchedTo: undefined };
  }
  const named = await findFilesByName(read, { companyIds, beginnings: spellingsOf(nameOf(text)), limit });
  if (!hashForm.test(text)) return { ...named, searchedTo: undefined };
  const content = await contentsOf(looked);
  const all = new Map<number, LedgerEntry>();
  for (const entry of [...named.entries, ...content.entries]) all.set(entry.id, entry);
  return { entries: [...all.values()], isCut: named.isCut, searchedTo: content.goesOnAt };
}

function deliveryOf(delivery: ListedDelivery): FoundDelivery {
  const { company, guid, name, target, state, createdAt, fault, faultText } = delivery;
  const isTrouble = state === "dead" || state === "waiting";
  const remedy = isTrouble ? remedyOfFault(fault) : null;
  return { company, guid, name, target, state, createdAt, faultText: isTrouble ? faultText : null, remedy };
}

async function deliveriesOf({ context: { read }, text, companyIds }: Looked) {
  if (!isGuid(text))
    return await findDeliveriesByName(read, { companyIds, beginnings: spellingsOf(nameOf(text)), limit });
  const found = await findDeliveryByGuid(read, { companyIds, guid: text.toLowerCase() });
  return { deliveries: found === undefined ? [] : [found], isCut: false };
}

async function documentsOf({ context: { read }, text, companyIds }: Looked) {
  if (isGuid(text)) return await findDocuments(read, { companyIds, guid: text.toLowerCase(), limit });
  return hashForm.test(text)
    ? await findDocuments(read, { companyIds, sha256: text.toLowerCase(), limit })
    : [];
}

const kinds: Readonly<Record<string, NumberKind>> = {
  stop_nbr_key: "number",
  load_nbr: "number",
  shipment_nbr: "shipment",
  bol: "bill",
  seal_nbr: "seal",
};

const stopStatusName = (status: string | null) =>
  status !== null && isStopStatus(status) ? stopStatusNames[status] : null;

async function numbersOf({ context: { read }, scope, text, companyIds }: Looked) {
  const asked = { companyIds, numbers: spellingsOf(text), limit };
  const codes = new Map(scope.companies.map(({ id, code }) => [id, code]));
  const companyOf = (id: number) => codes.get(id) ?? "";
  const stops = (await findStopsByNumber(read, asked)).map(({ stopNbr, by, status, loadNbr, ...stop }) => ({
    ...{ company: companyOf(stop.companyId), stopNbr, by: kinds[by] ?? "reference" },
    ...{ status: stopStatusName(status) ?? status, isReceived: stop.receiveStatus === "10" },
    ...{ loadNbr, updatedAt: stop.updatedAt },
  }));
  const loads = (await findLoadsByNumber(read, asked)).map(
    ({ companyId, loadNbr, by, status, updatedAt }) => ({
      ...{ company: companyOf(companyId), loadNbr, by: kinds[by] ?? "reference", updatedAt },
      status: isLoadStatus(status) ? loadStatusNames[status] : String(status),
    }),
  );
  const orders = (await findOrdersByNumber(read, asked)).map((order) => ({
    ...{ company: companyOf(order.companyId), orderNbr: order.orderNbr, updatedAt: order.updatedAt },
    ...{ isCancelled: order.isCancelled === 1, stopStatus: stopStatusName(order.stopStatus) },
  }));
  return { stops, loads, orders };
}

function dayOf(text: string): Meant | undefined {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
  return isDay ? { kind: "day", day: text } : undefined;
}

function shownFiles({ context, scope }: Looked, entries: readonly LedgerEntry[]): readonly ListedFile[] {
  const codes = new Map(scope.companies.map(({ id, code }) => [id, code]));
  return entries.map((entry) => listedFile(entry, codes.get(entry.companyId) ?? "", context.ledgerNumbers));
}

function furtherOf({ context }: Looked, searchedTo: FoundContent["goesOnAt"]): FindFound["searchedTo"] {
  if (searchedTo === undefined) return null;
  return { at: searchedTo.receivedAt, from: context.ledgerNumbers.seal(searchedTo.id) };
}

/** A search for a SHA-256 goes on among entries that were not looked at before. */
async function findFurther(looked: Looked, fromId: number): Promise<FindFound> {
  const { entries, goesOnAt } = await contentsOf(looked, fromId);
  const files = shownFiles(looked, entries);
  return { ...none, files, searchedTo: furtherOf(looked, goesOnAt) };
}

/** What people have given names to: users of companies that the viewer administers, and all else of the scope. */
async function namesOf({ context, scope, text }: Looked, { administeredIds }: FindAsked) {
  const administered = scope.companies.filter(({ id }) => administeredIds.includes(id));
  const users = await findUsers(context, { ...scope, companies: administered }, { text, limit });
  const places = await findPlaces(context, scope, { text, limit });
  return { users: users.found, places: places.found, areNamesCut: users.isCut || places.isCut };
}

/** What the text may mean, in the companies of the scope. */
export async function queryFind(context: QueryContext, scope: Scope, asked: FindAsked): Promise<FindFound> {
  const text = asked.text.trim();
  const companyIds = scope.companies.map(({ id }) => id);
  if (text === "" || companyIds.length === 0) return none;
  const day = dayOf(text);
  if (day !== undefined) return { ...none, meant: day };
  const looked: Looked = { context, scope, text, companyIds };
  const fromId = asked.from === undefined ? undefined : context.ledgerNumbers.open(asked.from);
  if (fromId !== undefined && hashForm.test(text)) return await findFurther(looked, fromId);
  const codes = new Map(scope.companies.map(({ id, code }) => [id, code]));
  const { entries, isCut, searchedTo } = await entriesOf(looked);
  const { deliveries, isCut: areMoreDeliveries } = await deliveriesOf(looked);
  const documents = (await documentsOf(looked)).map(({ companyId, ...document }) => ({
    ...{ ...document, company: codes.get(companyId) ?? "" },
  }));
  const { users, places, areNamesCut } = await namesOf(looked, asked);
  const found = {
    files: shownFiles(looked, entries),
    ...(await numbersOf(looked)),
    ...{ deliveries: deliveries.map(deliveryOf), documents, users, places },
  };
  const isNothing = Object.values(found).every((list) => list.length === 0);
  const areCut = isCut || areMoreDeliveries || areNamesCut;
  return {
    ...found,
    ...{ areCut, searchedTo: furtherOf(looked, searchedTo) },
    meant: areCut || searchedTo !== undefined ? null : whatIsMeant(found, text),
    elsewhere: isNothing && searchedTo === undefined ? await tellElsewhere(context, scope, text) : [],
  };
}
