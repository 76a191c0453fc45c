/** What a `QueryHost` and its thread tell each other. All of it is plain data. */
import type { Config } from "../../config/schema.ts";
import type { ErrorCode, Fault } from "../../lib/errors.ts";
import type { Scope } from "../../endpoints/http/console/console-services.ts";
import type { StatePlace } from "../../store/database/state-place.ts";

/** How long a query takes at most in a thread that listens. */
export const longestQueryMs = 10_000;

/** What a thread is started with; the address of a database is in it, all other secrets are not. */
export interface QuerySetup extends StatePlace {
  /** Seals the references of ledger entries. */
  readonly numberKey: string;
  /** Without its secrets. */
  readonly config: Config;
}

export type QueryOrder =
  | {
      readonly kind: "ask";
      readonly id: number;
      readonly name: string;
      readonly scope: Scope;
      readonly asked: unknown;
      /** How long the query may take, from its begin on. */
      readonly timeMs: number;
    }
  | { readonly kind: "configure"; readonly config: Config }
  /** To be answered at once, unless the thread is stuck in a call. */
  | { readonly kind: "ping" };

export type QueryReport =
  /** From here on its time counts. */
  | { readonly kind: "begun"; readonly id: number }
  | { readonly kind: "found"; readonly id: number; readonly found: unknown }
  /** The answer to what was asked is a refusal. */
  | {
      readonly kind: "refused";
      readonly id: number;
      readonly code: ErrorCode;
      readonly message: string;
      readonly faults: readonly Fault[];
    }
  | {
      readonly kind: "failed";
      readonly id: number;
      readonly message: string;
      readonly stack: string | undefined;
    }
  | { readonly kind: "pong" };
