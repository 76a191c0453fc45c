import { InvalidArgumentError } from "commander";
import type { DeliveryDetail } from "../../app/admin/delivery-view.ts";
import { isGivenUp } from "../../app/admin/file-filter.ts";
import { type CliCommand, type CommonOptions, titledLines } from "../command-line.ts";
import { counted } from "../../lib/counted.ts";
import { declareDeliveryRetry } from "./delivery-retry-command.ts";
import { declareGiveUp } from "./give-up-command.ts";
import { declareRelease } from "./release-command.ts";
import { declareResend } from "./resend-command.ts";
import { readNumber } from "../repeats.ts";

type Row = readonly [title: string, value: string];

function stateText(delivery: DeliveryDetail): string {
  const { state, dueAt, behind, isTargetConfigured, targetPausedUntil, targetPausedBy } = delivery;
  if (state === "behind") {
    return behind === null
      ? "behind: waits until the one before it is done"
      : `behind: waits until delivery ${behind.id} (${behind.name}) is done, which is due ${behind.dueAt}`;
  }
  if (state !== "waiting") return state;
  if (!isTargetConfigured) return "waiting: its target is not in the configuration";
  if (targetPausedBy !== null)
    return `waiting: its target is paused by ${targetPausedBy} since ${delivery.targetPausedAt ?? "?"}`;
  return targetPausedUntil !== null && targetPausedUntil > dueAt
    ? `waiting: the target fails, and the next attempt is at ${targetPausedUntil}`
    : `waiting: due ${dueAt}`;
}

function fetchedText(at: string | null, by: string | null, from: string | null): string {
  const address = from === null ? "" : ` from ${from}`;
  return at === null ? "-" : `${at} by ${by ?? "unknown"}${address}`;
}

function subjectRow({ stopNbr, export: name, receiver }: DeliveryDetail): Row {
  if (receiver !== undefined) return ["Receiver", receiver];
  return stopNbr === null ? ["Export", name ?? "-"] : ["Stop", stopNbr];
}

/** The setting that has the target. */
function settingOf({ target, company, kind }: DeliveryDetail): string {
  if (kind === "alert") return "its section alerts";
  return `companies.${company}.${target.startsWith("messages.") ? target : "outbound.targets"}`;
}

function remedyRows(delivery: DeliveryDetail): Row[] {
  const { id, state, target, isTargetConfigured, fault } = delivery;
  const configure = `put the target ${target} back into the configuration (${settingOf(delivery)}) and reload`;
  if (state === "dead") {
    const first = isTargetConfigured ? "fix what the fault names" : configure;
    return [["What to do", `${first}, then \`dropgate delivery retry ${id}\``]];
  }
  if (isGivenUp(delivery))
    return [["What to do", `nothing; \`dropgate delivery retry ${id}\` asks for it again`]];
  const giveUp = `\`dropgate delivery give-up ${id} --reason …\``;
  if (state === "waiting" && !isTargetConfigured)
    return [["What to do", `${configure}, or ${giveUp} if it is no longer wanted`]];
  // A delivery that keeps failing blocks the later ones of its stop as long.
  if (state !== "waiting" || fault === null) return [];
  const remedy = `fix what the fault names; if only this one can never go, ${giveUp} lets the next go on`;
  return [["What to do", remedy]];
}

function attemptText({ at, durationMs, fault, message }: DeliveryDetail["failedAttempts"][number]): string {
  return `${at}, ${durationMs} ms, ${fault}: ${message}`;
}

type Repeat = DeliveryDetail["repeats"][number];

/** What it was until somebody asked for it again, or gave it up. */
function beforeText({
  state,
  deliveredAt,
  collectedAt,
  collectedBy,
  collectedFrom,
  lastAttemptAt,
  fault,
  attempts,
}: Repeat) {
  const tries = counted(attempts, "attempt");
  const why = fault === null ? "" : ` (${fault})`;
  if (state === "dropped") return "given up";
  if (state === "dead") return `dead since ${lastAttemptAt ?? "?"} after ${tries}${why}`;
  if (state !== "delivered") return `${state} after ${tries}${why}`;
  const fetched =
    collectedAt === null ? "" : `, collected ${fetchedText(collectedAt, collectedBy, collectedFrom)}`;
  return `delivered ${deliveredAt ?? "?"} after ${tries}${fetched}`;
}

function repeatRow(repeat: Repeat): Row {
  const { action, askedAt, askedBy, reason } = repeat;
  const before = `it was ${beforeText(repeat)}`;
  return action === "giveUp"
    ? ["Given up", `${askedAt} by ${askedBy ?? "?"}: ${reason ?? "?"}; ${before}`]
    : ["Again", `asked for ${askedAt}; ${before}`];
}

function deliveryLines(delivery: DeliveryDetail): string[] {
  const { fault, message, size, failedAttempts } = delivery;
  return titledLines([
    ["Delivery", `${delivery.id} (${delivery.guid})`],
    ["Name", delivery.name],
    ["Company", delivery.company],
    subjectRow(delivery),
    ["Target", delivery.target],
    ["State", stateText(delivery)],
    ["Created", delivery.createdAt],
    ["Delivered", delivery.deliveredAt ?? "-"],
    ["Attempts", String(delivery.attempts)],
    ["Last attempt", delivery.lastAttemptAt ?? "-"],
    ...(fault === null ? [] : [["Fault", `${fault}: ${message ?? ""}`] as const]),
    ["Size", size === null ? "-" : `${size} bytes`],
    ["SHA-256", delivery.sha256 ?? "-"],
    ["Collected", fetchedText(delivery.collectedAt, delivery.collectedBy, delivery.collectedFrom)],
    ["Removed", fetchedText(delivery.removedAt, delivery.removedBy, delivery.removedFrom)],
    ...failedAttempts.map((attempt): Row => ["Failed", attemptText(attempt)]),
    ...delivery.repeats.map(repeatRow),
    ...remedyRows(delivery),
  ]);
}

/** With the number of the file when a delivery is several: each of them is posted under an id of its own. */
const guidForm = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-\d{1,9})?$/i;

/** The number of a delivery, or the id that its receiver knows. */
function readKey(text: string): number | string {
  const guid = guidForm.exec(text)?.[1];
  if (guid !== undefined) return guid.toLowerCase();
  if (/^\d+$/.test(text)) return readNumber(text);
  throw new InvalidArgumentError("It must be the number of a delivery, or its GUID.");
}

function declareShow(delivery: CliCommand): void {
  delivery
    .declare("show", "show one delivery with its failed attempts")
    .withJson()
    .argument("<id>", "number of the delivery, or the id that its receiver knows", readKey)
    .onConfig(async (run, config, key: number | string, options: CommonOptions) => {
      const { showDelivery } = await import("../../app/admin/outbound-admin.ts");
      const found = await showDelivery(config, key);
      if (found !== undefined) return run.printResult(options, found, deliveryLines);
      run.printFailure(`there is no delivery ${key}: \`dropgate deliveries\` lists them`);
    });
}

/** `dropgate delivery show|retry|resend|give-up|release` */
export function declareDelivery(program: CliCommand): void {
  const delivery = program.declare("delivery", "one delivery");
  declareShow(delivery);
  declareDeliveryRetry(delivery);
  declareResend(delivery);
  declareGiveUp(delivery);
  declareRelease(delivery);
}
