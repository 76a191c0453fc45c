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
import {
  listOutboundTargets,
  type OutboundCopy,
  saveOutboundCopy,
} from "../../store/outbound/outbound-targets.ts";

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

/**
 * Brings the copy of the configuration in the store up to date, and ends alerts for receivers that have left it: at the
 * start, and at each reload.
 */
export async function saveOutboundSettings(
  store: Pick<Store, "read" | "write">,
  config: WithAlerts,
): Promise<void> {
  const companies = await listCompanies(store.read);
  const isOperatorTold = alertWaysOf(config, operatorCode).length > 0;
  const wasOperatorTold = (await listOutboundTargets(store.read)).some(
    ({ companyId }) => companyId === operatorId,
  );
  const subjects = [{ id: operatorId, code: operatorCode }, ...companies];
  const receivers = new Map(subjects.map(({ id, code }) => [id, alertReceiversOf(config, code)]));
  const urlHashes = subjects.map(({ id, code }) => ({
    audienceId: id,
    urlHash: webServiceHashOf(config, code),
  }));
  await store.write("site", async (tx) => {
    if (isOperatorTold) await enterOperator(tx);
    const copies = [
      ...(isOperatorTold || wasOperatorTold ? [operatorCopyOf(config)] : []),
      ...companies.map((company) => outboundCopyOf(config, company)),
    ];
    for (const copy of await changedOutboundCopies(tx, copies)) await saveOutboundCopy(tx, copy);
    await endFormerReceivers(
      tx,
      (companyId, receiver) => receivers.get(companyId)?.includes(receiver) ?? false,
    );
    for (const one of urlHashes) if (one.urlHash !== null) await noteUrlOfWebService(tx, one);
  });
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
