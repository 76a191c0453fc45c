import type { Kysely } from "kysely";
import type { LeaseTable } from "../../cluster/lease-table.ts";
import { killPoint } from "../../../lib/kill-point.ts";
import { createListeners } from "../announcements.ts";
import { createGroupCommit } from "../group-commit.ts";
import type { DatabaseSizes } from "../database-sizes.ts";
import type { Tables } from "../schema.ts";
import type { StoreCondition } from "../store-condition.ts";
import { checkedBy, type UnitWatch } from "../unit-checks.ts";

/** An open database of either dialect. */
export interface StoreParts {
  readonly instanceId: string;
  readonly isOnServer: boolean;
  readonly condition: StoreCondition;
  readonly leases: LeaseTable | undefined;
  readonly read: Kysely<Tables>;
  /** See `Store`. */
  asOfNow<T>(work: (read: Kysely<Tables>) => Promise<T>): Promise<T>;
  /** Of one connection. */
  readonly write: Kysely<Tables>;
  /** Holds units of work to their rules, where they are checked. */
  readonly watch: UnitWatch | undefined;
  sizes(): Promise<DatabaseSizes>;
  vacuum(pages: number): boolean;
  /** Closes the connections. */
  end(): Promise<void>;
}

/** A store of an open database; its `close` ends the connections after the last commit. */
export function assembleStore(parts: StoreParts) {
  const { instanceId, condition, read, write, watch, sizes, vacuum, end } = parts;
  const listeners = createListeners();
  const checked = watch === undefined ? undefined : checkedBy(watch);
  const commits = createGroupCommit(write, listeners.tell, checked);
  return {
    instanceId,
    isOnServer: parts.isOnServer,
    leases: parts.leases,
    condition,
    commits: commits.figures,
    read,
    asOfNow: parts.asOfNow,
    write: commits.run,
    writeSoon: commits.runSoon,
    listen: listeners.listen,
    sizes,
    vacuum,
    async close() {
      await commits.close();
      killPoint("stop.store");
      await end();
    },
  };
}
