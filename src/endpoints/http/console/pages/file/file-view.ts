/** What the page of a file asks, and what it is told. Plain data; times are milliseconds UTC. */
import type { FileState } from "../../../../../domain/files/file-state.ts";
import type { DeliveryKind, DeliveryState } from "../../../../../domain/outbound/delivery-state.ts";
import type { BytesPresence } from "../../../../../inbound/explain/explanation.ts";
import type { FileWords } from "../../../../../inbound/explain/file-words.ts";

export interface FileAsked {
  /** The sealed reference of the ledger entry, as receipts show it. */
  readonly reference: string;
}

/** Another file of the ledger. */
export interface FileLink {
  readonly reference: string;
  readonly name: string;
  readonly state: FileState;
  readonly receivedAt: number;
}

/** A delivery, as far as other pages show it. */
export interface DeliveryLink {
  readonly guid: string;
  readonly kind: DeliveryKind;
  readonly name: string;
  readonly target: string;
  readonly state: DeliveryState;
  readonly createdAt: number;
  readonly deliveredAt: number | null;
  readonly collectedAt: number | null;
  readonly dueAt: number;
  readonly attempts: number;
  readonly faultText: string | null;
}

/** A decision that a retry has made void. */
export interface FormerDecision {
  readonly state: FileState;
  readonly decidedAt: number | null;
  readonly askedAt: number;
  /** When its receipt was first read or deleted. */
  readonly receiptCollectedAt: number | null;
  readonly reasons: readonly { readonly reasonCode: number; readonly message: string }[];
}

/** Who collected a receipt first. */
export interface ReceiptCollected {
  readonly at: number;
  readonly by: string | null;
  /** Nobody had read it before it was deleted. */
  readonly isUnread: boolean;
}

export interface FileFound {
  readonly reference: string;
  readonly companyId: number;
  readonly company: string;
  readonly name: string;
  readonly state: FileState;
  readonly channel: string;
  readonly user: string | null;
  readonly size: number;
  readonly sha256: string | null;
  readonly documentId: string | null;
  readonly stopFunction: string | null;
  readonly stopNbr: string | null;
  /** CCYYMMDDHHMMSS: the time in the name, by the clock of its sender. */
  readonly nameTime: number | null;
  readonly beganAt: number | null;
  readonly receivedAt: number;
  readonly enteredAt: number | null;
  readonly parsedAt: number | null;
  readonly decidedAt: number | null;
  readonly isFiled: boolean;
  readonly filedAt: number | null;
  readonly receiptCollected: ReceiptCollected | undefined;
  readonly removedAt: number | null;
  readonly presence: BytesPresence;
  readonly words: FileWords;
  readonly repeats: readonly FormerDecision[];
  /** The file whose content this one repeats. */
  readonly first: FileLink | undefined;
  /** Others of its name, the newest first. */
  readonly namesakes: readonly FileLink[];
  /** Others of its stop, the newest first; `isNewer` by their entry in the ledger. */
  readonly ofStop: readonly (FileLink & { readonly isNewer: boolean })[];
  /** Completions and messages about its stop since it was applied, the newest first. */
  readonly deliveries: readonly DeliveryLink[];
  /** The text of its receipt; undefined until it is decided. */
  readonly receipt: string | undefined;
  /** The receipt in the folder is that of a file of the name that came later. */
  readonly isReceiptReplaced: boolean;
}

export interface FileContentAsked extends FileAsked {
  /** From which line on; from the beginning, with the lines around each fault, when left out. */
  readonly fromLine: number | undefined;
}

/** How many lines a page of the content has. */
export const linesOfPage = 400;

export interface ShownLine {
  readonly number: number;
  /** Bytes that are none of the encoding are U+FFFD. */
  readonly text: string;
  readonly isCut: boolean;
}

export type FileContent =
  | {
      readonly kind: "shown";
      readonly encoding: string;
      readonly lines: readonly ShownLine[];
      /** Of the last line, as far as the file was searched. */
      readonly lastLine: number;
      readonly isWholeSearched: boolean;
      readonly isBudgetSpent: boolean;
      /** The bytes are not those that were decided about. */
      readonly isChanged: boolean;
    }
  | { readonly kind: "absent"; readonly presence: BytesPresence };

/** One field in its three forms; undefined where it is not there. */
export interface FieldForms {
  readonly path: string;
  /** In the file of the stop that was applied before. */
  readonly former?: string;
  readonly sent?: string;
  readonly stored?: string;
}

/** A stop of the file: what was sent, what is stored now, what the file before had. */
export interface StopForms {
  readonly stopNbr: string;
  readonly stopFunction: string;
  readonly isStored: boolean;
  /** The file that was applied to the stop before this one; its fields are compared when its bytes are there. */
  readonly former: (FileLink & { readonly isRead: boolean }) | undefined;
  readonly fields: readonly FieldForms[];
  readonly moreFields: number;
}

export type FileForms =
  | { readonly kind: "shown"; readonly stops: readonly StopForms[]; readonly moreStops: number }
  | { readonly kind: "none"; readonly why: "notRead" | "tooLarge" | "absent" | "changed" };

export interface FileContentFound {
  readonly content: FileContent;
  readonly forms: FileForms;
}
