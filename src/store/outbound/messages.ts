/**
 * Messages to customers: made in the transaction of the event that they tell of, each with its delivery, when the
 * configuration asks for them and the customer has an address and has not declined. What a message says is fixed then;
 * how it says it is up to the template that is in force when it is sent.
 */
import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import { veiledAddress } from "../../domain/messages/message-address.ts";
import {
  etaMovedCode,
  type MessageChannel,
  messageEventOf,
  messageTargetName,
} from "../../domain/messages/message-event.ts";
import {
  etaOf,
  isRefusedByStop,
  type MessageFacts,
  messageFactsOf,
  type MessageSource,
} from "../../domain/messages/message-fields.ts";
import type { MessagePlan } from "../../domain/messages/message-settings.ts";
import { type RecordedEventKind, recordedEvents } from "../../domain/outbound/recorded-events.ts";
import type { StopExecution } from "../../domain/execution/stop-execution.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import type { Reader } from "../database/database.ts";
import { addDelivery } from "./deliveries.ts";
import type { Transaction } from "../database/group-commit.ts";
import { findDrivenLoad } from "../stops/loads.ts";
import { isOptedOut } from "./message-opt-outs.ts";
import { messagePlan } from "./message-plans.ts";
import { wantedEventsOf } from "./outbound-targets.ts";
import { prepareQuery } from "../database/prepared-query.ts";

interface ToldStop {
  readonly stopNbr: string;
  readonly body: string;
  readonly execution: string;
  readonly loadId: number | null;
}

const columns = ["stop_nbr as stopNbr", "body", "execution", "load_id as loadId"] as const;

const stopQuery = prepareQuery<{ companyId: number; stopNbr: string }, ToldStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

const openStopsQuery = prepareQuery<{ companyId: number; loadNbr: string }, ToldStop>((db, arg) =>
  db
    .selectFrom("stops")
    .select(columns)
    .where("load_id", "=", (eb) =>
      eb
        .selectFrom("loads")
        .select("loads.id")
        .where("loads.company_id", "=", arg("companyId"))
        .where("loads.load_nbr", "=", arg("loadNbr")),
    )
    .where("stop_status", "not in", ["80", "90", "91", "99"])
    .orderBy("load_position"),
);

const targetQuery = prepareQuery<{ companyId: number; name: string }, { id: number }>((db, arg) =>
  db
    .selectFrom("outbound_targets")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("name", "=", arg("name"))
    .where("is_configured", "=", 1),
);

interface EtaKey {
  readonly companyId: number;
  readonly stopNbr: string;
}

interface ToldEta {
  readonly load_id: number;
  readonly eta_at: number;
}

const toldEtaQuery = prepareQuery<EtaKey, ToldEta>((db, arg) =>
  db
    .selectFrom("message_etas")
    .select(["load_id", "eta_at"])
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr")),
);

/** What a message is about. */
interface Cause {
  readonly companyId: number;
  readonly code: number;
  readonly plan: MessagePlan;
  readonly data: Readonly<Record<string, unknown>>;
  readonly now: number;
  readonly previousEtaAt?: number;
}

async function saveToldEta(tx: Transaction, key: EtaKey, { load_id, eta_at }: ToldEta): Promise<void> {
  await tx
    .insertInto("message_etas")
    .values({ company_id: key.companyId, stop_nbr: key.stopNbr, load_id, eta_at })
    .onConflict((conflict) => conflict.columns(["company_id", "stop_nbr"]).doUpdateSet({ load_id, eta_at }))
    .execute();
}

async function sourceOf(tx: Transaction, row: ToldStop, cause: Cause): Promise<MessageSource> {
  const { plan, data, now, previousEtaAt } = cause;
  const load = await findDrivenLoad(tx, row.loadId);
  const driver = JSON.parse(load.driver) as { readonly driverName?: string };
  return {
    stop: JSON.parse(row.body) as Stop,
    execution: JSON.parse(row.execution) as StopExecution,
    loadNbr: load.loadNbr,
    driverName: driver.driverName,
    defaultZone: plan.zone,
    event: data,
    recordedAt: now,
    ...(previousEtaAt === undefined ? {} : { previousEtaAt }),
  };
}

