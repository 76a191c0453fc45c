/**
 * The appointment of an order or stop that is sent again (docs/appointments.md, "Sending again"): it stays, and so do
 * its times, unless the host sends others.
 */
import { slotIdOf } from "../../domain/appointments/appointment-slots.ts";
import { routedStopOf } from "../../domain/execution/routed-stop.ts";
import type { Party } from "../../domain/stop/party.ts";
import type { StopChange } from "../../domain/stop/stop-change.ts";
import type { Stop } from "../../domain/stop/stop.ts";
import type { StoredAppointment } from "../../store/appointments/appointments.ts";

interface Scheduled {
  readonly to?: Party;
}

/** The times of the appointment, as they stand in a schedule. */
function timesOf({ timeFrom, timeTo, timeZone }: StoredAppointment) {
  return {
    ...(timeFrom === null ? {} : { timeFrom }),
    ...(timeTo === null ? {} : { timeTo }),
    ...(timeZone === null ? {} : { timeZone }),
  };
}

/** The order or stop with the times of its appointment in `to.schedule`; the very same object when it came with others. */
export function withTimesOf<Entity extends Scheduled>(
  entity: Entity,
  appointment: StoredAppointment,
): Entity {
  const schedule = entity.to?.schedule;
  if (schedule?.timeFrom !== undefined || schedule?.timeTo !== undefined) return entity;
  return { ...entity, to: { ...entity.to, schedule: { ...schedule, ...timesOf(appointment) } } };
}

/** The same of a change to a stop. */
export function changeWithTimesOf<Change extends StopChange>(
  change: Change,
  appointment: StoredAppointment,
): Change {
  const sent = JSON.parse(change.stopJson) as Stop;
  const stop = withTimesOf(sent, appointment);
  if (stop === sent) return change;
  return {
    ...change,
    stopJson: JSON.stringify(stop),
    routedJson: JSON.stringify(routedStopOf(stop)),
    index: { ...change.index, hasTimeWindow: true },
  };
}

/** The appointment as the detail of its order or stop shows it, which may have come with other times since. */
export function shownAppointment(appointment: StoredAppointment) {
  const { companyId, region, slotKey, timeFrom, timeTo, timeZone } = appointment;
  return {
    timeSlotId: slotIdOf(companyId, { key: slotKey, region: { name: region } }),
    ...(timeFrom === null ? {} : { startDateTime: timeFrom.slice(0, 16) }),
    ...(timeTo === null ? {} : { endDateTime: timeTo.slice(0, 16) }),
    ...(timeZone === null ? {} : { timeZone }),
    serviceRegion: region,
  };
}
