import { describe, expect, test } from "vitest";
import { noShare } from "../../domain/appointments/appointment-capacity.ts";
import { stopChangeOf } from "../../domain/stop/stop-change.ts";
import type { StoredAppointment } from "../../store/appointments/appointments.ts";
import { changeWithTimesOf, shownAppointment, withTimesOf } from "./kept-appointment.ts";

const times = {
  ...{ timeFrom: "2026-11-06T08:00:00", timeTo: "2026-11-06T10:00:00", timeZone: "Europe/Berlin" },
};
const appointment: StoredAppointment = {
  ...{ id: 1, companyId: 1, region: "north", slotKey: "2026-11-06T08:00", ...times },
  share: noShare,
};
const none = { ...appointment, timeFrom: null, timeTo: null, timeZone: null };

describe("what is sent again without times", () => {
  test("has those of its appointment, beside what else its schedule and address say", () => {
    const address = { city: "Ulm" };
    const sent = { to: { address, schedule: { estimatedDuration: "15", timeZone: "EST" } } };
    expect(withTimesOf(sent, appointment)).toEqual({
      to: { address, schedule: { estimatedDuration: "15", ...times } },
    });
    expect(withTimesOf({}, appointment)).toEqual({ to: { schedule: times } });
    expect(withTimesOf({}, { ...none, timeTo: times.timeTo })).toEqual({
      to: { schedule: { timeTo: times.timeTo } },
    });
    expect(withTimesOf({}, none)).toEqual({ to: { schedule: {} } });
  });

  test("has its window then, as a change to a stop", () => {
    const change = stopChangeOf("01", { stopNbr: "S1", to: {} });
    const changed = changeWithTimesOf(change, appointment);
    expect(changed).toEqual(stopChangeOf("01", { stopNbr: "S1", to: { schedule: times } }));
    expect([change.index.hasTimeWindow, changed.index.hasTimeWindow]).toEqual([false, true]);
  });
});

test.each([{ timeFrom: "2026-11-07T08:00:00" }, { timeTo: "2026-11-07T08:00:00" }])(
  "what is sent again with %j is the very same",
  (schedule) => {
    const sent = { to: { schedule } };
    expect(withTimesOf(sent, appointment)).toBe(sent);
    const change = stopChangeOf("01", { stopNbr: "S1", ...sent });
    expect(changeWithTimesOf(change, appointment)).toBe(change);
  },
);

test("an appointment is shown to the minute, with what there is of it", () => {
  expect(shownAppointment(appointment)).toEqual({
    ...{ startDateTime: "2026-11-06T08:00", endDateTime: "2026-11-06T10:00", timeZone: "Europe/Berlin" },
    ...{ serviceRegion: "north", timeSlotId: expect.stringMatching(/^[\w-]+$/) },
  });
  expect(Object.keys(shownAppointment(none))).toEqual(["timeSlotId", "serviceRegion"]);
});
