/** Delivered completions that an administrator has sent again. */
import { agesOf } from "../../config/company-settings.ts";
import type { Config } from "../../config/schema.ts";
import { type Age, longestOf, oldBefore } from "../../domain/retention/retention.ts";
import { systemClock } from "../../lib/clock.ts";
import { given } from "../../lib/given.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { Company } from "../../store/accounts/companies.ts";
import { listDeliveredIds } from "../../store/outbound/delivery-queries.ts";
import { type RepeatOutcome, resendDelivery } from "../../operations/deliveries/repeat-delivery.ts";
import { findProcessLockHolder } from "../../store/database/process-lock.ts";
import { findStopSummaries } from "../../store/stops/stop-history.ts";
import { chooseCompanies, companyFilter } from "./admin.ts";
import { type AdminStore, dryRun, withAdminStore, writeEach } from "./admin-store.ts";
import { type RepeatReport, type RepeatView, toRepeatView } from "./delivery-view.ts";
import { readTarget } from "./outbound-admin.ts";

/** The options of the command. */
export interface ResendOptions {
  readonly company?: string;
  readonly target?: string;
  /** Its number. */
  readonly stop?: string;
  /** Delivered at this time or later, milliseconds UTC. */
  readonly since?: number;
}

/** What a selection finds. */
export interface ResendPlan {
  /** Numbers of deliveries, in the order in which they are sent. */
  readonly ids: readonly number[];
  /** A remark: why there are none, or fewer than were once delivered. */
  readonly remarks: readonly string[];
}

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

async function remarksOf(
  store: AdminStore,
  config: Pick<Config, "companies" | "retention">,
  { options, count }: { options: ResendOptions; count: number },
): Promise<readonly string[]> {
  const companies = await chooseCompanies(store, options.company);
  if (companies.length === 0) return ["There is no company yet."];
  const age = longestOf(companies.map(({ code }) => agesOf(config, code).outbound));
  const kept = oldBefore(age, systemClock.now());
  const { stop: stopNbr, since } = options;
  if (count === 0 && stopNbr !== undefined) return [await noneOfStop(store, stopNbr, { companies, age })];
  if (since !== undefined && kept !== undefined && since < kept)
    return [
      `What was delivered before ${isoTime(kept)} has been removed (retention.outbound ${age}) and cannot be sent any more.`,
    ];
  return count === 0 ? ["None of these was delivered."] : [];
}

/** The delivered completions that the options select; nothing is sent. */
export async function planResend(
  config: Pick<Config, "stateDir" | "companies" | "retention">,
  options: ResendOptions,
): Promise<ResendPlan> {
  return await withAdminStore(config, async (store) => {
    const { stop: stopNbr, since } = options;
    const owner = await companyFilter(store, options.company);
    const target = await readTarget(store, options.target);
    const ids = await listDeliveredIds(store.read, { ...owner, ...target, ...given({ stopNbr, since }) });
    return { ids, remarks: await remarksOf(store, config, { options, count: ids.length }) };
  });
}

function whyNotResent({ delivery, isMessage }: Extract<RepeatOutcome, { kind: "refused" }>): string {
  const { state, id } = delivery;
  if (isMessage) return "it is a message: no customer gets one twice";
  return state === "dead"
    ? `it is dead: \`dropgate delivery retry ${id}\` tries it again`
    : `it is ${state}: it has not been delivered yet`;
}

const resendsAtOnce = 500;

async function resendSome(store: AdminStore, ids: readonly number[], isDryRun: boolean) {
  const resend = (some: Pick<AdminStore, "write">) =>
    writeEach(some, ids, async (tx, id) =>
      toRepeatView(id, await resendDelivery(tx, { id, now: systemClock.now() }), whyNotResent),
    );
  return isDryRun
    ? await resend({ write: (whose, work) => dryRun(store, whose, work) })
    : await resend(store);
}

/**
 * Puts deliveries in the queue again, in their order; a running daemon takes them up within a second. A target that
 * pauses goes on pausing: nobody has said that it works again.
 */
export async function resendDeliveries(
  config: Pick<Config, "stateDir">,
  ids: readonly number[],
  { isDryRun }: { readonly isDryRun: boolean } = { isDryRun: false },
): Promise<RepeatReport> {
  return await withAdminStore(config, async (store) => {
    const ordered = [...new Set(ids)].toSorted((a, b) => a - b);
    const repeats: RepeatView[] = [];
    for (let from = 0; from < ordered.length; from += resendsAtOnce) {
      const some = ordered.slice(from, from + resendsAtOnce);
      repeats.push(...(await resendSome(store, some, isDryRun)));
    }
    return { repeats, daemonPid: findProcessLockHolder(config.stateDir) };
  });
}
