/** What waits longest, files and deliveries, and why: the order of arrival, the oldest first. */
import { alertWayOf } from "../../../domain/alerts/audience.ts";
import { openStates } from "../../../domain/files/file-state.ts";
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  WaitingAsked,
  WaitingDelivery,
  WaitingFile,
  WaitingFound,
} from "../../../endpoints/http/console/pages/waiting/waiting-view.ts";
import { whyHeld } from "../../../inbound/explain/explain-held.ts";
import { lineText } from "../../../inbound/explain/file-words.ts";
import { given } from "../../../lib/given.ts";
import { arrivalTime } from "../../../inbound/lanes/waiting-file.ts";
import type { HeldInDetail } from "../../../inbound/lanes/held-files.ts";
import { readFilePage } from "../../../store/ledger/file-pages.ts";
import { type FilesBefore, listOpenPlaces, type OpenPlace } from "../../../store/ledger/file-queries.ts";
import type { LedgerEntry } from "../../../store/ledger/files.ts";
import { findDeliveryHold } from "../../../store/outbound/delivery-hold.ts";
import type { ListedDelivery } from "../../../store/outbound/delivery-queries.ts";
import { listOldestDeliveries } from "../../../store/outbound/oldest-deliveries.ts";
import { listOutboundTargets } from "../../../store/outbound/outbound-targets.ts";
import { moveOfFault, remedyOfFault } from "../../admin/fault-remedies.ts";
import { holdText } from "../../watch/delivery-hold-watch.ts";
import { heldReportOf } from "./held-report-of.ts";
import type { QueryContext } from "../query-context.ts";
import { shownDelivery } from "./deliveries.ts";
import { hasTimeToSearch, placeText, readPlace } from "./file-places.ts";
import { companyNaming, companyOfScope, type ScopedCompany } from "./ledger-links.ts";

/** Of more waiting files the order is not looked through: it changes faster than anybody reads. */
const mostInOrder = 5_000;

/** What goes before each waiting file of a company, by their ids. */
type Order = ReadonlyMap<number, FilesBefore>;

const timeOf = ({ nameTime, receivedAt }: OpenPlace): number => nameTime ?? arrivalTime(receivedAt);

function orderOf(places: readonly OpenPlace[]): Order {
  const order = new Map<number, FilesBefore>();
  for (const ofCompany of Map.groupBy(places, ({ companyId }) => companyId).values()) {
    const inOrder = ofCompany.toSorted((one, other) => timeOf(one) - timeOf(other) || one.id - other.id);
    const atTime = Map.groupBy(inOrder, timeOf);
    const [first] = inOrder;
    let earlier = 0;
    for (const [, same] of atTime) {
      const before = {
        earlier,
        sameTime: same.length - 1,
        ...given({ first: earlier > 0 ? first : undefined }),
      };
      for (const { id } of same) order.set(id, before);
      earlier += same.length;
    }
  }
  return order;
}

interface Known {
  readonly context: QueryContext;
  readonly held: readonly HeldInDetail[];
  /** Undefined when too many wait. */
  readonly order: Order | undefined;
}

/** What keeps it, as the daemon knows it, or else who goes before it. */
function whyWaits(
  entry: LedgerEntry,
  company: ScopedCompany,
  { context, held, order }: Known,
): readonly string[] {
  const naming = companyNaming(context);
  const kept = whyHeld(
    held.find((one) => one.company === company.code),
    entry.id,
    naming,
  );
  if (kept.length > 0) return kept;
  if (order === undefined)
    return [`More than ${mostInOrder} files wait: they are taken by the times in their names.`];
  const before = order.get(entry.id);
  return before === undefined ? [] : [lineText(before, naming)];
}

async function filesOf(
  context: QueryContext,
  companies: readonly ScopedCompany[],
  { limit, filesAfter }: WaitingAsked,
): Promise<Pick<WaitingFound, "files" | "nextFiles">> {
  const { read, ledgerNumbers } = context;
  const companyIds = companies.map(({ id }) => id);
  const from = readPlace(ledgerNumbers, filesAfter);
  const asked = { limit: limit + 1, hasTime: hasTimeToSearch(context), ...given({ from }) };
  const selection = { companyIds, states: openStates };
  const { entries } = await readFilePage(read, selection, { ...asked, direction: "newer" });
  if (entries.length === 0) return { files: [], nextFiles: null };
  const places = await listOpenPlaces(read, { companyIds, limit: mostInOrder + 1 });
  const known = {
    context,
    held: (await heldReportOf(context))?.companies ?? [],
    order: places.length > mostInOrder ? undefined : orderOf(places),
  };
  const files = entries.slice(0, limit).flatMap((entry): readonly WaitingFile[] => {
    const company = companies.find(({ id }) => id === entry.companyId);
    if (company === undefined) return [];
    const { name, stopNbr, receivedAt, id } = entry;
    const why = whyWaits(entry, company, known);
    return [{ reference: ledgerNumbers.seal(id), company: company.code, name, stopNbr, receivedAt, why }];
  });
  const last = entries.length > limit ? entries[limit - 1] : undefined;
  return { files, nextFiles: last === undefined ? null : placeText(ledgerNumbers, last) };
}

function waitingDelivery(row: ListedDelivery, now: number): WaitingDelivery {
  const { targetPausedBy: pausedBy, targetPausedAt: pausedAt, targetPausedUntil, fault } = row;
  return {
    ...{ ...shownDelivery(row), pausedBy, pausedAt },
    restsUntil: targetPausedUntil > now ? targetPausedUntil : null,
    ...{ remedy: remedyOfFault(fault), move: moveOfFault(fault) },
  };
}

async function deliveriesOf(
  { read, now, ledgerNumbers }: QueryContext,
  companies: readonly ScopedCompany[],
  { limit, deliveriesAfter }: WaitingAsked,
): Promise<Pick<WaitingFound, "deliveries" | "nextDeliveries">> {
  const companyIds = companies.map(({ id }) => id);
  const targetIds = (await listOutboundTargets(read))
    .filter(
      ({ companyId, name, open }) =>
        open > 0 && companyIds.includes(companyId) && alertWayOf(name) === undefined,
    )
    .map(({ id }) => id);
  const after = readPlace(ledgerNumbers, deliveriesAfter);
  const rows = await listOldestDeliveries(read, { targetIds, afterId: after?.id ?? 0, limit: limit + 1 });
  const deliveries = rows.slice(0, limit).map((row) => waitingDelivery(row, now));
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  const place = last && { receivedAt: last.createdAt, id: last.id };
  return { deliveries, nextDeliveries: place === undefined ? null : placeText(ledgerNumbers, place) };
}

/** What waits in the companies of the scope, or in one of them. */
export async function queryWaiting(
  context: QueryContext,
  scope: Scope,
  asked: WaitingAsked,
): Promise<WaitingFound> {
  const { company: code } = asked;
  const named = code === undefined ? undefined : companyOfScope(scope, code);
  const companies = code === undefined ? scope.companies : named === undefined ? [] : [named];
  const hold = await findDeliveryHold(context.read);
  const nothing = { files: [], nextFiles: null, deliveries: [], nextDeliveries: null };
  const found =
    companies.length === 0
      ? nothing
      : { ...(await filesOf(context, companies, asked)), ...(await deliveriesOf(context, companies, asked)) };
  return { at: context.now, hold: hold === undefined ? undefined : holdText(hold), ...found };
}
