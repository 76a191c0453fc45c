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
import {
  endFormerReceivers,
  listForFormerReceivers,
  type Receivers,
} from "../../operations/alerts/end-former-receivers.ts";
import { type Company, enterOperator, listCompanies } from "../../store/accounts/companies.ts";
import {
  hasUrlToNote,
  noteUrlOfWebService,
  type UrlOfWebService,
} from "../../store/alerts/incident-receivers.ts";
import type { Reader, Store } from "../../store/database/database.ts";
import type { Transaction } from "../../store/database/groups/group-commit.ts";
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
  /** All that there are, the operator among them; or one. */
  readonly subjects: readonly CompanyName[];
  /** The one, if it is one. */
  readonly only?: CompanyName;
}

async function changedCopies(db: Reader | Transaction, config: WithAlerts, { subjects }: Saving) {
  const copies = [];
  for (const subject of subjects) {
    if (subject.id !== operatorId) copies.push(outboundCopyOf(config, subject));
    else if (isOperatorTold(config) || (await hasTargets(db, operatorId)))
      copies.push(operatorCopyOf(config));
  }
  return await changedOutboundCopies(db, copies);
}

function isOperatorTold(config: WithAlerts): boolean {
  return alertWaysOf(config, operatorCode).length > 0;
}

function receiversOf(config: WithAlerts, { subjects, only }: Saving): Receivers {
  const receivers = new Map(subjects.map(({ id, code }) => [id, alertReceiversOf(config, code)]));
  return {
    isReceiver: (audienceId, receiver) => receivers.get(audienceId)?.includes(receiver) === true,
    audienceId: only?.id,
  };
}

function urlsOf(config: WithAlerts, { subjects }: Saving): readonly UrlOfWebService[] {
  return subjects.flatMap(({ id: audienceId, code }) => {
    const urlHash = webServiceHashOf(config, code);
    return urlHash === null ? [] : [{ audienceId, urlHash }];
  });
}

/** Whether the store lacks something of the configuration of one. */
async function isToSave(read: Reader, config: WithAlerts, saving: Saving): Promise<boolean> {
  // Of an operator who has not been entered, no copy is there either.
  if ((await changedCopies(read, config, saving)).length > 0) return true;
  if ((await listForFormerReceivers(read, receiversOf(config, saving))).length > 0) return true;
  for (const url of urlsOf(config, saving)) if (await hasUrlToNote(read, url)) return true;
  return false;
}

/** Brings the copy of the configuration of these up to date, and ends alerts for receivers that have left it. */
async function saveWithin(tx: Transaction, config: WithAlerts, saving: Saving): Promise<void> {
  if (isOperatorTold(config) && saving.subjects.some(({ id }) => id === operatorId)) await enterOperator(tx);
  for (const copy of await changedCopies(tx, config, saving)) await saveOutboundCopy(tx, copy);
  await endFormerReceivers(tx, receiversOf(config, saving));
  for (const url of urlsOf(config, saving)) await noteUrlOfWebService(tx, url);
}

/** The copies of all companies: at the start, and at each reload. */
export async function saveOutboundSettings(
  store: Pick<Store, "read" | "write">,
  config: WithAlerts,
): Promise<void> {
  const subjects = [operator, ...(await listCompanies(store.read))];
  await store.write("site", (tx) => saveWithin(tx, config, { subjects }));
}

type InForce = () => WithAlerts;
type SavingOfOne = Saving & Required<Pick<Saving, "only">>;

function savingOf({ id, code }: CompanyName): SavingOfOne {
  const only = id === operatorId ? operator : { id, code };
  return { subjects: [only], only };
}

/**
 * That of one company, or of the operator (0). Where several nodes share a database, the node that has the company writes it: so
 * the configurations of two nodes that differ do not take turns. It writes what is in force when its turn comes.
 */
async function saveOutboundSettingsOf(
  store: Pick<Store, "write">,
  inForce: InForce,
  saving: SavingOfOne,
): Promise<void> {
  await store.write(saving.only.id, (tx) => saveWithin(tx, inForce(), saving));
}

/**
 * The same when a node takes a company, which only reads when there is nothing to write, as a rule: the files of all companies
 * that it takes wait for what it writes.
 */
export async function takeOutboundSettingsOf(
  store: Pick<Store, "read" | "write">,
  inForce: InForce,
  subject: CompanyName,
): Promise<void> {
  const saving = savingOf(subject);
  if (await isToSave(store.read, inForce(), saving)) await saveOutboundSettingsOf(store, inForce, saving);
}

/**
 * The same at a reload, for all that this node has. Always written: what waits to be written at that moment may still be of
 * the configuration before.
 */
export async function saveOwnOutboundSettings(
  {
    store,
    isOurs,
  }: { readonly store: Pick<Store, "read" | "write">; readonly isOurs: (id: number) => boolean },
  inForce: InForce,
): Promise<void> {
  for (const subject of [operator, ...(await listCompanies(store.read))])
    if (isOurs(subject.id)) await saveOutboundSettingsOf(store, inForce, savingOf(subject));
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
