/** The messages between the reader threads and their pool. */
import type { ErrorCode, Fault } from "../../lib/errors.ts";
import type { JsonLimits } from "../../lib/json-text.ts";
import type { ImportToPrepare, PreparedKind } from "./import-preparation.ts";
import type { SentEvent } from "../execution/read-route-event.ts";
import type { BodyInput } from "../request-body.ts";

interface Body {
  /** Transferred, there and back. */
  readonly bytes: Uint8Array;
  readonly limits: JsonLimits;
}

/** Whether it is JSON within the limits. */
interface CheckJob extends Body {
  readonly kind: "check";
}

interface PrepareJob extends Body {
  readonly kind: "prepare";
  readonly prepared: PreparedKind;
  readonly input: Omit<ImportToPrepare, "body">;
}

/** A load that is kept in one line, to be brought into its lines. */
interface LinesJob extends Body {
  readonly kind: "lines";
}

/** A route event, to be given back with the contents of its documents as bytes. */
interface EventJob extends Body {
  readonly kind: "event";
  readonly input: Omit<BodyInput, "body">;
}

export type ReaderJob = CheckJob | PrepareJob | LinesJob | EventJob;

export type ReaderRequest = ReaderJob | { readonly kind: "next" };

export type ReaderReport =
  | { readonly kind: "checked"; readonly bytes: Uint8Array }
  | { readonly kind: "event"; readonly event: SentEvent }
  | { readonly kind: "entries"; readonly entries: readonly unknown[]; readonly isLast: boolean }
  | {
      readonly kind: "refused";
      readonly code: ErrorCode;
      readonly message: string;
      readonly faults: readonly Fault[];
    }
  /** No fault of the body. */
  | { readonly kind: "failed"; readonly message: string; readonly systemCode: string | undefined };

/**
 * Bytes in a buffer of their own, so that they can be transferred to another thread: small buffers are part of a common
 * one.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) return new Uint8Array(buffer);
  return new Uint8Array(bytes);
}