/** The message and its delivery, unless the customer has no such address or wants no messages there. */
async function insertMessage(
  tx: Transaction,
  { companyId, code, now }: Cause,
  message: { readonly channel: MessageChannel; readonly stop: Stop; readonly facts: MessageFacts },
): Promise<void> {
  const { channel, stop, facts } = message;
  const address = (facts.contact?.[channel] ?? "").trim();
  if (address === "" || isRefusedByStop(stop, channel)) return;
  const [target] = (await targetQuery.run(tx, { companyId, name: messageTargetName(channel) })).rows;
  if (target === undefined || (await isOptedOut(tx, { companyId, address }))) return;
  const { stopNbr } = facts;
  const { id } = await tx
    .insertInto("messages")
    .values({
      ...{ company_id: companyId, stop_nbr: stopNbr, event_code: code, channel, address },
      ...{ facts: JSON.stringify(facts), created_at: now },
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  await addDelivery(tx, {
    ...{ companyId, targetId: target.id, kind: "message", subjectId: id, orderKey: stopNbr, now },
    name: `${messageEventOf(code) ?? code} ${channel} ${veiledAddress(address)}`,
  });
}

async function tell(tx: Transaction, row: ToldStop, cause: Cause): Promise<void> {
  const { companyId, code, plan } = cause;
  const { channels, tellsEta } = plan.events[String(code)] ?? { channels: [], tellsEta: false };
  const source = await sourceOf(tx, row, cause);
  const facts = messageFactsOf(source);
  for (const channel of channels) await insertMessage(tx, cause, { channel, stop: source.stop, facts });
  const eta = etaOf(source);
  // Later arrivals are compared with the one of the delivery, not with that of a pickup on the way to it.
  const isAwaited = eta === etaOf({ ...source, event: {} });
  if (!tellsEta || eta === undefined || !isAwaited || row.loadId === null) return;
  if (plan.events[String(etaMovedCode)] === undefined) return;
  await saveToldEta(tx, { companyId, stopNbr: row.stopNbr }, { load_id: row.loadId, eta_at: eta });
}

interface MessageEvent {
  readonly companyId: number;
  readonly kind: RecordedEventKind;
  readonly stopNbr?: string;
  readonly loadNbr?: string;
  readonly recordedAt: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

async function toldStops(
  tx: Transaction,
  { companyId, stopNbr, loadNbr }: MessageEvent,
): Promise<readonly ToldStop[]> {
  if (stopNbr !== undefined) return (await stopQuery.run(tx, { companyId, stopNbr })).rows;
  return loadNbr === undefined ? [] : (await openStopsQuery.run(tx, { companyId, loadNbr })).rows;
}

/** Loads may have hundreds of stops: others get a turn of the event loop between. */
const stopsInTurn = 64;

/** The messages that an event causes by the configuration: about its stop, or, for an event of a load, about each that is open. */
export async function insertMessages(tx: Transaction, event: MessageEvent): Promise<void> {
  const { companyId, recordedAt: now, data = {} } = event;
  const plan = await messagePlan(tx, companyId);
  if (plan === undefined) return;
  const cause: Cause = { companyId, code: recordedEvents[event.kind].code, plan, data, now };
  for (const [index, row] of (await toldStops(tx, event)).entries()) {
    if (index % stopsInTurn === stopsInTurn - 1) await setImmediate();
    await tell(tx, row, cause);
  }
}

/** A planned arrival that was worked out anew. */
export interface NewEta {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly loadId: number;
  /** Milliseconds UTC. */
  readonly etaAt: number;
  readonly now: number;
}

/**
 * Compares with what the customer was told last, or, before that, with the first arrival that was known; a message goes out
 * when it has moved by more than the configuration says. Called after the arrival is saved with its stop.
 */
export async function noteEta(tx: Transaction, eta: NewEta): Promise<void> {
  const { companyId, stopNbr, loadId, etaAt, now } = eta;
  if (!(await wantedEventsOf(tx, companyId)).message.has(etaMovedCode)) return;
  const plan = await messagePlan(tx, companyId);
  if (plan === undefined) return;
  const [told] = (await toldEtaQuery.run(tx, eta)).rows;
  if (told === undefined || told.load_id !== loadId) {
    await saveToldEta(tx, eta, { load_id: loadId, eta_at: etaAt });
    return;
  }
  if (Math.abs(etaAt - told.eta_at) <= plan.etaMovedMs) return;
  const cause = { companyId, code: etaMovedCode, plan, data: {}, now, previousEtaAt: told.eta_at };
  for (const row of (await stopQuery.run(tx, { companyId, stopNbr })).rows) await tell(tx, row, cause);
  await saveToldEta(tx, eta, { load_id: loadId, eta_at: etaAt });
}

export interface StoredMessage {
  readonly id: number;
  readonly companyId: number;
  readonly eventCode: number;
  readonly channel: MessageChannel;
  readonly address: string;
  readonly facts: MessageFacts;
  /** Milliseconds UTC. */
  readonly createdAt: number;
}

/** The messages with these ids, some dozens at a time. */
export async function findMessages(read: Reader, ids: readonly number[]): Promise<readonly StoredMessage[]> {
  if (ids.length === 0) return [];
  const rows = await read.selectFrom("messages").selectAll().where("id", "in", ids).execute();
  return rows.map((row) => ({
    id: row.id,
    companyId: row.company_id,
    eventCode: row.event_code,
    channel: row.channel as MessageChannel,
    address: row.address,
    facts: JSON.parse(row.facts) as MessageFacts,
    createdAt: row.created_at,
  }));
}

interface NewerArguments {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly channel: MessageChannel;
  readonly id: number;
}

/** What says more of the arrival than an arrival that was planned before. */
const ofArrival = [
  etaMovedCode,
  recordedEvents.stopArrival.code,
  recordedEvents.stopDelivery.code,
  recordedEvents.stopClosed.code,
];

const newerQuery = prepareQuery<NewerArguments, { id: number }>((db, arg) =>
  db
    .selectFrom("messages")
    .select("id")
    .where("company_id", "=", arg("companyId"))
    .where("stop_nbr", "=", arg("stopNbr"))
    .where("channel", "=", arg("channel"))
    .where("id", ">", arg("id"))
    .where("event_code", "in", ofArrival)
    .limit(sql.lit(1)),
);

/** Whether a later message tells a newer arrival than this one, or that the driver has come. */
export async function isSuperseded(read: Reader, message: StoredMessage): Promise<boolean> {
  if (message.eventCode !== etaMovedCode) return false;
  const { companyId, channel, id, facts } = message;
  const { rows } = await newerQuery.run(read, { companyId, channel, id, stopNbr: facts.stopNbr });
  return rows.length > 0;
}
