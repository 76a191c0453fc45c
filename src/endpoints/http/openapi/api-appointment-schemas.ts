/** Definitions of appointments that only the API document needs: the place of a request, and the objects around it. */
import { type TSchema, Type } from "@sinclair/typebox";
import { Reservation, SlotRequest } from "../../../domain/appointments/appointment.ts";
import { identifier } from "../../../domain/fields/fields.ts";

const addressFields = ["addr1", "addr2", "city", "state", "zip", "country"] as const;
const placeFields = [...addressFields, "partnerCode", "schedulingAttribute"] as const;

export const AppointmentAddress = Type.Pick(SlotRequest, addressFields);
const AppointmentPlace = Type.Intersect([
  AppointmentAddress,
  Type.Pick(SlotRequest, ["partnerCode", "schedulingAttribute"]),
]);
export const TimeSlotRequest = Type.Omit(SlotRequest, placeFields);
export const TimeSlotReservation = Type.Omit(Reservation, placeFields);

/** The body may name the company, which then has to be that of the path. */
function bodyOf(name: string, parts: TSchema[]) {
  return Type.Object({
    [name]: Type.Intersect(parts),
    companyCode: Type.Optional(identifier("companyCode")),
  });
}

export const SlotListingBody = bodyOf("apptRequest", [AppointmentPlace, TimeSlotRequest]);
export const SlotReservationBody = bodyOf("apptReservation", [AppointmentPlace, TimeSlotReservation]);

const localMinute = Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d$" });

export const TimeSlot = Type.Object({
  timeSlotId: Type.String({ minLength: 1, description: "Names the slot in a reservation." }),
  startDateTime: localMinute,
  endDateTime: localMinute,
  timeZone: Type.String({ description: "IANA time zone of both times." }),
});

const serviceRegion = Type.String({ description: "Name of the region; empty when none matches." });

export const SlotAnswer = Type.Object({
  apptRequest: Type.Intersect([
    AppointmentPlace,
    Type.Object({ orderId: Type.Optional(Type.String()), serviceRegion, timeSlots: Type.Array(TimeSlot) }),
  ]),
});

export const ReservationAnswer = Type.Object({
  apptReservation: Type.Intersect([
    AppointmentAddress,
    Type.Pick(SlotRequest, ["schedulingAttribute"]),
    Type.Object({
      orderId: Type.String(),
      apptStatus: Type.Literal("CONFIRMED"),
      apptTTL: Type.Integer({ description: "Minutes for which a hold is kept." }),
      serviceRegion,
    }),
  ]),
});
