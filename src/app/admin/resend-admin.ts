/** Delivered files that an administrator has sent again. */
import { agesOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { type Age, longestOf, oldBefore } from "../../domain/retention/retention.ts";
import { systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { Company } from "../../store/accounts/companies.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { type RepeatOutcome, resendDelivery } from "../../operations/deliveries/repeat-delivery.ts";
import {
  type DeliverySelection,
  lastDeliveryId,
  listDeliveryIds,
} from "../../store/outbound/delivery-lists.ts";
import {
  findResend,
  forgetResend,
  noteResend,
  type ResendUnderWay,
} from "../../store/outbound/resends-under-way.ts";
import { findStopSummaries } from "../../store/stops/stop-history.ts";
import { chooseCompanies } from "./admin.ts";
import { type AdminStore, dryRun, type StateConfig, withAdminStore } from "./admin-store.ts";
import { type DeliveryConfig, type DeliveryFilter, readDeliveryFilter } from "./delivery-filter.ts";
import {
  type DeliveryView,
  deliveryReport,
  type RepeatReport,
  type RepeatView,
  toRepeatView,
  wouldRepeatEach,
} from "./delivery-view.ts";
import {
  inBatches,
  itemsAtOnce,
  pagesOfShown,
  type SelectionMode,
  type SelectionReport,
} from "./in-batches.ts";
import { portionsOf } from "../../lib/portions.ts";
import { findRunningDaemons } from "./running-daemons.ts";

async function noneOfStop(
  { read }: AdminStore,
  stopNbr: string,
  { companies, age }: { readonly companies: readonly Company[]; readonly age: Age },
): Promise<string> {
  const found = await Promise.all(
    companies.map(({ id }) => findStopSummaries(read, { companyId: id, stopNbr })),
  );
  const names = found.flat().map((stop) => stop.stopNbr);
  if (names.length === 0) return `There is no stop ${stopNbr}.`;
  const [name] = names;
  if (name !== stopNbr && !names.includes(stopNbr))
    return `There is no stop ${stopNbr}, but there is ${name}.`;
  const removed =
    age === "keep"
      ? ""
      : `, or it was removed ${age} days (retention.outbound) after its delivery and cannot be sent any more`;
  return `Nothing that was delivered of stop ${stopNbr} is kept: it has had no file, or none has been delivered yet (\`dropgate deliveries --stop ${stopNbr}\`)${removed}.`;
}

type ResendConfig = DeliveryConfig & Pick<Config, "retention">;

async function remarksOf(
  store: AdminStore,
  config: ResendConfig,
  { filter, count }: { filter: DeliveryFilter; count: number },
): Promise<readonly string[]> {
  const companies = await chooseCompanies(store, filter.company);
  if (companies.length === 0) return ["There is no company yet."];
  const age = longestOf(companies.map(({ code }) => agesOf(config, code).outbound));
  const kept = oldBefore(age, systemClock.now());
  const { stop: stopNbr, since } = filter;
  if (count === 0 && stopNbr !== undefined) return [await noneOfStop(store, stopNbr, { companies, age })];
  if (since !== undefined && kept !== undefined && since < kept)
    return [
      `What was delivered before ${isoTime(kept)} has been removed (retention.outbound ${age}) and cannot be sent any more.`,
    ];
  return count === 0 ? ["None of these was delivered."] : [];
}

function whyNotResent({ delivery, isMessage }: Extract<RepeatOutcome, { kind: "refused" }>): string {
  const { state, id } = delivery;
  if (isMessage) return "it is a message: no customer gets one twice";
  return state === "dead"
    ? `it is dead: \`dropgate delivery retry ${id}\` tries it again`
    : `it is ${state}: it has not been delivered yet`;
}

async function resendEach(tx: Transaction, ids: readonly number[]): Promise<readonly RepeatView[]> {
  const repeats: RepeatView[] = [];
  for (const id of ids)
    repeats.push(toRepeatView(id, await resendDelivery(tx, { id, now: systemClock.now() }), whyNotResent));
  return repeats;
}

function wouldResend(store: AdminStore, ids: readonly number[]): Promise<readonly RepeatView[]> {
  return wouldRepeatEach(store, ids, { action: "resend", whyNot: whyNotResent });
}

/**
 * Puts deliveries in the queue again, in their order; a running daemon takes them up within a second. A target that
 * pauses goes on pausing: nobody has said that it works again.
 */
export async function resendDeliveries(
  config: StateConfig,
  ids: readonly number[],
  { isDryRun }: { readonly isDryRun: boolean } = { isDryRun: false },
): Promise<RepeatReport> {
  return await withAdminStore(config, async (store) => {
    const ordered = [...new Set(ids)].toSorted((a, b) => a - b);
    const repeats: RepeatView[] = [];
    for (const some of portionsOf(ordered, itemsAtOnce)) {
      const work = (tx: Transaction) => resendEach(tx, some);
      repeats.push(...(isDryRun ? await dryRun(store, "site", work) : await store.write("site", work)));
    }
    return { repeats, ...(await findRunningDaemons(config, store)) };
  });
}

/** What a selection is to be sent by. */
export interface ResendRequest {
  readonly filter: DeliveryFilter;
  /** The filter as it was typed, by which a repeated command is known. */
  readonly typed: string;
  /** Whether one that was cut off begins anew, instead of going on. */
  readonly isAnew: boolean;
  /** How many the report shows. */
  readonly limit: number;
  /** When the command began, milliseconds UTC: what is delivered after it is not sent, nor when it is repeated. */
  readonly now: number;
}

export interface ResendReport extends SelectionReport<DeliveryView> {
  /** Why there are none, or fewer than were once delivered. */
  readonly remarks: readonly string[];
  /** How far an earlier command with the same filter had come that was cut off: this one goes on from there. */
  readonly goesOn: { readonly begunAt: string; readonly queued: number } | null;
}

async function begin(
  store: AdminStore,
  { filter, typed, isAnew, now }: ResendRequest,
): Promise<ResendUnderWay> {
  const known = isAnew ? undefined : await findResend(store.read, { filter: typed, now });
  if (known !== undefined) return known;
  // What is delivered for the first time meanwhile is not sent again.
  const times = { ...given({ deliveredSince: filter.since }), deliveredUntil: filter.until ?? now };
  const upToId = await lastDeliveryId(store.read);
  return { filter: typed, begunAt: now, ...times, upToId, afterId: 0, queued: 0 };
}

async function selectionOf(
  store: AdminStore,
  config: DeliveryConfig,
  { filter, resend }: { readonly filter: DeliveryFilter; readonly resend: ResendUnderWay },
): Promise<DeliverySelection> {
  const { since: _, until: __, ...rest } = filter;
  const { deliveredSince, deliveredUntil } = resend;
  return {
    ...(await readDeliveryFilter(store, config, rest)),
    ...given({ deliveredSince, deliveredUntil }),
    ...({ kind: "completion", state: "delivered" } as const),
  };
}

interface Batch {
  readonly ids: readonly number[];
  readonly isLast: boolean;
}

/** One batch, and how far the resend is with it. Nothing when another command with the same filter was quicker. */
async function resendBatch(
  tx: Transaction,
  resend: ResendUnderWay,
  { ids, isLast }: Batch,
): Promise<{ readonly repeats: readonly RepeatView[]; readonly resend: ResendUnderWay } | undefined> {
  const now = systemClock.now();
  const noted = await findResend(tx, { filter: resend.filter, now });
  if ((noted?.afterId ?? 0) !== resend.afterId) return undefined;
  const repeats = await resendEach(tx, ids);
  const queued = resend.queued + repeats.filter(({ isQueued }) => isQueued).length;
  const further = { ...resend, queued, afterId: ids.at(-1) ?? resend.afterId };
  if (isLast) await forgetResend(tx, resend.filter, now);
  else await noteResend(tx, further, now);
  return { repeats, resend: further };
}

/** Sends all that the filter selects again, the oldest first; with `isDryRun` it only finds out which they would be. */
export async function resendSelected(
  config: ResendConfig,
  request: ResendRequest,
  { isDryRun, shown }: SelectionMode,
): Promise<ResendReport> {
  return await withAdminStore(config, async (store) => {
    const { filter, limit, typed, isAnew } = request;
    const begun = await begin(store, request);
    const selection = await selectionOf(store, config, { filter, resend: begun });
    if (isAnew && !isDryRun) await store.write("site", (tx) => forgetResend(tx, typed, systemClock.now()));
    const pageAfter = pagesOfShown(shown, (afterId) =>
      listDeliveryIds(store.read, selection, { afterId, upToId: begun.upToId, limit: itemsAtOnce }),
    );
    const repeats: RepeatView[] = [];
    let resend = begun;
    const work = async (ids: readonly number[], isLast: boolean) => {
      if (isDryRun) {
        repeats.push(...(await wouldResend(store, ids)));
        return;
      }
      const done = await store.write("site", (tx) => resendBatch(tx, resend, { ids, isLast }));
      if (done === undefined) throw new Error("the same is being sent by another command: wait for its end");
      repeats.push(...done.repeats);
      resend = done.resend;
    };
    await inBatches(pageAfter, work, { afterId: begun.afterId, rests: !isDryRun });
    const daemons = await findRunningDaemons(config, store);
    const report = await deliveryReport(store, { repeats, limit, ...daemons });
    const count = report.ids.length + begun.queued;
    const goesOn = begun.queued === 0 ? null : { begunAt: isoTime(begun.begunAt), queued: begun.queued };
    return { ...report, goesOn, remarks: await remarksOf(store, config, { filter, count }) };
  });
}
