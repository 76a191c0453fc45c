/** Events recorded by the service (specification/events.md#recorded-events). */
export const recordedEvents = {
  loadCreated: { code: 7000, name: "LOAD CREATED" },
  loadAssigned: { code: 7001, name: "LOAD ASSIGNED" },
  loadUnassigned: { code: 7002, name: "LOAD UNASSIGNED" },
  loadInitiated: { code: 7004, name: "LOAD INITIATED" },
  loadCompleted: { code: 7005, name: "LOAD COMPLETED" },
  loadSuspended: { code: 7015, name: "LOAD SUSPENDED" },
  loadUpdated: { code: 7024, name: "LOAD UPDATED" },
  loadCancelled: { code: 7033, name: "LOAD CANCELLATION" },
  geofenceEntered: { code: 7006, name: "STOP GF ENTERED" },
  stopArrival: { code: 7007, name: "STOP ARRIVAL" },
  stopDeparture: { code: 7008, name: "STOP DEPARTURE" },
  stopDelivery: { code: 7009, name: "STOP DELIVERY" },
  documentCapture: { code: 7014, name: "DOCUMENT CAPTURE" },
  stopClosed: { code: 7021, name: "STOP CLOSED" },
  stopPlanned: { code: 7028, name: "STOP PLANNED" },
  stopReopened: { code: 7044, name: "STOP REOPENED" },
  stopUpdated: { code: 7053, name: "STOP UPDATED" },
  stopCancelled: { code: 7059, name: "STOP CANCELLED" },
  stopReceived: { code: 8100, name: "Stop Received" },
  schedulingInitiated: { code: 8101, name: "Stop Scheduling Initiated" },
  schedulingConfirmed: { code: 8102, name: "Stop Scheduling Confirmed" },
  schedulingCancelled: { code: 8103, name: "Stop Scheduling Canceled" },
} as const;

export type RecordedEventKind = keyof typeof recordedEvents;

const names = new Map<number, string>(Object.values(recordedEvents).map(({ code, name }) => [code, name]));

const stopEnds: ReadonlySet<number> = new Set([
  recordedEvents.stopDelivery.code,
  recordedEvents.stopClosed.code,
]);

/** Whether an event of this code can bring a stop to its end: its delivery was confirmed, or it was closed. */
export function endsStop(code: number): boolean {
  return stopEnds.has(code);
}

/** The events that tell where the scheduling of a stop stands: a cancelled stop has no appointment any more. */
export const schedulingEventCodes: readonly number[] = [
  recordedEvents.stopCancelled.code,
  recordedEvents.schedulingInitiated.code,
  recordedEvents.schedulingConfirmed.code,
  recordedEvents.schedulingCancelled.code,
];

/** The name of an event by its code. */
export function recordedEventName(code: number): string {
  return names.get(code) ?? String(code);
}
