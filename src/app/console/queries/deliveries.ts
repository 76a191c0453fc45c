/** Deliveries by a filter, one with all that is known of it, and how the targets stand. */
import type { Scope } from "../../../endpoints/http/console/console-services.ts";
import type {
  DeliveriesAsked,
  DeliveriesFound,
  DeliveryAsked,
  DeliveryFound,
  ShownDelivery,
} from "../../../endpoints/http/console/pages/deliveries/deliveries-view.ts";
import { isGivenUp } from "../../../domain/outbound/delivery-state.ts";
import { given } from "../../../lib/given.ts";
import { findDeliveryHold } from "../../../store/outbound/delivery-hold.ts";
import {
  type DeliveryPlace,
  type FoundDeliveries,
  readDeliveryPage,
} from "../../../store/outbound/delivery-pages.ts";
import { findDelivery, type ListedDelivery } from "../../../store/outbound/delivery-queries.ts";
import { findAsked, findNewerDelivered } from "../../../store/outbound/delivery-requests.ts";
import { faultRemedies, moveOfFault } from "../../admin/fault-remedies.ts";
import { holdText } from "../../watch/delivery-hold-watch.ts";
import type { QueryContext } from "../query-context.ts";
import { hasTimeToSearch, placeText, readPlace } from "./file-places.ts";
import { exportOfDelivery } from "./exports.ts";
import { companyOfScope } from "./ledger-links.ts";
import { standingsOf } from "./target-standings.ts";

/** A delivery as lists show it. */
export function shownDelivery(row: ListedDelivery): ShownDelivery {
  const { guid, company, target, isTargetConfigured, kind, name, orderKey, state } = row;
  const { createdAt, dueAt, deliveredAt, collectedAt, attempts, faultText } = row;
  const { isConfigured } = { isConfigured: isTargetConfigured };
  return {
    ...{ guid, company, target, isTargetConfigured: isConfigured, kind, name, orderKey, state },
    isGivenUp: isGivenUp(row),
    ...{ createdAt, dueAt, deliveredAt, collectedAt, attempts, faultText },
  };
}

/** A place as addresses have it: it holds when the delivery that it was of is gone. */
function textOfPlace({ ledgerNumbers }: QueryContext, { createdAt, id }: DeliveryPlace): string {
  return placeText(ledgerNumbers, { receivedAt: createdAt, id });
}

function placeOf({ ledgerNumbers }: QueryContext, text: string | undefined): DeliveryPlace | undefined {
  const place = readPlace(ledgerNumbers, text);
  return place && { createdAt: place.receivedAt, id: place.id };
}

/** The newest first; what comes behind the place. */
async function readPage(
  context: QueryContext,
  scope: Scope,
  { filter, limit, before, isFurther }: DeliveriesAsked,
): Promise<FoundDeliveries> {
  const { read } = context;
  const { company: code, stop: stopNbr, ...rest } = filter;
  const named = code === undefined ? undefined : companyOfScope(scope, code);
  const companies = code === undefined ? scope.companies : named === undefined ? [] : [named];
  const companyIds = companies.map(({ id }) => id);
  const from = placeOf(context, before);
  const selection = { ...rest, companyIds, ...given({ stopNbr }) };
  const hasTime = hasTimeToSearch(context, { isFurther });
  return await readDeliveryPage(read, selection, { ...given({ from }), limit: limit + 1, hasTime });
}

export async function queryDeliveries(
  context: QueryContext,
  scope: Scope,
  asked: DeliveriesAsked,
): Promise<DeliveriesFound> {
  const { entries, searchedTo } = await readPage(context, scope, asked);
  const shown = entries.slice(0, asked.limit).map(shownDelivery);
  const last = searchedTo ?? (entries.length > asked.limit ? entries[asked.limit - 1] : undefined);
  const hold = await findDeliveryHold(context.read);
  return {
    deliveries: shown,
    before: last === undefined ? null : textOfPlace(context, last),
    searchedTo: searchedTo?.createdAt ?? null,
    targets: await standingsOf(context, scope),
    hold: hold === undefined ? undefined : holdText(hold),
  };
}

export async function queryDelivery(
  context: QueryContext,
  scope: Scope,
  { guid }: DeliveryAsked,
): Promise<DeliveryFound | undefined> {
  const { read } = context;
  const found = await findDelivery(read, guid.toLowerCase());
  const company = scope.companies.find(({ code }) => code === found?.company);
  if (found === undefined || company === undefined) return undefined;
  const asked = await findAsked(read, found.id);
  const isCompletion = asked !== undefined && asked.kind === "completion";
  const newer = isCompletion ? await findNewerDelivered(read, asked) : null;
  const standings = await standingsOf(context, { ...scope, companies: [company] }, found.target);
  const { firstAttemptAt, lastAttemptAt, fault, size, sha256, behind } = found;
  const { collectedBy, collectedFrom, removedAt, removedBy } = found;
  return {
    ...shownDelivery(found),
    ...{ companyId: company.id, firstAttemptAt, lastAttemptAt, fault, size, sha256 },
    ...{ collectedBy, collectedFrom, removedAt, removedBy },
    remedy: Object.entries(faultRemedies).find(([name]) => name === fault)?.[1],
    move: moveOfFault(fault),
    failedAttempts: found.failedAttempts.map((attempt) => ({
      ...{ at: attempt.at, durationMs: attempt.durationMs, fault: attempt.fault, text: attempt.faultText },
    })),
    repeats: found.repeats.map(({ askedAt, action, askedBy: by, reason, state, attempts, deliveredAt }) => ({
      ...{ askedAt, action, by, reason, state, attempts, deliveredAt },
    })),
    behind: behind?.name ?? null,
    newer: newer === null ? null : { name: newer.name, deliveredAt: newer.deliveredAt },
    targetStanding: standings.find(({ name }) => name === found.target),
    export: found.kind === "export" ? await exportOfDelivery(context, company, found.subjectId) : undefined,
  };
}
