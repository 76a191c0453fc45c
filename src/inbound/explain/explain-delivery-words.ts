/** Deliveries in an explanation, as text. */
import { isoTime } from "../../lib/iso-time.ts";
import type { ListedDelivery } from "../../store/outbound/delivery-queries.ts";
import { givenUpFault } from "../../domain/outbound/delivery-state.ts";

const kindWords: Readonly<Record<string, string>> = {
  completion: "Completion file",
  export: "Export",
  message: "Message",
};

function waitingText({
  isTargetConfigured,
  target,
  targetPausedUntil,
  dueAt,
  faultText,
}: ListedDelivery): string {
  if (!isTargetConfigured) return `it waits: the target ${target} is not in the configuration`;
  const why = faultText === null ? "" : `: ${faultText}`;
  return targetPausedUntil > dueAt
    ? `it waits: the target ${target} pauses until ${isoTime(targetPausedUntil)}${why}`
    : `it waits, due ${isoTime(dueAt)}${why}`;
}

function stateText(delivery: ListedDelivery): string {
  const { state, deliveredAt, collectedAt, collectedBy, removedAt, faultText } = delivery;
  switch (state) {
    case "delivered": {
      const collected =
        collectedAt === null ? "" : `, collected ${isoTime(collectedAt)} by ${collectedBy ?? "?"}`;
      const removed = removedAt === null ? "" : `, removed there ${isoTime(removedAt)}`;
      return `delivered ${isoTime(deliveredAt ?? 0)}${collected}${removed}`;
    }
    case "waiting":
      return waitingText(delivery);
    case "behind":
      return "it waits behind an earlier one of the same stop or export";
    case "dead":
      return `given up: ${faultText ?? "?"} (\`dropgate delivery retry ${delivery.id}\` tries it again)`;
    case "dropped":
      return delivery.fault === givenUpFault
        ? `not sent: ${faultText ?? "?"} (\`dropgate delivery retry ${delivery.id}\` asks for it again)`
        : `not sent: ${faultText ?? "?"}`;
  }
}

/** In one line. */
export function deliveryText(delivery: ListedDelivery): string {
  const { id, kind, name, target } = delivery;
  return `${kindWords[kind] ?? kind} ${name} to ${target} (delivery ${id}): ${stateText(delivery)}.`;
}

/** As a block of its own. */
export function deliveryLines(delivery: ListedDelivery): string[] {
  const { name, company, kind, orderKey } = delivery;
  const about = kind === "export" ? `export ${orderKey}` : `stop ${orderKey}`;
  return [
    `${name}, company ${company}, of ${about}`,
    `  ${deliveryText(delivery)}`,
    `  \`dropgate delivery show ${delivery.id}\` has all of it.`,
  ];
}
