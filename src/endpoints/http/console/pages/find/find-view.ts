/** What the page that finds asks and gets. Times are milliseconds UTC. */
import type { DeliveryState } from "../../../../../domain/outbound/delivery-state.ts";
import type { ListedFile } from "../files/files-view.ts";

export interface FindAsked {
  readonly text: string;
  /** A SHA-256 is looked for from the entry of this reference back. */
  readonly from?: string;
  /** Companies of the scope whose users the viewer administers; operators find the users of all. */
  readonly administeredIds: readonly number[];
}

/** By which of its numbers a stop or a load was found. */
export type NumberKind = "number" | "shipment" | "bill" | "seal" | "reference";

export interface FoundStop {
  readonly company: string;
  readonly stopNbr: string;
  readonly by: NumberKind;
  /** The name of its status. */
  readonly status: string;
  readonly isReceived: boolean;
  /** The number of the load that it is on. */
  readonly loadNbr: string | null;
  readonly updatedAt: number;
}

export interface FoundLoad {
  readonly company: string;
  readonly loadNbr: string;
  readonly by: NumberKind;
  readonly status: string;
  readonly updatedAt: number;
}

export interface FoundOrder {
  readonly company: string;
  readonly orderNbr: string;
  readonly isCancelled: boolean;
  /** The name of the status of the stop of its number; null when there is none. */
  readonly stopStatus: string | null;
  readonly updatedAt: number;
}

export interface FoundDelivery {
  readonly company: string;
  readonly guid: string;
  readonly name: string;
  readonly target: string;
  readonly state: DeliveryState;
  readonly createdAt: number;
  readonly faultText: string | null;
  readonly remedy: string | null;
}

export interface FoundDocument {
  readonly company: string;
  readonly guid: string;
  readonly name: string | null;
  readonly sha256: string;
  readonly size: number;
  readonly createdAt: number;
}

export interface FoundUser {
  readonly userId: number;
  readonly userName: string;
  readonly isEnabled: boolean;
  /** The codes of those that the viewer may know of. */
  readonly companies: readonly string[];
}

/** A company, or what it has by a name of its own. */
export interface FoundPlace {
  readonly kind: "company" | "remote" | "target";
  readonly company: string;
  /** The code of a company. */
  readonly name: string;
  /** What a company is called besides; null for all else. */
  readonly title: string | null;
}

/** The one thing that was meant. */
export type Meant =
  | { readonly kind: "file"; readonly reference: string }
  | { readonly kind: "stop" | "load"; readonly company: string; readonly number: string }
  | { readonly kind: "delivery"; readonly guid: string }
  | { readonly kind: "user"; readonly userId: number }
  | { readonly kind: "place"; readonly place: FoundPlace }
  /** `YYYY-MM-DD`, UTC. */
  | { readonly kind: "day"; readonly day: string };

export interface FindFound {
  readonly files: readonly ListedFile[];
  readonly stops: readonly FoundStop[];
  readonly loads: readonly FoundLoad[];
  readonly orders: readonly FoundOrder[];
  readonly deliveries: readonly FoundDelivery[];
  readonly documents: readonly FoundDocument[];
  readonly users: readonly FoundUser[];
  readonly places: readonly FoundPlace[];
  /** More begin so than are shown. */
  readonly areCut: boolean;
  /** Entries were looked through for a SHA-256 back to this one only: its arrival, and its reference to go on from. */
  readonly searchedTo: { readonly at: number; readonly from: string } | null;
  readonly meant: Meant | null;
  /** When nothing is known of it: where it could be, in the words of `dropgate explain`. */
  readonly elsewhere: readonly string[];
}
