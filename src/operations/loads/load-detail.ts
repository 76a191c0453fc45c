/** Get load detail: the Load retrieval document (specification/resources.md#retrieval-documents). */
import { setImmediate } from "node:timers/promises";
import type { LoadAssignment } from "../../domain/load/load.ts";
import type { LoadExecution } from "../../domain/execution/stop-execution.ts";
import { findAppointmentsOfLoad } from "../../store/appointments/appointments.ts";
import { findStoredLoad, type LoadKey, type StoredLoad } from "../../store/stops/load-queries.ts";
import { eachStopOfLoad } from "../../store/stops/shown-stops.ts";
import { BoundedList } from "../stops/bounded-list.ts";
import { loadNotFound } from "../not-found.ts";
import type { ReadDeps } from "../operation-deps.ts";
import { appointmentMember, asItCame, executionInfoText, stopText } from "../stops/stop-detail.ts";

function executionInfoOf({ status, execution }: StoredLoad) {
  const known = JSON.parse(execution) as LoadExecution;
  return {
    loadStatus: status,
    actualStartDTTM: known.actualStartDTTM ?? null,
    actualStartTimeZone: known.actualStartTimeZone ?? null,
    actualEndDTTM: known.actualEndDTTM ?? null,
    actualEndTimeZone: known.actualEndTimeZone ?? null,
    // Ours: why it was cancelled.
    ...(known.cancellation === undefined ? {} : { cancellation: known.cancellation }),
  };
}

interface Extra {
  /** Members of the load beside header, stops and assignment. */
  readonly load: Readonly<Record<string, unknown>>;
  /** The assignment as the host sent it last. */
  readonly assignment?: LoadAssignment;
}

function assignmentOf({ carrierCode, assignmentCriteria, driver }: StoredLoad, sent: LoadAssignment = {}) {
  const known = JSON.parse(driver) as LoadAssignment;
  return {
    ...sent,
    carrierCode,
    assignmentCriteria: asItCame(assignmentCriteria, sent.assignmentCriteria),
    driverCdl: known.driverCdl ?? null,
    driverEmail: known.driverEmail ?? null,
    driverName: known.driverName ?? null,
    driverUserName: known.driverUserName ?? null,
  };
}

const remedy = "Ask for the stops of the load one by one.";

/** The retrieval document of the load as JSON text. Throws 909 when it is too large for one answer, and 920 when the company has no load of exactly that number. */
export async function readLoadDetail(deps: ReadDeps, query: LoadKey): Promise<string> {
  const { read } = deps.store;
  const load = await findStoredLoad(read, query);
  if (load === undefined) throw loadNotFound(query.loadNbr);
  let appointments: Awaited<ReturnType<typeof findAppointmentsOfLoad>> | undefined;
  const stops = new BoundedList(remedy);
  for await (const batch of eachStopOfLoad(read, load.id)) {
    // Between batches of large stops others have their turn.
    if (stops.length > 0) await setImmediate();
    for (const stop of batch) {
      if (stop.hasAppointment) appointments ??= await findAppointmentsOfLoad(read, query.companyId, load.id);
      const appointment = appointmentMember(appointments?.get(stop.stopNbr));
      stops.add(`{"stop":${stopText(stop)},"stopExecutionInfo":${executionInfoText(stop)}${appointment}}`);
    }
  }
  const extra = JSON.parse(load.extra) as Extra;
  const parts = [
    ...Object.entries(extra.load)
      .filter(([name]) => name !== "loadExecutionInfo")
      .map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`),
    `"loadHeader":${load.body}`,
    `"loadExecutionInfo":${JSON.stringify(executionInfoOf(load))}`,
    `"loadAssignment":${JSON.stringify(assignmentOf(load, extra.assignment))}`,
    `"stops":${stops.json}`,
  ];
  return `{"Load":{${parts.join(",")}}}`;
}
