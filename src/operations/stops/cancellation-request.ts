/** The body of cancelling a load, stop, ASN or order: which one, and why (specification/gateway.md#bodies). */
import { type TObject, Type } from "@sinclair/typebox";
import { identifier, text } from "../../domain/fields/fields.ts";
import { type BodyInput, createBodyReader } from "../request-body.ts";

/** Why something was cancelled. */
export interface CancellationReason {
  readonly reasonCode: string;
  readonly reasonComments: string | undefined;
}

const reason = {
  reasonCode: identifier("reasonCode"),
  reasonComments: Type.Optional(text("reasonComments")),
};

export const LoadCancellation = Type.Object({ loadNbr: identifier("loadNbr"), ...reason });
export const StopCancellation = Type.Object({ stopNbr: identifier("stopNbr"), ...reason });
export const OrderCancellation = Type.Object({ orderNbr: identifier("orderNbr"), ...reason });

interface Cancellation extends CancellationReason {
  /** The number of what is to be cancelled. */
  readonly number: string;
}

function reader<Name extends string>(schema: TObject, name: Name): (input: BodyInput) => Cancellation {
  const read = createBodyReader(schema);
  return (input) => {
    const fields: Record<string, unknown> = read(input);
    const comments = fields["reasonComments"];
    return {
      number: String(fields[name]),
      reasonCode: String(fields["reasonCode"]),
      reasonComments: typeof comments === "string" ? comments : undefined,
    };
  };
}

/** Each throws a `DropgateError` with all faults of the body. */
export const readLoadCancellation = reader(LoadCancellation, "loadNbr");
export const readStopCancellation = reader(StopCancellation, "stopNbr");
export const readOrderCancellation = reader(OrderCancellation, "orderNbr");

/** The time of now as the interface writes it, local to UTC. */
export function utcDateTime(now: number): string {
  return new Date(now).toISOString().slice(0, 19);
}

/** What stands in the execution info of what was cancelled (specification/resources.md#stop-execution-info). */
export function cancellationOf(why: CancellationReason, now: number) {
  return {
    reasonCode: why.reasonCode,
    reasonDesc: why.reasonComments ?? "",
    cancelDTTM: utcDateTime(now),
    cancelTimeZone: "UTC",
  };
}
