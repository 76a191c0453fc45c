/** From the configuration of what goes out to what the store, the exports and the targets are given. */
import {
  alertReceiversOf,
  alertWaysOf,
  type WithAlerts,
  webServiceHashOf,
} from "../../config/alert-settings.ts";
import {
  type Companies,
  messageChannelsOf,
  messagesConfigOf,
  messageSettingsOf,
  outboundSettingsOf,
  targetNameOf,
} from "../../config/company-settings.ts";
import { defaultExportName, defaultTargetName } from "../../config/sections/outbound-section.ts";
import { alertTargetName, operatorCode, operatorId } from "../../domain/alerts/audience.ts";
import { messageTargetName } from "../../domain/messages/message-event.ts";
import { messagePlanOf } from "../../domain/messages/message-settings.ts";
import { changedOutboundCopies } from "../../outbound/changed-copies.ts";
import type { ExportPlan } from "../../outbound/export-runs.ts";
import { endFormerReceivers } from "../../operations/alerts/end-former-receivers.ts";
import { type Company, enterOperator, listCompanies } from "../../store/accounts/companies.ts";
import { noteUrlOfWebService } from "../../store/alerts/incident-receivers.ts";
import type { Store } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/group-commit.ts";
import { hasTargets, type OutboundCopy, saveOutboundCopy } from "../../store/outbound/outbound-targets.ts";

type CompanyName = Pick<Company, "id" | "code">;

/** What transactions of state changes have to know of a company's configuration. */
export function outboundCopyOf(config: WithAlerts, { id, code }: CompanyName): OutboundCopy {
  const { targets, on, embedDocuments } = outboundSettingsOf(config, code);
  const ofFiles = [...targets].map(([name, { completions }]) => ({
    name,
    takesCompletions: completions === "atOnce",
  }));
  const { channels, messages } = messagesOf(config, code);
  const ofMessages = channels.map((channel) => ({
    name: messageTargetName(channel),
    takesCompletions: false,
  }));
  return {
    companyId: id,
    targets: [...ofFiles, ...ofMessages, ...alertTargetsOf(config, code)],
    events: on,
    embedsDocuments: embedDocuments,
    messages,
  };
}

function alertTargetsOf(config: WithAlerts, code: string) {
  return alertWaysOf(config, code).map((way) => ({ name: alertTargetName(way), takesCompletions: false }));
}

/** The targets by which the operator is told of incidents, as if it were a company. */
function operatorCopyOf(config: WithAlerts): OutboundCopy {
  const targets = alertTargetsOf(config, operatorCode);
  return { companyId: operatorId, targets, events: [], embedsDocuments: false };
}

/** The channels that have a server, and which events cause a message. */
function messagesOf(config: Companies, code: string) {
  const configured = messagesConfigOf(config, code);
  const settings = messageSettingsOf(config, code);
  if (configured === undefined || settings === undefined) return { channels: [], messages: undefined };
  const channels = messageChannelsOf(configured);
  return { channels, messages: messagePlanOf(settings, channels) };
}

/** Enters the configuration of a company that is being registered, in the same transaction. */
export async function enterOutbound(
  tx: Transaction,
  config: WithAlerts,
  company: CompanyName,
): Promise<void> {
  await saveOutboundCopy(tx, outboundCopyOf(config, company));
}

const operator: CompanyName = { id: operatorId, code: operatorCode };

interface Saving {
  /** The operator among them. */
  readonly subjects: readonly CompanyName[];
  /** Whether these are all that there are. */
  readonly isAll: boolean;
}

/** Brings the copy of the configuration of these up to date, and ends alerts for receivers that have left it. */
async function saveWithin(tx: Transaction, config: WithAlerts, { subjects, isAll }: Saving): Promise<void> {
  const isOperatorTold = alertWaysOf(config, operatorCode).length > 0;
  const copies = [];
  for (const subject of subjects) {
    if (subject.id !== operatorId) copies.push(outboundCopyOf(config, subject));
    else if (isOperatorTold || (await hasTargets(tx, operatorId))) copies.push(operatorCopyOf(config));
  }
  if (isOperatorTold && subjects.some(({ id }) => id === operatorId)) await enterOperator(tx);
  for (const copy of await changedOutboundCopies(tx, copies)) await saveOutboundCopy(tx, copy);
  const receivers = new Map(subjects.map(({ id, code }) => [id, alertReceiversOf(config, code)]));
  await endFormerReceivers(
    tx,
    (companyId, receiver) => receivers.get(companyId)?.includes(receiver) ?? !isAll,
  );
  for (const { id: audienceId, code } of subjects) {
    const urlHash = webServiceHashOf(config, code);
    if (urlHash !== null) await noteUrlOfWebService(tx, { audienceId, urlHash });
  }
}

/** The copies of all companies: at the start, and at each reload. */
export async function saveOutboundSettings(
  store: Pick<Store, "read" | "write">,
  config: WithAlerts,
): Promise<void> {
  const subjects = [operator, ...(await listCompanies(store.read))];
  await store.write("site", (tx) => saveWithin(tx, config, { subjects, isAll: true }));
}

/**
 * That of one company, or of the operator (0). Where several nodes share a database, the node that has the company writes it: so
 * the configurations of two nodes that differ do not take turns.
 */
export async function saveOutboundSettingsOf(
  store: Pick<Store, "write">,
  config: WithAlerts,
  { id, code }: CompanyName,
): Promise<void> {
  const subjects = [id === operatorId ? operator : { id, code }];
  await store.write(id, (tx) => saveWithin(tx, config, { subjects, isAll: false }));
}

/** The same for all that this node has. */
export async function saveOwnOutboundSettings(
  {
    store,
    isOurs,
  }: { readonly store: Pick<Store, "read" | "write">; readonly isOurs: (id: number) => boolean },
  config: WithAlerts,
): Promise<void> {
  for (const subject of [operator, ...(await listCompanies(store.read))])
    if (isOurs(subject.id)) await saveOutboundSettingsOf(store, config, subject);
}

/** The exports of a company in the configuration. */
export function exportPlansOf(config: Companies, { id, code }: CompanyName): readonly ExportPlan[] {
  const { exports } = outboundSettingsOf(config, code);
  return [...exports].map(([name, { schedule, zone, form, target }]) => ({
    ...{ companyId: id, name, when: { schedule, zone }, form },
    target: targetNameOf(target),
  }));
}

/** The export that a company without any in the configuration has when one is asked for. */
export function defaultExportPlan(config: Companies, { id, code }: CompanyName): ExportPlan | undefined {
  const { exports, targets } = outboundSettingsOf(config, code);
  if (exports.size > 0 || !targets.has(defaultTargetName)) return undefined;
  return { companyId: id, name: defaultExportName, when: null, form: "document", target: defaultTargetName };
}

/** All exports of the configuration, of the companies that there are at this moment. */
export async function allExportPlans(
  { read }: Pick<Store, "read">,
  config: Companies,
): Promise<readonly ExportPlan[]> {
  return (await listCompanies(read)).flatMap((company) => exportPlansOf(config, company));
}
