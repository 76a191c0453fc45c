/** Compares what the gateway says of a load with what was planned. */
import type { Confirmed } from "../../src/domain/stop/stop-detail.ts";
import type { LoadPlan, PlannedStopOutcome } from "./day-plan.ts";

/** The part of the load retrieval document that is compared (specification/resources.md#retrieval-documents). */
interface ReadLoad {
  readonly Load: {
    readonly loadExecutionInfo: { readonly loadStatus: number };
    readonly loadAssignment: { readonly driverUserName: string | null };
    readonly stops: readonly ReadStop[];
  };
}

interface ReadStop {
  readonly stop: {
    readonly stopNbr: string;
    readonly stopDetails?: readonly { readonly confirmed?: Confirmed }[];
  };
  readonly stopExecutionInfo: { readonly stopStatus: string };
}

type Values = Readonly<Record<string, unknown>>;

function differencesOf(what: string, found: Values, planned: Values): string[] {
  const names = [...new Set([...Object.keys(planned), ...Object.keys(found)])];
  return names
    .filter((name) => found[name] !== planned[name])
    .map(
      (name) =>
        `${what}: ${name} is ${JSON.stringify(found[name])}, planned ${JSON.stringify(planned[name])}`,
    );
}

function differencesOfStop(load: string, found: ReadStop | undefined, planned: PlannedStopOutcome): string[] {
  const what = `${load} stop ${planned.stopNbr}`;
  if (found === undefined) return [`${what} is not there`];
  const { stop, stopExecutionInfo } = found;
  const details = stop.stopDetails ?? [];
  return [
    ...differencesOf(
      what,
      { stopNbr: stop.stopNbr, stopStatus: stopExecutionInfo.stopStatus },
      { stopNbr: planned.stopNbr, stopStatus: planned.stopStatus },
    ),
    ...details.flatMap(({ confirmed = {} }, index) =>
      differencesOf(`${what} detail ${index + 1}`, confirmed, planned.confirmed[index] ?? {}),
    ),
    ...(details.length < planned.confirmed.length ? [`${what}: details are missing`] : []),
  ];
}

/** What differs, one line each; empty when the load is as planned. `detail` is the retrieval document as JSON text. */
export function differencesOfLoad({ loadNbr, outcome }: LoadPlan, detail: string): readonly string[] {
  const { loadExecutionInfo, loadAssignment, stops } = (JSON.parse(detail) as ReadLoad).Load;
  const what = `load ${loadNbr}`;
  return [
    ...differencesOf(
      what,
      {
        loadStatus: loadExecutionInfo.loadStatus,
        driverUserName: loadAssignment.driverUserName,
        stops: stops.length,
      },
      { loadStatus: outcome.loadStatus, driverUserName: outcome.driverUserName, stops: outcome.stops.length },
    ),
    ...outcome.stops.flatMap((planned, index) => differencesOfStop(what, stops[index], planned)),
  ];
}
