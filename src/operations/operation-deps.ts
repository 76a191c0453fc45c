/** What many operations need of the parts that the composition root makes. */
import type { Clock } from "../lib/clock.ts";
import type { Store } from "../store/database/database.ts";

export interface ReadDeps {
  readonly store: Pick<Store, "read">;
}

export interface WriteDeps {
  readonly store: Pick<Store, "write">;
  readonly clock: Clock;
}

export interface StoreDeps extends WriteDeps {
  readonly store: Pick<Store, "read" | "write">;
}
