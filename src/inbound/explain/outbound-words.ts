/** What goes out, as text for operators. */
import { givenUpFault } from "../../domain/outbound/delivery-state.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { ListedDelivery } from "../../store/outbound/delivery-queries.ts";
import type {
  CompletionStory,
  ExportStory,
  OutboundPlace,
  OutboundStory,
  ToldDelivery,
} from "./explain-outbound.ts";
import { counted } from "../../lib/counted.ts";

const deliveryKinds: Readonly<Record<string, string>> = {
  completion: "Completion file",
  export: "Export",
  message: "Message",
};

function waitingDeliveryText(delivery: ListedDelivery, now: number): string {
  const { id, isTargetConfigured, target, targetPausedUntil, dueAt, createdAt, faultText } = delivery;
  const { targetPausedBy, targetPausedAt } = delivery;
  const since = `it waits since ${isoTime(createdAt)}`;
  if (!isTargetConfigured)
    return `${since}: the target ${target} is not in the configuration; put it back and reload, or \`dropgate delivery give-up ${id} --reason …\``;
  if (targetPausedBy !== null)
    return `${since}, because the target ${target} is paused by ${targetPausedBy} since ${isoTime(targetPausedAt ?? 0)} (\`dropgate target resume ${target}\` lets it go on)`;
  const why = faultText === null ? "" : `: ${faultText.replace(/\.$/, "")}`;
  return targetPausedUntil > now
    ? `${since}, because the target ${target} pauses until ${isoTime(targetPausedUntil)}${why} (once it is repaired, \`dropgate delivery retry --all --target ${target}\` goes on at once)`
    : `${since}, due ${isoTime(dueAt)}${why}`;
}

function whoText(by: string | null, from: string | null): string {
  const address = from === null ? "" : ` from ${from}`;
  return by === null ? "" : ` by ${by}${address}`;
}

function fetchedText(delivery: ListedDelivery): string {
  const { collectedAt, collectedBy, collectedFrom, removedAt, removedBy, removedFrom } = delivery;
  const collected =
    collectedAt === null ? "" : `, collected ${isoTime(collectedAt)}${whoText(collectedBy, collectedFrom)}`;
  const removed =
    removedAt === null ? "" : `, removed there ${isoTime(removedAt)}${whoText(removedBy, removedFrom)}`;
  return `${collected}${removed}`;
}

function deliveryStateText(delivery: ListedDelivery, now: number): string {
  const { state, deliveredAt, faultText } = delivery;
  switch (state) {
    case "delivered":
      return `delivered ${isoTime(deliveredAt ?? 0)}${fetchedText(delivery)}`;
    case "waiting":
      return waitingDeliveryText(delivery, now);
    case "behind":
      return `it waits since ${isoTime(delivery.createdAt)} behind an earlier one of the same stop or export`;
    case "dead":
      return `given up: ${faultText ?? "?"} (\`dropgate delivery retry ${delivery.id}\` tries it again)`;
    case "dropped":
      return delivery.fault === givenUpFault
        ? `not sent: ${faultText ?? "?"} (\`dropgate delivery retry ${delivery.id}\` asks for it again)`
        : `not sent: ${faultText ?? "?"}`;
  }
}

/** One delivery in a line. */
export function deliveryText(delivery: ListedDelivery, now: number): string {
  const { id, kind, name, target } = delivery;
  // A message of a fault ends as a sentence, or does not.
  const state = deliveryStateText(delivery, now).replace(/\.$/, "");
  return `${deliveryKinds[kind] ?? kind} ${name} to ${target} (delivery ${id}): ${state}.`;
}

/** What lies in the company's own folder, and nobody is recorded to have fetched. */
function isUncollected({ place, collectedAt }: ToldDelivery): boolean {
  return place?.isOwn === true && place.presence === "there" && collectedAt === null;
}

const placeTexts: Readonly<Record<OutboundPlace["presence"], (path: string) => string>> = {
  there: (path) => `It is still there: ${path}.`,
  done: (path) => `A host has moved it: ${path}.`,
  gone: (path) => `It is not there any more: ${path}.`,
  silent: (path) =>
    `Whether it is still there is not known: ${path}; its folder does not answer: check that the server of the share runs, or mount it again.`,
  unreadable: (path) => `Whether it is still there cannot be read: ${path}.`,
};

function attemptText({ attempts, lastAttemptAt, fault, guid }: ListedDelivery): string {
  const count = counted(attempts, "attempt");
  const last = lastAttemptAt === null ? "" : `, the last ${isoTime(lastAttemptAt)}`;
  return `${count}${last}${fault === null ? "" : `, fault ${fault}`}; its receiver knows it as ${guid}.`;
}

function toldLines(delivery: ToldDelivery, now: number): string[] {
  const { place } = delivery;
  return [
    deliveryText(delivery, now),
    `  ${attemptText(delivery)}`,
    ...(place === undefined ? [] : [`  ${placeTexts[place.presence](place.path)}`]),
    ...(isUncollected(delivery) ? ["  No host has fetched it yet."] : []),
    `  \`dropgate delivery show ${delivery.id}\` has all of it.`,
  ];
}

function completionLines(
  { madeAt, triggerCode, files, exports }: CompletionStory,
  { isSent, now }: { readonly isSent: boolean; readonly now: number },
): string[] {
  const made = `Made ${isoTime(madeAt)} by event ${triggerCode}`;
  const from = files.map(({ id, name }) => `${name} (entry ${id})`).join(", ");
  const source =
    from === "" ? "; no file is known that its stop came from." : `; its stop came from ${from}.`;
  const inExports = exports.flatMap(({ name, sequenceNbr, deliveries }) => [
    `It is in export ${sequenceNbr} of ${name}.`,
    ...deliveries.map((delivery) => `  ${deliveryText(delivery, now)}`),
  ]);
  const alone = isSent || exports.length > 0 ? [] : ["No target gets it at once, and no export has it yet."];
  return [`${made}${source}`, ...alone, ...inExports];
}

function exportLines({ sequenceNbr, name, madeAt, count, completions }: ExportStory): string[] {
  const stops = counted(count, "completion");
  const shown = completions.map((one) => `${one.name} of stop ${one.stopNbr}`).join(", ");
  const more = count > completions.length ? `, and ${count - completions.length} more` : "";
  const what = shown === "" ? "" : `: ${shown}${more}`;
  return [`Export ${sequenceNbr} of ${name}, made ${isoTime(madeAt)}, has ${stops}${what}.`];
}

function subjectText({ completion, deliveries }: OutboundStory): string {
  const [first] = deliveries;
  if (first?.kind === "export") return `export ${first.orderKey}`;
  return `stop ${completion?.stopNbr ?? first?.orderKey ?? "unknown"}`;
}

/** As a block of its own. */
export function outboundLines(story: OutboundStory, now: number): string[] {
  const { name, company, completion, export: made, deliveries } = story;
  const lines = [
    ...deliveries.flatMap((delivery) => toldLines(delivery, now)),
    ...(completion === undefined ? [] : completionLines(completion, { isSent: deliveries.length > 0, now })),
    ...(made === undefined ? [] : exportLines(made)),
  ];
  return [`${name}, company ${company}, of ${subjectText(story)}`, ...lines.map((line) => `  ${line}`)];
}
