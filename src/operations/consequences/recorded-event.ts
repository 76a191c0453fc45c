/** An event of a state change: it is recorded, and causes what the configuration asks for. */
import type { RecordedEventKind } from "../../domain/outbound/recorded-events.ts";

export interface RecordedEvent {
  readonly companyId: number;
  readonly kind: RecordedEventKind;
  readonly stopNbr?: string;
  readonly loadNbr?: string;
  readonly recordedAt: number;
  readonly data?: Readonly<Record<string, unknown>>;
}
