/**
 * Finds the details of a stop that an event confirms, and what is known of them afterwards
 * (specification/events.md#what-events-bring).
 */
import type { ReportedDetail } from "../../domain/execution/route-event.ts";
import type { StopExecution } from "../../domain/execution/stop-execution.ts";
import type { Confirmed, StopDetail } from "../../domain/stop/stop-detail.ts";
import type { Fault } from "../../lib/errors.ts";
import { refusal } from "../request-body.ts";

const keys = ["stopDetailSeq", "productIdentifier"] as const;

type Named = Readonly<Record<(typeof keys)[number], string | number | undefined>>;

function isGiven(value: string | number | undefined): boolean {
  return value !== undefined && value !== "";
}

function isMeant(detail: StopDetail, named: Named): boolean {
  return keys.every((key) => !isGiven(named[key]) || String(detail[key]) === String(named[key]));
}

function faultOf(named: Named, path: string): Fault {
  const key = keys.find((one) => isGiven(named[one]));
  if (key === undefined) {
    const message = `${path} names no detail. Send its stopDetailSeq or productIdentifier.`;
    return { code: "missing", path: `${path}.stopDetailSeq`, message };
  }
  const at = `${path}.${key}`;
  const message = `${at} is ${String(named[key])}; the stop has no (further) detail of it. Send one of its details.`;
  return { code: "wrongType", path: at, message };
}

/**
 * The confirmed quantities of the stop's details after the event. Two details of one product are taken in their order.
 * Throws 901 for an entry that names none, 902 for one that the stop does not have.
 */
export function confirmDetails(
  known: StopExecution["confirmed"],
  details: readonly StopDetail[],
  reported: readonly ReportedDetail[],
): Readonly<Record<string, Confirmed>> {
  const confirmed: Record<string, Confirmed> = { ...known };
  const taken = new Set<number>();
  const faults: Fault[] = [];
  for (const [index, entry] of reported.entries()) {
    const { stopDetailSeq, productIdentifier, ...quantities } = entry;
    const named = { stopDetailSeq, productIdentifier };
    const isNamed = keys.some((key) => isGiven(named[key]));
    const place = details.findIndex((detail, at) => isNamed && !taken.has(at) && isMeant(detail, named));
    if (place < 0) {
      faults.push(faultOf(named, `stopEventData.stopDetails[${index}]`));
      continue;
    }
    taken.add(place);
    confirmed[place] = { ...confirmed[place], ...quantities };
  }
  if (faults.length > 0) throw refusal(faults);
  return confirmed;
}
