/**
 * Messages to customers: made in the transaction of the event, each with its delivery, when the configuration asks for
 * them and the customer has an address and has not opted out. The values of a message are fixed then; its wording is
 * that of the template in force when it is sent.
 */
import type { StopExecution } from "../../domain/execution/stop-execution.ts";
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
import { recordedEvents } from "../../domain/outbound/recorded-events.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
import { addDelivery } from "../../store/outbound/deliveries.ts";
import { isOptedOut } from "../../store/outbound/message-opt-outs.ts";
import {
  findToldEta,
  findToldStop,
  insertMessage,
  listOpenToldStops,
  saveToldEta,
  type ToldStop,
} from "../../store/outbound/messages.ts";
import { findTargetId, messagePlan, wantedEventsOf } from "../../store/outbound/outbound-targets.ts";
import { findDrivenLoad } from "../../store/stops/loads.ts";
import type { RecordedEvent } from "./recorded-event.ts";

/** The subject of a message. */
interface Cause {
  readonly companyId: number;
  readonly code: number;
  readonly plan: MessagePlan;
  readonly data: Readonly<Record<string, unknown>>;
  readonly now: number;
  readonly previousEtaAt?: number;
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
async function addMessage(
  tx: Transaction,
  { companyId, code, now }: Cause,
  message: { readonly channel: MessageChannel; readonly stop: Stop; readonly facts: MessageFacts },
): Promise<void> {
  const { channel, stop, facts } = message;
  const address = (facts.contact?.[channel] ?? "").trim();
  if (address === "" || isRefusedByStop(stop, channel)) return;
  const targetId = await findTargetId(tx, { companyId, name: messageTargetName(channel) });
  if (targetId === undefined || (await isOptedOut(tx, { companyId, address }))) return;
  const { stopNbr } = facts;
  const subjectId = await insertMessage(tx, { companyId, code, channel, address, facts, now });
  await addDelivery(tx, {
    ...{ companyId, targetId, kind: "message", subjectId, orderKey: stopNbr, now },
    name: `${messageEventOf(code) ?? code} ${channel} ${veiledAddress(address)}`,
  });
}

async function tell(tx: Transaction, row: ToldStop, cause: Cause): Promise<void> {
  const { companyId, code, plan } = cause;
  const { channels, tellsEta } = plan.events[String(code)] ?? { channels: [], tellsEta: false };
  const source = await sourceOf(tx, row, cause);
  const facts = messageFactsOf(source);
  for (const channel of channels) await addMessage(tx, cause, { channel, stop: source.stop, facts });
  const eta = etaOf(source);
  // Later arrivals are compared with the one of the delivery, not with that of a pickup on the way to it.
  const isAwaited = eta === etaOf({ ...source, event: {} });
  if (!tellsEta || eta === undefined || !isAwaited || row.loadId === null) return;
  if (plan.events[String(etaMovedCode)] === undefined) return;
  await saveToldEta(tx, { companyId, stopNbr: row.stopNbr, loadId: row.loadId, etaAt: eta });
}

async function toldStops(
  tx: Transaction,
  { companyId, stopNbr, loadNbr }: RecordedEvent,
): Promise<readonly ToldStop[]> {
  if (stopNbr !== undefined) return await findToldStop(tx, { companyId, stopNbr });
  return loadNbr === undefined ? [] : await listOpenToldStops(tx, { companyId, loadNbr });
}

/** The messages that an event causes by the configuration: about its stop, or, of a load, about each stop that is open. */
export async function tellCustomers(tx: Transaction, event: RecordedEvent): Promise<void> {
  const { companyId, recordedAt: now, data = {} } = event;
  const plan = await messagePlan(tx, companyId);
  if (plan === undefined) return;
  const cause: Cause = { companyId, code: recordedEvents[event.kind].code, plan, data, now };
  for (const row of await toldStops(tx, event)) await tell(tx, row, cause);
}

/** A planned arrival that was calculated again. */
export interface NewEta {
  readonly companyId: number;
  readonly stopNbr: string;
  readonly loadId: number;
  /** Milliseconds UTC. */
  readonly etaAt: number;
  readonly now: number;
}

/**
 * Compares with the last announced arrival, or, before that, with the first known one; a message goes out when it has moved
 * by more than the configuration says. Called after the arrival is saved with its stop.
 */
export async function noteEta(tx: Transaction, eta: NewEta): Promise<void> {
  const { companyId, stopNbr, loadId, etaAt, now } = eta;
  if (!(await wantedEventsOf(tx, companyId)).message.has(etaMovedCode)) return;
  const plan = await messagePlan(tx, companyId);
  if (plan === undefined) return;
  const told = await findToldEta(tx, eta);
  if (told?.loadId !== loadId) {
    await saveToldEta(tx, eta);
    return;
  }
  if (Math.abs(etaAt - told.etaAt) <= plan.etaMovedMs) return;
  const cause = { companyId, code: etaMovedCode, plan, data: {}, now, previousEtaAt: told.etaAt };
  for (const row of await findToldStop(tx, { companyId, stopNbr })) await tell(tx, row, cause);
  await saveToldEta(tx, eta);
}
