/** A unit of work in its group. */
import type { Kysely } from "kysely";
import { takeAnnouncements, type Topic } from "../announcements.ts";
import type { Fence } from "../fence.ts";
import type { Owner } from "../owner.ts";
import type { Tables } from "../schema.ts";
import type { Keys } from "./side-by-side.ts";

export interface Unit {
  readonly whose: Owner;
  readonly fence: Fence | undefined;
  /** Undefined: it runs beside no other. */
  readonly keys: Keys | undefined;
  /** It goes with a group of others: nobody is answered sooner for it. */
  readonly canWait: boolean;
  readonly work: (tx: Kysely<Tables>) => Promise<unknown>;
  /** How often it was left for the next transaction, because another node was writing for the company. */
  timesLeft: number;
  /** It has run, not committed. */
  ran(): void;
  /** It is committed, not answered. */
  committed(): void;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** The rest to do for a unit once the group is committed. */
export interface Done {
  readonly topics: ReadonlySet<Topic> | undefined;
  readonly answer: () => void;
}

/** It has run. */
export function doneOf(tx: Kysely<Tables>, unit: Unit, value: unknown): Done {
  unit.ran();
  const answer = () => {
    unit.committed();
    unit.resolve(value);
  };
  return { topics: takeAnnouncements(tx), answer };
}
