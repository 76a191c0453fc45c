/** Deliveries as tests give them to targets. */
import type { Delivery, DeliveryFile, DeliveryOutcome } from "../../src/outbound/target.ts";

export const never = new AbortController().signal;

/** A file; `onRead` runs when the target asks for its bytes. */
export function fileOf(
  name: string,
  content: string | Uint8Array,
  onRead: () => void | Promise<void> = () => undefined,
): DeliveryFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return {
    name,
    contentType: "application/xml; charset=utf-8",
    read: async () => {
      await onRead();
      return bytes;
    },
  };
}

let nextId = 1;

/** A delivery with an id that no other has, unless `more` says one. */
export function deliveryOf(files: readonly DeliveryFile[], more: Partial<Delivery> = {}): Delivery {
  return { id: `d${nextId++}`, companyCode: "ACME", files, ...more };
}

/** The fault of an outcome, for comparing; the kind when it is none. */
export function faultOf(outcome: DeliveryOutcome): string {
  return outcome.kind === "failed" ? outcome.fault : outcome.kind;
}

export function messageOf(outcome: DeliveryOutcome): string {
  return outcome.kind === "failed" ? outcome.message : "";
}
