import { type DeliveryView, isGivenUp } from "../../app/admin/delivery-view.ts";
import type { DeliveryListOptions } from "../../app/admin/outbound-admin.ts";
import type { CliCommand, LongListOptions } from "../command-line.ts";
import { tableLines } from "../table.ts";

/** When it was delivered, or the time of its next attempt. */
function whenText(delivery: DeliveryView): string {
  const { state, deliveredAt, lastAttemptAt, dueAt, targetPausedUntil } = delivery;
  if (state === "delivered") return deliveredAt ?? "-";
  if (state === "dead") return `given up ${lastAttemptAt ?? ""}`.trim();
  if (state === "dropped") return isGivenUp(delivery) ? "given up by hand" : "not sent";
  if (state === "behind") return "after another";
  if (!delivery.isTargetConfigured) return "target not configured";
  return targetPausedUntil !== null && targetPausedUntil > dueAt
    ? `target pauses until ${targetPausedUntil}`
    : `due ${dueAt}`;
}

function collectedText({ collectedAt, removedAt }: DeliveryView): string {
  return collectedAt ?? (removedAt === null ? "-" : `removed ${removedAt}`);
}

function deliveryRow(delivery: DeliveryView): (string | number)[] {
  const { id, company, target, state, name, attempts, fault } = delivery;
  return [
    ...[id, delivery.createdAt, company, target, state, name, attempts, whenText(delivery)],
    ...[collectedText(delivery), fault ?? "-"],
  ];
}

const head = [
  ...["ID", "CREATED", "COMPANY", "TARGET", "STATE", "NAME", "ATTEMPTS", "WHEN"],
  ...["COLLECTED", "FAULT"],
];

function hintLines(deliveries: readonly DeliveryView[]): string[] {
  const faulty = deliveries.find(({ state, fault }) => state !== "delivered" && fault !== null);
  if (faulty === undefined) return [];
  const dead = deliveries.find(({ state }) => state === "dead");
  const retry =
    dead === undefined ? "" : `; \`dropgate delivery retry ${dead.id}\` retries it once the cause is fixed`;
  return ["", `\`dropgate delivery show ${(dead ?? faulty).id}\` shows why${retry}.`];
}

function deliveryLines(deliveries: readonly DeliveryView[]): readonly string[] {
  if (deliveries.length === 0) return ["There is no such delivery."];
  return [...tableLines(head, deliveries.map(deliveryRow)), ...hintLines(deliveries)];
}

/** `dropgate deliveries` */
export function declareDeliveries(program: CliCommand): void {
  const deliveries = program
    .declare("deliveries", "list what goes out to targets, the newest first")
    .withJson()
    .option("--state <state>", "waiting, behind, delivered, dead or dropped")
    .option("--company <code>", "deliveries of a company")
    .option("--target <name>", "deliveries to a target")
    .option("--stop <number>", "completion files of a stop, and messages about it");
  deliveries.withLimit().onConfig(async (run, config, options: DeliveryListOptions & LongListOptions) => {
    const { listDeliveries } = await import("../../app/admin/outbound-admin.ts");
    run.printLongList(options, await listDeliveries(config, options), deliveryLines);
  });
}
