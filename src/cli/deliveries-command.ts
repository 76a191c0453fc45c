import type { Command } from "commander";
import type { DeliveryView } from "../app/admin/outbound-admin.ts";
import {
  type CliRun,
  declare,
  printError,
  printJson,
  printLines,
  requireConfig,
  wholeNumber,
  withJson,
} from "./command-line.ts";
import { tableLines } from "./table.ts";

interface ListOptions {
  readonly state?: string;
  readonly company?: string;
  readonly target?: string;
  readonly stop?: string;
  readonly limit: number;
  readonly json?: true;
}

const defaultLimit = 50;
const maxLimit = 100_000;

/** When it was delivered, or the time of its next attempt. */
function whenText(delivery: DeliveryView): string {
  const { state, deliveredAt, lastAttemptAt, dueAt, targetPausedUntil } = delivery;
  if (state === "delivered") return deliveredAt ?? "-";
  if (state === "dead") return `given up ${lastAttemptAt ?? ""}`.trim();
  if (state === "dropped") return delivery.fault === "givenUp" ? "given up by hand" : "not sent";
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

/** Hints for the deliveries that are listed. */
function hintLines(deliveries: readonly DeliveryView[]): string[] {
  const faulty = deliveries.find(({ state, fault }) => state !== "delivered" && fault !== null);
  if (faulty === undefined) return [];
  const dead = deliveries.find(({ state }) => state === "dead");
  const retry =
    dead === undefined ? "" : `; \`dropgate delivery retry ${dead.id}\` retries it once the cause is fixed`;
  return ["", `\`dropgate delivery show ${(dead ?? faulty).id}\` shows why${retry}.`];
}

/** `dropgate deliveries` */
export function declareDeliveries(program: Command, run: CliRun): void {
  withJson(declare(program, "deliveries", "list what goes out to targets, the newest first"))
    .option("--state <state>", "waiting, behind, delivered, dead or dropped")
    .option("--company <code>", "deliveries of a company")
    .option("--target <name>", "deliveries to a target")
    .option("--stop <number>", "completion files of a stop, and messages about it")
    .option("--limit <count>", "how many at most", wholeNumber(1, maxLimit), defaultLimit)
    .action(async (options: ListOptions, command: Command) => {
      const config = await requireConfig(run, command);
      const { listDeliveries } = await import("../app/admin/outbound-admin.ts");
      const { state, company, target, stop, limit } = options;
      const { deliveries, isCut } = await listDeliveries(config, {
        limit,
        ...(state === undefined ? {} : { state }),
        ...(company === undefined ? {} : { companyCode: company }),
        ...(target === undefined ? {} : { target }),
        ...(stop === undefined ? {} : { stopNbr: stop }),
      });
      // On standard error, so that programs which read the list can see it too.
      if (isCut) printError(run, `(only the newest ${limit}; --limit shows more)`);
      if (options.json) return printJson(run, deliveries);
      if (deliveries.length === 0) return printLines(run, ["There is no such delivery."]);
      printLines(run, [...tableLines(head, deliveries.map(deliveryRow)), ...hintLines(deliveries)]);
    });
}
