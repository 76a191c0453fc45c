/** Deliveries as a table. */
import type { DeliveryView } from "../app/admin/delivery-view.ts";
import { isGivenUp } from "../app/admin/file-filter.ts";
import { tableLines } from "./table.ts";

/** When it was delivered, or the time of its next attempt. */
function whenText(delivery: DeliveryView): string {
  const { state, deliveredAt, lastAttemptAt, dueAt, targetPausedUntil, targetPausedBy } = delivery;
  if (state === "delivered") return deliveredAt ?? "-";
  if (state === "dead") return `given up ${lastAttemptAt ?? ""}`.trim();
  if (state === "dropped") return isGivenUp(delivery) ? "given up by hand" : "not sent";
  if (state === "behind") return "after another";
  if (!delivery.isTargetConfigured) return "target not configured";
  if (targetPausedBy !== null) return `target paused by ${targetPausedBy}`;
  return targetPausedUntil !== null && targetPausedUntil > dueAt
    ? `target pauses until ${targetPausedUntil}`
    : `due ${dueAt}`;
}

function collectedText({ collectedAt, removedAt }: DeliveryView): string {
  return collectedAt ?? (removedAt === null ? "-" : `removed ${removedAt}`);
}

/** Of an alert also to whom: the notice has the same name for all. */
function nameText({ name, receiver }: DeliveryView): string {
  return receiver === undefined ? name : `${name} to ${receiver}`;
}

function deliveryRow(delivery: DeliveryView): (string | number)[] {
  const { id, company, target, state, attempts, fault } = delivery;
  return [
    ...[id, delivery.createdAt, company, target, state, nameText(delivery), attempts, whenText(delivery)],
    ...[collectedText(delivery), fault ?? "-"],
  ];
}

const head = [
  ...["ID", "CREATED", "COMPANY", "TARGET", "STATE", "NAME", "ATTEMPTS", "WHEN"],
  ...["COLLECTED", "FAULT"],
];

/** The table alone. */
export function deliveryTable(deliveries: readonly DeliveryView[]): readonly string[] {
  return tableLines(head, deliveries.map(deliveryRow));
}

function hintLines(deliveries: readonly DeliveryView[]): string[] {
  const faulty = deliveries.find(({ state, fault }) => state !== "delivered" && fault !== null);
  if (faulty === undefined) return [];
  const dead = deliveries.find(({ state }) => state === "dead");
  const retry =
    dead === undefined ? "" : `; \`dropgate delivery retry ${dead.id}\` retries it once the cause is fixed`;
  return ["", `\`dropgate delivery show ${(dead ?? faulty).id}\` shows why${retry}.`];
}

/** The table, and where to look for more. */
export function listedDeliveries(deliveries: readonly DeliveryView[]): readonly string[] {
  if (deliveries.length === 0) return ["There is no such delivery."];
  return [...deliveryTable(deliveries), ...hintLines(deliveries)];
}
