/** A delivery that is due, and what it is rendered to. */
import type { StoredCompletion } from "../store/outbound/completions.ts";
import type { DeliveryHead } from "../store/outbound/delivery-heads.ts";
import type { StoredMessage } from "../store/outbound/messages.ts";
import type { Delivery } from "./target.ts";

export interface DeliveryToRender extends DeliveryHead {
  readonly companyCode: string;
  /** Of deliveries of the kind `completion`. */
  readonly completion?: StoredCompletion;
  /** Of deliveries of the kind `message`. */
  readonly message?: StoredMessage;
}

export interface RenderedDelivery {
  readonly delivery: Delivery;
  /** Of its one file, lower-case hex; null when there are several, or it is too large to be hashed here. */
  readonly sha256: string | null;
  /** Bytes of its files; null when that is not known before they are read. */
  readonly size: number | null;
}

/** A message that is not sent now, or not at all. Nothing was tried. */
export type WithheldDelivery =
  | { readonly kind: "postponed"; readonly dueAt: number }
  | { readonly kind: "dropped"; readonly fault: string; readonly message: string };

/** Gives the same bytes each time. Rejects when they cannot be had now. */
export type RenderDelivery = (row: DeliveryToRender) => Promise<RenderedDelivery>;

/** The same for what may also be withheld. */
export type RenderOrWithhold = (row: DeliveryToRender) => Promise<RenderedDelivery | WithheldDelivery>;
