/**
 * A store from its parts: the same for both dialects, with units of work committed in groups, writes that can be refused, and
 * an end that waits for what is under way.
 */
import type { Kysely } from "kysely";
import type { ArrivalTable } from "../../cluster/arrivals.ts";
import type { LeaseTable } from "../../cluster/lease-table.ts";
import { StoreError } from "../../../lib/store-error.ts";
import { killPoint } from "../../../lib/kill-point.ts";
import { createListeners } from "../announcements.ts";
import { closing, createGroupCommit, type GroupCommit } from "../groups/group-commit.ts";
import type { DatabaseSizes } from "../database-sizes.ts";
import type { Tables } from "../schema.ts";
import type { StoreCondition } from "../store-condition.ts";
import { checkedBy, type UnitWatch } from "../groups/unit-checks.ts";

/** An open database of either dialect. */
export interface StoreParts {
  readonly instanceId: string;
  readonly isOnServer: boolean;
  readonly condition: StoreCondition;
  readonly leases: LeaseTable | undefined;
  readonly arrivals: ArrivalTable | undefined;
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

/** Its writes, until they are refused. */
function writesOf(commits: GroupCommit, arrivals: ArrivalTable | undefined) {
  let refusal: string | undefined;
  let isClosed = false;
  const underWay = new Set<Promise<unknown>>();
  const refused = (reason: string) => Promise.reject(new StoreError("unfit", reason, undefined));
  const allowed =
    (run: GroupCommit["run"]): GroupCommit["run"] =>
    (whose, work, fence) =>
      refusal === undefined ? run(whose, work, fence) : refused(refusal);
  const enter: ArrivalTable["enter"] = (files, isThere) => {
    if (arrivals === undefined || refusal !== undefined)
      return refused(refusal ?? "no node enters files here");
    if (isClosed) return Promise.reject(closing());
    const entering = arrivals.enter(files, isThere);
    const ended = entering.catch(() => undefined).finally(() => underWay.delete(ended));
    underWay.add(ended);
    return entering;
  };
  return {
    write: allowed(commits.run),
    writeSoon: allowed(commits.runSoon),
    arrivals: arrivals && {
      enter,
      ofNode: (node: string, without: readonly number[]) => arrivals.ofNode(node, without),
      ofCompany: (companyId: number) => arrivals.ofCompany(companyId),
      remove: (inLine: Parameters<ArrivalTable["remove"]>[0]) => arrivals.remove(inLine),
    },
    async refuseWrites(reason: string | undefined): Promise<void> {
      refusal = reason;
      if (reason === undefined) return;
      // Units run in the order in which they came: with these two, done or failed, all that came before have ended.
      const last = [commits.run("unowned", doNothing), commits.runSoon("unowned", doNothing)];
      await Promise.allSettled([...last, ...underWay]);
    },
    async close() {
      isClosed = true;
      await Promise.all([commits.close(), ...underWay]);
    },
  };
}

async function doNothing(): Promise<void> {
  // Its commit is what it is for.
}

/** A store of an open database; its `close` ends the connections after the last commit. */
export function assembleStore(parts: StoreParts) {
  const { instanceId, condition, read, write, watch, sizes, vacuum, end } = parts;
  const listeners = createListeners();
  const checked = watch === undefined ? undefined : checkedBy(watch);
  const commits = createGroupCommit(write, listeners.tell, checked);
  const { close, ...writes } = writesOf(commits, parts.arrivals);
  return {
    instanceId,
    isOnServer: parts.isOnServer,
    leases: parts.leases,
    condition,
    commits: commits.figures,
    read,
    asOfNow: parts.asOfNow,
    ...writes,
    listen: listeners.listen,
    sizes,
    vacuum,
    async close() {
      await close();
      killPoint("stop.store");
      await end();
    },
  };
}
