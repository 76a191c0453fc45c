/** Definitions that only the API document needs: the objects around entities, and answers. */
import { type TSchema, Type } from "@sinclair/typebox";
import { BusinessPartner } from "../../../domain/order/business-partner.ts";
import { Customer } from "../../../domain/order/customer.ts";
import { identifier } from "../../../domain/fields/fields.ts";
import { Load, LoadHeader } from "../../../domain/load/load.ts";
import { loadStatusNames } from "../../../domain/load/load-status.ts";
import { Order } from "../../../domain/order/order.ts";
import { Stop } from "../../../domain/stop/stop.ts";
import { stopStatusNames } from "../../../domain/stop/stop-status.ts";
import { User } from "../../../domain/users/user.ts";
import { DriverAssignment } from "../../../operations/loads/load-driver.ts";

const companyCode = identifier("companyCode");
const maybeText = Type.Union([Type.String(), Type.Null()]);
const optionalText = Type.Optional(maybeText);
const maybeNumber = Type.Union([Type.Number(), Type.Null()]);
const maybeTextOrNumber = Type.Union([Type.String(), Type.Number(), Type.Null()]);

/** Properties of one schema, by their names. */
export function alike<Schema extends TSchema, Name extends string>(schema: Schema, ...names: Name[]) {
  return Object.fromEntries(names.map((name) => [name, schema])) as { [Each in Name]: Schema };
}

function importOf(list: string, entity: TSchema) {
  return Type.Object({ companyCode, [list]: Type.Array(entity, { minItems: 1 }) });
}

/** The body of an operation on one thing may name the company, which then has to be that of the path. */
export function withCompany(body: TSchema, more: Readonly<Record<string, TSchema>> = {}) {
  return Type.Intersect([body, Type.Object({ ...more, companyCode: Type.Optional(companyCode) })]);
}

/** Several loads in one request are applied one by one; all else is all or nothing. */
export const LoadImport = importOf("loads", Load);
export const StopImport = importOf("stops", Stop);
export const OrderImport = importOf("orders", Order);
export const CustomerImport = importOf("customers", Customer);
export const BusinessPartnerImport = importOf("businessPartners", BusinessPartner);
export const UserImport = importOf("users", User);

export const DriverAssignmentByBody = Type.Intersect([
  withCompany(DriverAssignment),
  Type.Object({ loadNbr: Type.Unknown() }),
]);

export const Success = Type.Object({ status: Type.Literal("Success") });

export const LoadImportAccepted = Type.Intersect([
  Success,
  Type.Object({
    importId: Type.String({ minLength: 1, description: "Names the import in `/import/info`." }),
  }),
]);

export const Reasons = Type.Object({
  Reasons: Type.Array(
    Type.Object({
      description: Type.String({ description: "The field, what is wrong with it, and what to do." }),
      reasonCode: Type.Integer(),
    }),
    { minItems: 1, maxItems: 50 },
  ),
});

function codeList(names: Readonly<Record<string | number, string>>): string {
  return Object.entries(names)
    .map(([code, name]) => `\`${code}\` ${name}`)
    .join(", ");
}

const stopStatus = Type.String({
  enum: Object.keys(stopStatusNames),
  description: codeList(stopStatusNames),
});

const loadStatus = Type.Integer({
  enum: Object.keys(loadStatusNames).map(Number),
  description: codeList(loadStatusNames),
});

export const PartyExecution = Type.Object({
  ...alike(maybeText, "plannedEtaDTTM", "arrivalDTTM", "confirmedDTTM", "departureDTTM"),
  duration: maybeNumber,
});

export const Cancellation = Type.Object(
  alike(optionalText, "reasonCode", "reasonDesc", "cancelDTTM", "cancelTimeZone"),
);

export const StopExecutionInfo = Type.Object({
  stopStatus,
  receiveStatus: Type.String({
    enum: ["00", "10"],
    description: "`00` not received, `10` received at the depot.",
  }),
  receiveDTTM: maybeText,
  from: PartyExecution,
  to: PartyExecution,
  exceptionPresent: Type.Boolean(),
  exceptions: Type.Array(Type.Object(alike(optionalText, "exceptionCode", "exceptionDesc"))),
  cancellation: Type.Union([Cancellation, Type.Null()]),
});

const LoadOfStop = Type.Object({ loadNbr: maybeText, driverName: maybeText, vehicleNbr: maybeTextOrNumber });

const Appointment = Type.Object(
  {
    timeSlotId: Type.String(),
    ...alike(Type.Optional(Type.String()), "startDateTime", "endDateTime", "timeZone"),
    serviceRegion: Type.String(),
  },
  { description: "The confirmed appointment; missing without one. `to.schedule` is what was sent last." },
);

export const StopRetrieval = Type.Object({
  Stop: Type.Object({
    stop: Stop,
    load: LoadOfStop,
    stopExecutionInfo: StopExecutionInfo,
    appointment: Type.Optional(Appointment),
  }),
});

export const LoadExecutionInfo = Type.Object({
  loadStatus,
  ...alike(maybeText, "actualStartDTTM", "actualStartTimeZone", "actualEndDTTM", "actualEndTimeZone"),
  cancellation: Type.Optional(Cancellation),
});

const LoadAssignmentInfo = Type.Object({
  carrierCode: optionalText,
  ...alike(Type.Optional(maybeTextOrNumber), "assignmentCriteria", "driverCdl"),
  ...alike(optionalText, "driverEmail", "driverName", "driverUserName"),
});

export const LoadRetrieval = Type.Object({
  Load: Type.Object({
    loadHeader: LoadHeader,
    loadExecutionInfo: LoadExecutionInfo,
    loadAssignment: LoadAssignmentInfo,
    stops: Type.Array(
      Type.Object({
        stop: Stop,
        stopExecutionInfo: StopExecutionInfo,
        appointment: Type.Optional(Appointment),
      }),
    ),
  }),
});

export const OrderRetrieval = Type.Object({
  Order: Type.Array(
    Type.Intersect([
      Order,
      Type.Object({
        orderStatus: Type.Union([stopStatus, Type.Null()]),
        stopExecutionInfo: Type.Optional(StopExecutionInfo),
        cancellation: Type.Optional(Cancellation),
        appointment: Type.Optional(Appointment),
      }),
    ]),
    { minItems: 1, maxItems: 1 },
  ),
});

export const CustomerRetrieval = Type.Object({
  Customer: Type.Array(Customer, { minItems: 1, maxItems: 1 }),
});
